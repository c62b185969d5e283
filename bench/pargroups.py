#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parallel groups: what more threads save supernova, and what they save us where nobody has asked for parallelism. The
cases are those of chapter 5 of the supernova thesis (Blechmann 2011): light synths (a sine) to separate buses and to
one, heavy ones (128 sines), and two parallel groups one after the other; and the piece of bench/offline.py, in which
no group is parallel. For supernova the groups are parallel (/p_new), for scsynth and us they are ordinary ones.

Offline renderings of everybody in turn, so that a busy machine falls on all alike: time and processor time for a second
of sound, without the start, which is that of a short score. "ceiling": two of our processes of one thread each side by
side, which is what the machine has to give. Progress goes to standard error, a Markdown table of medians to standard
output."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import report, voice_scores  # noqa: E402
from bench.contenders import NODES, POOL_KIB  # noqa: E402
from tests.lib.scsynth import score_bytes  # noqa: E402

RATE = 48000
SHORT = 0.01      # s of sound
TIME_LIMIT = 120  # s; supernova hangs now and then
TRIES = 3
LONGER = 8
SYNTHDEFS = ROOT / "bench/synthdefs"
PARALLEL = "/p_new"
SERIAL = "/g_new"


@dataclass
class Case:
    seconds: float
    groups: list       # of each: (synths, SynthDef, whether all play to bus 0)
    piece: bool = False

    def events(self, new_group, seconds, folder):
        if self.piece:
            return voice_scores.swarm(seconds, folder)
        messages = [("/d_recv", (SYNTHDEFS / f"{name}.scsyndef").read_bytes()) for name in ("bench_light", "bench_heavy")]
        for number, (synths, name, together) in enumerate(self.groups):
            messages.append((new_group, 10 + number, 1, 0))
            messages += [("/s_new", name, 1000 * (number + 1) + i, 1, 10 + number, "freq", 100.0 + i, "out",
                          0 if together else number * synths + i) for i in range(synths)]
        return [(0, *messages[i:i + 200]) for i in range(0, len(messages), 200)]


CASES = {
    "256 light, separate buses": Case(60, [(256, "bench_light", False)]),
    "256 light, one bus": Case(60, [(256, "bench_light", True)]),
    "16 heavy, one bus": Case(30, [(16, "bench_heavy", True)]),
    "2 groups of 64 light": Case(60, [(64, "bench_light", True)] * 2),
    "2 groups of 4 heavy": Case(60, [(4, "bench_heavy", True)] * 2),
    "a piece, no parallel group": Case(60, [], True),
}


@dataclass
class Player:
    name: str
    program: str
    new_group: str
    options: tuple
    processes: int = 1
    longer: int = 1  # it renders the case's seconds this many times, as it would be done too soon to tell

    def _start(self, score, output):
        command = [self.program, "-N", score, "_", output, str(RATE), "WAV", "float", "-o", "2", "-i", "0", "-D", "0",
                   "-m", str(POOL_KIB), "-n", str(NODES), "-w", "512", *self.options]
        with open(output.with_suffix(".log"), "w") as log:
            return subprocess.Popen(command, env=os.environ | {"HOME": str(output.parent)}, stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=subprocess.STDOUT)

    def render(self, score, folder):
        """(time, processor time), s, of a run; TimeoutExpired if it hangs."""
        before, began = os.times(), time.monotonic()
        outputs = [folder / f"{i}.wav" for i in range(self.processes)]
        children = [self._start(score, output) for output in outputs]
        try:
            codes = [child.wait(TIME_LIMIT) for child in children]
        finally:
            for child in children:
                child.kill()
                child.wait()
        passed, after = time.monotonic() - began, os.times()
        if any(codes):
            raise RuntimeError(f"{self.name} ended with {codes}:\n{outputs[0].with_suffix('.log').read_text()[-1000:]}")
        return passed, after.children_user + after.children_system - before.children_user - before.children_system

    def net(self, case, folder):
        """(ms, ms of processor time) for a second of sound, without the start."""
        found = []
        for seconds in SHORT, case.seconds * self.longer:
            score = folder / "score.osc"
            score.write_bytes(score_bytes(case.events(self.new_group, seconds, folder), seconds))
            found.append(self._patient(score, folder))
        if len(set((folder / "0.wav").read_bytes()[-10000:])) < 100:
            raise RuntimeError(f"{self.name} rendered silence")
        return tuple(1000 * (long - short) / (case.seconds * self.longer) for short, long in zip(*found))

    def _patient(self, score, folder):
        for _ in range(TRIES - 1):
            try:
                return self.render(score, folder)
            except subprocess.TimeoutExpired:
                print(f"{self.name} hung for {TIME_LIMIT} s: again", file=sys.stderr, flush=True)
        return self.render(score, folder)


def players(build, threads):
    ours = str(build / "src/cli/pw-scsynth")
    yield Player("scsynth", "scsynth", SERIAL, ())
    if shutil.which("supernova"):
        for count in (1, threads):
            yield Player(f"supernova, {count} thread{'s' * (count > 1)}", "supernova", PARALLEL, ("-T", str(count)))
    for count in (1, threads):
        yield Player(f"ours, {count} thread{'s' * (count > 1)}", ours, SERIAL, ("-T", str(count)), longer=LONGER)
    yield Player("ceiling", ours, SERIAL, ("-T", "1"), threads, LONGER)


def measure(case, everybody, runs, folder):
    """{name: [(time, processor time), …]}"""
    found = {}
    for run in range(runs):
        for player in everybody:
            passed, used = player.net(case, folder)
            found.setdefault(player.name, []).append((passed, used))
            print(f"run {run + 1} of {runs}: {player.name} {passed:.1f} ms, {used:.1f} ms of processor time",
                  file=sys.stderr, flush=True)
    return found


def rows(name, case, everybody, found):
    """Table rows; faster: than the same program with one thread, or for the ceiling, so much more is done at a time."""
    alone = {}
    for player in everybody:
        passed, used = (median(run[i] for run in found[player.name]) for i in (0, 1))
        first = alone.setdefault("ours" if player.name == "ceiling" else player.name.split(",")[0], (passed, used))
        faster = player.processes * first[0] / passed
        more = 100 * (used / player.processes / first[1] - 1)
        yield f"| {name} | {player.name} | {passed:.1f} ms | {used:.1f} ms | {faster:.2f} | {more:+.0f} % |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="of each (default: 3)")
    parser.add_argument("--threads", type=int, default=2, help="beside 1 (default: 2)")
    parser.add_argument("--case", action="append", choices=CASES, help="one of the cases (default: all)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="(default: build)")
    options = parser.parse_args()
    build, distances = options.build.resolve(), []
    everybody = list(players(build, options.threads))
    lines = ["| case | program | time | processor time | times as fast | processor time |", "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for name in options.case or CASES:
            distances.append(report.core_distance(build))
            print(f"{name}: {distances[-1]} ns between cores", file=sys.stderr, flush=True)
            found = measure(CASES[name], everybody, options.runs, Path(folder))
            lines += rows(name, CASES[name], everybody, found)
    print(f"{report.machine()}\nload at the end: {os.getloadavg()[0]:.1f}\n"
          f"ns between cores before each case: {', '.join(str(distance) for distance in distances)}\n")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
