# SPDX-License-Identifier: GPL-3.0-or-later
"""Child processes with captured output, ended by their own pid; figures from /proc."""
import ctypes
import os
import signal
import subprocess
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)
TICKS = os.sysconf("SC_CLK_TCK")


class WaitError(TimeoutError):
    """A condition did not come true in time."""


def wait_for(condition, what, timeout=30.0, interval=0.03):
    """Return the first true value of `condition()`; WaitError names `what`."""
    deadline = time.monotonic() + timeout
    while True:
        if value := condition():
            return value
        if time.monotonic() > deadline:
            raise WaitError(f"{what}: not within {timeout:g} s")
        time.sleep(interval)


class Process:
    """A child whose stdout and stderr go to `log`; `stop()` ends it and what it started. It dies
    with this process, too, however that ends."""

    def __init__(self, command, env, log, cwd=None):
        self.command = [str(word) for word in command]
        self.log = Path(log)
        with self.log.open("wb") as output:
            self._child = subprocess.Popen(
                self.command, env=env, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, cwd=cwd, start_new_session=True,
                preexec_fn=_die_with_parent)

    @property
    def pid(self):
        return self._child.pid

    def output(self):
        return self.log.read_text(errors="replace")

    def running(self):
        return self._child.poll() is None

    def returncode(self):
        return self._child.poll()

    def wait(self, timeout):
        """The exit status; the process is stopped when it takes longer."""
        try:
            return self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            self.stop()
            raise WaitError(f"{self.command[0]} still runs after {timeout:g} s; it said:\n"
                            + self.output()[-4000:]) from None

    def wait_output(self, text, timeout=30.0):
        """Return the output once it contains `text`; an early end is an error."""
        def seen():
            running = self.running()
            output = self.output()
            if text in output:
                return output
            if not running:
                raise WaitError(f"{self.command[0]} ended with {self.returncode()} before "
                                f"{text!r}; it said:\n{output[-4000:]}")
            return None
        return wait_for(seen, f"{text!r} from {self.command[0]}", timeout)

    def interrupt(self):
        if self.running():
            self._child.send_signal(signal.SIGINT)

    def stop(self, grace=3.0):
        """SIGTERM, then SIGKILL after `grace` seconds, to the process's own session."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.running():
                os.killpg(self.pid, number)
            try:
                self._child.wait(grace)
                return
            except subprocess.TimeoutExpired:
                continue


def _die_with_parent():
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def resident_kib(pid):
    """Resident memory in KiB."""
    return int(_status(Path(f"/proc/{pid}/status"))["VmRSS"].split()[0])


def memory_kib(pid):
    """Resident memory in KiB without what is of files: others' programs change how much of that there is."""
    status = _status(Path(f"/proc/{pid}/status"))
    return sum(int(status[key].split()[0]) for key in ("RssAnon", "RssShmem"))


def threads(pid):
    """Per thread id: name, context switches that it wanted and that it didn't, CPU seconds (and the same in ns, more exact)."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            status = _status(task / "status")
            fields = (task / "stat").read_text().rpartition(")")[2].split()
            cpu_nsec = int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:
            continue
        found[int(task.name)] = {
            "name": status["Name"],
            "voluntary_switches": int(status["voluntary_ctxt_switches"]),
            "involuntary_switches": int(status["nonvoluntary_ctxt_switches"]),
            "cpu_seconds": (int(fields[11]) + int(fields[12])) / TICKS,
            "cpu_nsec": cpu_nsec,
        }
    return found


def _status(path):
    return dict(line.split(":\t", 1) for line in path.read_text().splitlines() if ":\t" in line)
