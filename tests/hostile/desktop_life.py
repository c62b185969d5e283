# SPDX-License-Identifier: GPL-3.0-or-later
"""A desktop's life in fast motion: `python3 -m tests.hostile.desktop_life TURNS [--seed N]`, or `--seconds S` instead of
a number of turns. A piece plays in a session of its own while tests/hostile/turns.py does things to it. After each turn
the piece is there as it was, and heard, and no silence was longer than allowed; in the end neither memory nor
descriptors nor threads nor files have grown. docs/safety.md has what came out."""
import argparse
import random
import shutil
import sys
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from tests.hostile import turns
from tests.hostile.life import Life
from tests.lib.build import BUILD
from tests.lib.process import memory_kib

LOGS = BUILD / "check/desktop-life"
REST = 25  # turns from one look at the daemon to the next
TELL = 100  # turns from one line to the next
WARM = 3  # looks at a new daemon that only say how much it needs
MORE = 2  # descriptors, threads or files that it may have more later on
GROWTH = 8.0  # KiB that it may grow by in a turn
LEFT = 32 << 10  # KiB that a broken engine may leave behind
LEAST = 12  # looks after the first ones before growth is judged


class Failure(Exception):
    """The life isn't as it should be; the text says why."""


@dataclass
class Look:
    """What a daemon has."""
    turn: int
    memory: int  # KiB, without what broken engines left
    descriptors: int
    threads: int
    files: int


class Stretch:
    """The looks at one daemon."""

    def __init__(self):
        self.looks = []
        self.left = 0

    def settled(self):
        return self.looks[WARM:]

    def check(self):
        for now in self.settled():
            for what in ("descriptors", "threads", "files"):
                first = max(getattr(look, what) for look in self.looks[:WARM])
                if getattr(now, what) > first + MORE:
                    raise Failure(f"turn {now.turn}: {getattr(now, what)} {what} instead of {first}")


class Watch:
    """Looks at daemons."""

    def __init__(self, life):
        self._life = life
        self._daemon = None
        self.stretches = []

    def look(self, turn):
        """At a daemon at rest."""
        daemon = self._life.session.daemon
        if daemon is not self._daemon:
            self._daemon = daemon
            self.stretches.append(Stretch())
        stretch, proc = self.stretches[-1], Path(f"/proc/{daemon.pid}")
        files = [*(self._life.session.dir / "run").rglob("*"), *Path("/dev/shm").glob(f"SuperColliderServer_{self._life.port}*")]
        stretch.looks.append(Look(turn, memory_kib(daemon.pid) - stretch.left, len(list((proc / "fd").iterdir())),
                                  len(list((proc / "task").iterdir())), len(files)))
        stretch.check()

    def engine_broken(self, before):
        """The memory before is in KiB."""
        left = memory_kib(self._life.session.daemon.pid) - before
        if left > LEFT:
            raise Failure(f"a broken engine left {left} KiB")
        self.stretches[-1].left += left

    def growth(self):
        """KiB a turn, one line's slope for all daemons; None where there are too few looks."""
        settled = [stretch.settled() for stretch in self.stretches if len(stretch.settled()) > 1]
        if sum(map(len, settled)) < LEAST:
            return None
        above = below = 0
        for looks in settled:
            turn, memory = (sum(values) / len(looks) for values in
                            ([look.turn for look in looks], [look.memory for look in looks]))
            above += sum((look.turn - turn) * (look.memory - memory) for look in looks)
            below += sum((look.turn - turn) ** 2 for look in looks)
        return above / below

    def check_growth(self):
        growth = self.growth()
        if growth is not None and growth > GROWTH:
            raise Failure(f"the daemon grows by {growth:.2f} KiB a turn")


def take(life, watch, kind, rng):
    """One turn."""
    start = time.monotonic()
    breaks = kind.do is turns.breaks_engine
    before = memory_kib(life.session.daemon.pid) if breaks else 0
    kind.do(life, rng)
    life.wait_whole()
    heard = life.wait_heard()
    if breaks:
        watch.engine_broken(before)
    kind.note(life.silences.longest(start) if heard else None)


def live(life, watch, kinds, more, rng, last):
    """Turns as long as more() says so; how many there were."""
    turn = 0
    while more(turn):
        if turn % REST == 0:
            life.rest()
            watch.look(turn)
        if turn % TELL == 0 and turn:
            print(f"{turn} turns; {told(watch.stretches[-1].looks[-1])}", flush=True)
        able = [kind for kind in kinds if kind.may(life)]
        kind, = rng.choices(able, [kind.weight for kind in able])
        last.append(kind.name)
        take(life, watch, kind, rng)
        turn += 1
    life.rest()
    watch.look(turn)
    watch.check_growth()
    return turn


def told(look):
    return f"{look.memory / 1024:.1f} MiB, {look.descriptors} descriptors, {look.threads} threads, {look.files} files"


def report(watch, kinds):
    print(f"{'':36}{'turns':>6}{'mean silence':>14}{'longest':>10}{'limit':>8}")
    for kind in kinds:
        if kind.count:
            print(f"{kind.name:36}{kind.count:6}{kind.total / kind.count * 1000:11.0f} ms{kind.longest * 1000:7.0f} ms"
                  f"{kind.silence * 1000:5.0f} ms")
    for stretch in watch.stretches:
        looks = stretch.looks
        print(f"daemon of turns {looks[0].turn} to {looks[-1].turn}, without {stretch.left / 1024:.1f} MiB of broken engines:")
        for look in (looks[0], looks[min(WARM, len(looks) - 1)], looks[-1]):
            print(f"  at turn {look.turn}: {told(look)}")
    if deaf := sum(kind.deaf for kind in kinds):
        print(f"turns in which the listener was cut off: {deaf}")
    growth = watch.growth()
    print("too short a life to tell whether memory grows" if growth is None else f"growth: {growth:.2f} KiB a turn")


def keep_logs(life):
    LOGS.mkdir(parents=True, exist_ok=True)
    for log in life.session.dir.glob("*.log"):
        shutil.copy(log, LOGS)
    return LOGS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("turns", type=int, nargs="?")
    parser.add_argument("--seconds", type=float, help="turns for that long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="turns whose name has that in it")
    given = parser.parse_args()
    if (given.turns is None) == (given.seconds is None):
        parser.error("turns or --seconds")
    kinds, rng, last = turns.kinds(), random.Random(given.seed), deque(maxlen=12)
    start = time.monotonic()
    with Life() as life:
        watch = Watch(life)
        usable = [kind for kind in kinds if given.only in kind.name and turns.can(kind, life)]
        try:
            count = live(life, watch, usable,
                         lambda turn: turn < given.turns if given.turns else time.monotonic() < start + given.seconds, rng, last)
        except Exception as error:
            report(watch, kinds)
            print(f"FAILED with seed {given.seed}; the last turns: {', '.join(last)}\n{type(error).__name__}: {error}\n"
                  f"logs: {keep_logs(life)}")
            return 1
        report(watch, kinds)
        print(f"{count} turns in {time.monotonic() - start:.0f} s, seed {given.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
