# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that ./check runs: their output goes to a log, and all have to be done by one deadline."""
import os
import signal
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "build/check"
_GRACE = 5.0  # seconds between asking a program to end and killing it


class Broken(Exception):
    """A stage that could not do its work; the text says why."""


class Late(Exception):
    """The deadline has passed; the text says what was running."""


class Runner:
    """Runs programs until `seconds` from now. There is no other limit: a slow machine is no failure."""

    def __init__(self, seconds, logs=LOGS):
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._logs = logs
        logs.mkdir(parents=True, exist_ok=True)

    def run(self, name, command, env=None):
        """(status, log) of a program that is done; Late if it isn't by the deadline, and then it is ended with all that
        it started."""
        log = self._logs / f"{name}.log"
        command = [str(word) for word in command]
        with log.open("wb") as output:
            try:
                child = subprocess.Popen(command, cwd=ROOT, env=os.environ | (env or {}), stdin=subprocess.DEVNULL,
                                         stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
            except OSError as error:
                raise Broken(str(error)) from None
        try:
            return child.wait(max(0.0, self._end - time.monotonic())), log
        except subprocess.TimeoutExpired:
            text = f"{self.seconds / 60:g} minutes are over while this ran: {' '.join(command)}; it said last:\n{tail(log)}"
            raise Late(text) from None
        finally:
            _end(child)


def _end(child):
    for number in (signal.SIGTERM, signal.SIGKILL):
        if child.poll() is None:
            os.killpg(child.pid, number)
            try:
                child.wait(_GRACE)
            except subprocess.TimeoutExpired:
                continue


def tail(log, lines=40):
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
