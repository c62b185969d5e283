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
WARM = 3  # looks at a new daemon or engine that only say how much it needs
MORE = 2  # descriptors, threads or files that it may have more later on
GROWTH = 8.0  # KiB that it may grow by in a turn
LEFT = 32 << 10  # KiB that a broken engine may keep
LEAST = 20  # looks that are left for growth to be judged by
PATIENCE = 100  # tenths of a second until one of the turns can be done


class Failure(Exception):
    """The life isn't as it should be; the text says why."""


@dataclass
class Look:
    """What a daemon has."""
    turn: int
    memory: int  # KiB
    descriptors: int
    threads: int
    files: int


class Daemon:
    """The looks at one daemon, in parts: each begins with a new engine."""

    def __init__(self):
        self.parts = [[]]
        self.left = []  # KiB, for each broken engine

    def looks(self):
        return [look for part in self.parts for look in part]

    def settled(self):
        return [part[WARM:] for part in self.parts if len(part) > WARM + 1]

    def add(self, look):
        self.parts[-1].append(look)
        first = self.looks()[:WARM]
        for what in ("descriptors", "threads", "files"):
            usual = max(getattr(each, what) for each in first)
            if getattr(look, what) > usual + MORE and look not in first:
                raise Failure(f"turn {look.turn}: {getattr(look, what)} {what} instead of {usual}")


class Watch:
    """Looks at daemons."""

    def __init__(self, life):
        self._life = life
        self._process = None
        self.daemons = []

    def memory(self):
        """Of the daemon, in KiB."""
        return memory_kib(self._life.session.daemon.pid)

    def look(self, turn):
        """At a daemon at rest."""
        process = self._life.session.daemon
        if process is not self._process:
            self._process = process
            self.daemons.append(Daemon())
        proc = Path(f"/proc/{process.pid}")
        files = [*(self._life.session.dir / "run").rglob("*"), *Path("/dev/shm").glob(f"SuperColliderServer_{self._life.port}*")]
        self.daemons[-1].add(Look(turn, self.memory(), len(list((proc / "fd").iterdir())), len(list((proc / "task").iterdir())),
                                  len(files)))

    def engine_broken(self, before):
        """`before`: memory() before that. The engine's memory is never touched again, so that it stays."""
        left = self.memory() - before
        if left > LEFT:
            raise Failure(f"a broken engine left {left} KiB")
        self.daemons[-1].left.append(left)
        self.daemons[-1].parts.append([])

    def growth(self):
        """KiB a turn, one slope for all parts; None where there are too few looks."""
        parts = [part for daemon in self.daemons for part in daemon.settled()]
        if sum(map(len, parts)) < LEAST:
            return None
        above = below = 0
        for part in parts:
            turn, memory = (sum(values) / len(part) for values in ([look.turn for look in part], [look.memory for look in part]))
            above += sum((look.turn - turn) * (look.memory - memory) for look in part)
            below += sum((look.turn - turn) ** 2 for look in part)
        return above / below

    def check_growth(self):
        growth = self.growth()
        if growth is not None and growth > GROWTH:
            raise Failure(f"the daemon grows by {growth:.2f} KiB a turn")


def take(life, watch, kind, rng):
    """One turn."""
    start = time.monotonic()
    breaks = kind.do is turns.breaks_engine
    before = watch.memory()
    asleep = kind.do(life, rng) or 0
    life.wait_whole()
    heard = life.wait_heard()
    if breaks:
        watch.engine_broken(before)
    kind.note(max(0, life.silences.longest(start) - asleep) if heard else None)


def live(life, watch, kinds, more, rng, last):
    """Turns as long as more() says so; how many there were."""
    turn, looked, stuck = 0, None, 0
    while more(turn):
        if turn % REST == 0 and turn != looked:
            looked = turn
            life.rest()
            watch.look(turn)
        if turn % TELL == 0 and turn:
            print(f"{turn} turns; {told(watch.daemons[-1].looks()[-1])}", flush=True)
        able = [kind for kind in kinds if kind.may(life)]
        if not able:
            stuck += 1
            if stuck > PATIENCE:
                raise Failure("none of the turns can be done any more")
            time.sleep(0.1)
            continue
        stuck = 0
        kind, = rng.choices(able, [kind.weight for kind in able])
        last.append(kind.name)
        take(life, watch, kind, rng)
        turn += 1
    if turn != looked:
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
    for daemon in watch.daemons:
        looks = daemon.looks()
        print(f"daemon of turns {looks[0].turn} to {looks[-1].turn}; {len(daemon.left)} broken engines left "
              f"{sum(daemon.left) / 1024:.1f} MiB")
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
    if given.turns is not None and given.turns < 1:
        parser.error("turns: at least 1")
    kinds, rng, last = turns.kinds(), random.Random(given.seed), deque(maxlen=12)
    start = time.monotonic()
    with Life() as life:
        watch = Watch(life)
        usable = [kind for kind in kinds if given.only in kind.name and turns.can(kind, life)]
        if not usable:
            parser.error(f"none of the turns that can be done here has {given.only!r} in its name")
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
