# SPDX-License-Identifier: GPL-3.0-or-later
"""Cycles that a server misses: too long for their time or not finished when the next begins. PipeWire's own count
doesn't suffice: what works inside the daemon's loop is never unfinished, its cycles only come later and later."""
import random
import time

from bench.stands import SINK
from tests.lib.osc import Client, Failed, NoReply
from tests.lib.process import Process, WaitError
from tests.lib.xruns import count_xruns, quantum_of

RATE = 48000
_FIRST = 1000           # number of the first synth that Stand.play makes
_CHURN, _STEP = 200, 0.05  # voices a second that start and that end; s between the bundles
OVERLOADED = (WaitError, NoReply, Failed)


def late_cycles(text, quantum, last):
    """How many of the `last` cycles in pw-profiler's log were late. Each line says first how long after the one before
    the cycle began, and how long it took to its end, in µs; late is one that begins 30 % late or ends after the next
    should begin. WaitError when the log holds fewer cycles."""
    period = 1e6 * quantum / RATE
    rows = [[int(field) for field in line.split("\t")[:2]] for line in text.splitlines()]
    if len(rows) < last:
        raise WaitError(f"{len(rows)} cycles where {last} should have been")
    return sum(began > 1.3 * period or took > period for began, took in rows[-last:])


def missed(stand, quantum, voices, seconds, settle, churn=False):
    """Missed cycles of a Stand (not yet entered) with that many default voices. With `churn`, voices start and others
    end all the while, 200 a second of each. Raises one of OVERLOADED when the server doesn't even answer."""
    with stand, stand.running(quantum):
        stand.play(voices)
        if quantum_of(stand.session.env, SINK) != quantum:
            raise RuntimeError(f"{stand.name}: not in cycles of {quantum} frames")
        with Profile(stand) as profile, Client(stand.server.port) as client:
            time.sleep(settle)
            before = count_xruns(stand.session.env, SINK) or 0
            if churn:
                _churn(client, voices, seconds)
            else:
                time.sleep(seconds)
            text = profile.stop()
            running = client.status()[2]
        late = late_cycles(text, quantum, int(seconds * RATE / quantum))
        if abs(running - voices) > (max(0.1 * voices, _CHURN) if churn else 0):
            raise RuntimeError(f"{stand.name}: {running} voices instead of {voices}")
        return late + (count_xruns(stand.session.env, SINK) or 0) - before


class Profile:
    """PipeWire's profiler, while it is entered."""

    def __init__(self, stand):
        self._file = stand.session.dir / "profile.log"
        self._process = Process(["pw-profiler", "-o", self._file], stand.session.env,
                                stand.session.dir / "profiler.log", cwd=stand.session.dir)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stop()

    def stop(self):
        """What it has written."""
        self._process.interrupt()
        self._process.wait(5)
        return self._file.read_text()


def _churn(client, voices, seconds):
    """As many start as are released; which, is left to chance."""
    chance, fresh = random.Random(1), _FIRST + voices
    held = list(range(_FIRST, fresh))
    began = time.monotonic()
    for step in range(1, int(seconds / _STEP) + 1):
        messages = []
        for _ in range(round(_CHURN * _STEP)):
            index = chance.randrange(len(held))
            messages += [("/n_set", held[index], "gate", 0),
                         ("/s_new", "default", fresh, chance.randint(0, 1), 0,
                          "freq", 100.0 + fresh % 5000, "amp", 0.1 / voices)]
            held[index] = fresh
            fresh += 1
        client.send_at(None, *messages)
        time.sleep(max(0.0, began + step * _STEP - time.monotonic()))
