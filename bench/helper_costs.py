#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What helper threads cost where they bring nothing, or are asked for the first time.

  activation  a second group of tasks waits for a first one (bench/activation.cpp): ns a task, for groups of 64, 256 and
              1024, of tasks that do nothing and of such that take some 200 ns
  edits       what planning costs for one new synth among 1000, one being freed (bench/edit-times.cpp): ns of the data
              loop's processor time; and instructions of StrandPlan::make() and how often it is called, by callgrind
  small       a small piece, 100 light synths at the pace of real time: instructions of the data loop and context
              switches of all threads, with 1 thread and with 2 (bench/block-times.cpp)

Where it is allowed, threads are SCHED_FIFO. Progress goes to standard error, Markdown tables to standard output."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import report  # noqa: E402
from bench.cycle_times import SYNTHDEFS, hurry, urgent  # noqa: E402
from bench.instructions import count  # noqa: E402

ROWS = ("activation", "edits", "small")
SIZES = (64, 256, 1024)
STEPS = (0, 200)
LIGHT = SYNTHDEFS / "bench_light.scsyndef"
SYNTHS, COUNTED_EDITS = 1000, (500, 1000)
SMALL, SMALL_CYCLES, COUNTED_CYCLES = f"100:{LIGHT}:together", 7500, (2000, 4000)
ASLEEP = ("--waking-load", "1000")  # callgrind is slow, which would be a load
DATA_LOOP = ("scs::Engine::process*",)
PLAN = ("scs::StrandPlan::make(*",)


def say(text):
    print(text, file=sys.stderr, flush=True)


def output(command, priority):
    done = subprocess.run([str(word) for word in command], preexec_fn=hurry if priority else None, capture_output=True,
                          text=True, timeout=600, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def calls(profile, function):
    """How often callgrind's profile says that the function was called."""
    number, found = None, 0
    lines = iter(profile.splitlines())
    for line in lines:
        if named := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?$", line):
            if named[3] and named[3].startswith(function):
                number = named[2]
            if not named[1]:
                continue
            called = re.match(r"calls=(\d+)", next(lines, ""))
            if called and named[2] == number:
                found += int(called[1])
    return found


class Costs:
    """Each measure is a method, named in ROWS, that returns lines."""

    def __init__(self, options, folder):
        self.options, self.folder, self.priority = options, folder, urgent()
        self.programs = options.build.resolve() / "bench"

    def activation(self):
        yield "| tasks | in a group | without gates, ns a task | with gates | the helper did | with gates, it did |"
        yield "|---|---|---|---|---|---|"
        for steps in STEPS:
            say(f"activation: tasks of {steps} steps")
            text = output([self.programs / "activation", self.options.rounds, steps, *SIZES], self.priority)
            for found in re.finditer(r"2 groups of (\d+): without gates (\d+) ns, (\d+) % by the helper; "
                                     r"with gates (\d+) ns, (\d+) %", text):
                tasks, free, free_share, gated, gated_share = map(int, found.groups())
                yield (f"| {f'{steps} ns' if steps else 'trivial'} | {tasks} | {free / tasks / 2:.1f} "
                       f"| {gated / tasks / 2:.1f} | {free_share} % | {gated_share} % |")

    def edits(self):
        say(f"edits: {self.options.edits}")
        text = output([self.programs / "edit-times", LIGHT, SYNTHS, self.options.edits], self.priority)
        yield "| " + " | ".join(["of four blocks, and of an edit and four", "mean", "median"]) + " |"
        yield "|---|---|---|"
        for found in re.finditer(r"^(.*): mean (-?\d+) ns, median (-?\d+) ns$", text, re.M):
            yield f"| {found[1]} | {found[2]} ns | {found[3]} ns |"
        instructions, often = [], []
        for edits in COUNTED_EDITS:
            say(f"edits: callgrind of {edits}")
            command = [self.programs / "edit-times", LIGHT, str(SYNTHS), str(edits), "2"]
            instructions.append(count(command, self.folder, PLAN))
            often.append(calls((self.folder / "profile").read_text(), "scs::StrandPlan::make("))
        more = COUNTED_EDITS[1] - COUNTED_EDITS[0]
        plans = (often[1] - often[0]) / more
        spent = (instructions[1] - instructions[0]) / more
        yield ""
        yield (f"Planning, by callgrind: {spent:.0f} instructions for an edit, in {plans:.1f} plans of "
               f"{spent / plans:.0f} each.")

    def small(self):
        yield "| | data loop's instructions a block | its context switches | helpers' | computed by helpers |"
        yield "|---|---|---|---|---|"
        for threads in (1, 2):
            command = [self.programs / "block-times", "--threads", str(threads), SMALL]
            say(f"small piece, {threads} threads: {SMALL_CYCLES} cycles, {SMALL_CYCLES / 750:.0f} s")
            text = output([*command, "--paced", "--cycles", SMALL_CYCLES], self.priority)
            loop, helpers, computed = (int(re.search(rf"^{name}: (\d+)", text, re.M)[1])
                                       for name in ("data loop", "helpers", "computed by helpers"))
            counted = []
            for cycles in COUNTED_CYCLES:
                say(f"small piece, {threads} threads: callgrind of {cycles} cycles")
                counted.append(count([*command, *ASLEEP, "--warm", "2000", "--cycles", str(cycles)], self.folder,
                                     DATA_LOOP))
            spent = (counted[1] - counted[0]) / (COUNTED_CYCLES[1] - COUNTED_CYCLES[0])
            yield f"| {threads} thread{'s' * (threads > 1)} | {spent:.1f} | {loop} | {helpers} | {computed} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=ROWS, default=ROWS, help="of these (default: all)")
    parser.add_argument("--rounds", type=int, default=5000, help="of activation (default: 5000)")
    parser.add_argument("--edits", type=int, default=100000, help="(default: 100000)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="(default: build)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        costs = Costs(options, Path(folder))
        for name in ("activation", "edit-times", "block-times"):
            if not (costs.programs / name).exists():
                sys.exit(f"{costs.programs / name} is not there: tools/build {options.build} -Dtests=true")
        lines = []
        for name in options.only:
            lines += ["", f"{name}:", "", *getattr(costs, name)()]
    print(f"{report.machine()}\nload at the end: {os.getloadavg()[0]:.1f}; "
          f"{'SCHED_FIFO' if costs.priority else 'no real-time priority'}")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
