#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What single blocks of 64 frames take, as histograms: the cases of chapter 5 of the supernova thesis (Blechmann 2011),
for scsynth, supernova and our engine with 1 thread and with more. For supernova the groups are parallel (/p_new).

  ours       the engine alone is called, as the data loop does it (bench/block-times.cpp); "always": helpers are asked
             whatever the load is, where by default they sleep below a tenth
  scsynth,   their process functions are called by a stand-in for libjack (bench/jack-stand-in.cpp), which is put
  supernova  before it; they are told what to play by OSC, over the loopback interface
  bare loop  arithmetic that takes about as long as our block with 1 thread: what the machine adds

All of it is repeated --runs times in turn, so that a busy machine falls on all alike; what is beyond the bare loop is
the median of the runs. Blocks come back to back; in "a new synth in each block", for which OSC has to come in, at the
pace of real time, and a tenth as many. Where it is allowed, all threads are SCHED_FIFO. Progress goes to standard error,
a Markdown table to standard output, the histograms to --svg."""
import argparse
import os
import shutil
import sys
from pathlib import Path
from statistics import median

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import report  # noqa: E402
from bench.chart import Histograms, svg  # noqa: E402
from bench.cycle_times import Graph, Ours, Server, urgent  # noqa: E402
from bench.pargroups import CASES as GROUPS, PARALLEL, SERIAL  # noqa: E402

CASES = {name: Graph(case.groups) for name, case in GROUPS.items() if not case.piece}
CASES["256 light, a new synth in each block"] = Graph([(256, "bench_light", True)], True)
BARE, FIRST = "bare loop", "ours, 1 thread"
EDITED_SHARE = 10
JUDGED = ("256 light, separate buses", "256 light, one bus")
GOAL = 5000  # ns that p99.9 is above the average, beyond the bare loop's


def contenders(build, threads, priority):
    """The bare loop's length is that of the one before it."""
    program, stand_in = build / "bench/block-times", build / "bench/libjack-stand-in.so"
    for file in program, stand_in:
        if not file.exists():
            sys.exit(f"{file} is not there: tools/build {build} -Dtests=true")
    yield Ours(FIRST, program, ["--threads", "1"], priority)
    yield Ours(BARE, program, [], priority, bare=True)
    for count in threads:
        yield Ours(f"ours, {count} threads", program, ["--threads", str(count)], priority)
        yield Ours(f"ours, {count} threads, always", program, ["--threads", str(count), "--waking-load", "0"], priority)
    if shutil.which("scsynth"):
        yield Server("scsynth", "scsynth", [], SERIAL, stand_in, priority)
    else:
        print("scsynth is left out: not installed (supercollider-server)", file=sys.stderr)
    if shutil.which("supernova"):
        for count in (1, *threads):
            yield Server(f"supernova, {count} thread{'s' * (count > 1)}", "supernova", ["-T", str(count)], PARALLEL,
                         stand_in, priority)
    else:
        print("supernova is left out: not installed (supercollider-supernova)", file=sys.stderr)


def measure(graph, everybody, runs, cycles):
    """{name: [ns of each block] of each run}; who fails is left out."""
    found, failed = {}, {}
    for run in range(runs):
        for one in everybody:
            if one.name in failed:
                continue
            try:
                bare = int(np.median(found[FIRST][-1])) if one.name == BARE else 0
                nsec, _ = one.run(graph, cycles // runs, bare)
            except RuntimeError as error:
                failed[one.name] = str(error)
                print(f"left out: {error}", file=sys.stderr, flush=True)
                continue
            found.setdefault(one.name, []).append(nsec)
            print(f"run {run + 1} of {runs}: {one.name}: average {nsec.mean() / 1000:.1f} µs, "
                  f"p99.9 {np.percentile(nsec, 99.9) / 1000:.1f}, worst {nsec.max() / 1000:.1f}",
                  file=sys.stderr, flush=True)
    return found


def excess(nsec):
    """How far p99.9 is above the average, ns."""
    return np.percentile(nsec, 99.9) - nsec.mean()


def beyond_bare(found, name):
    """How much further than in the bare loop, ns: the median of the runs' differences."""
    return median(excess(nsec) - excess(bare) for nsec, bare in zip(found[name], found[BARE]))


def rows(case, found):
    for name, runs in found.items():
        nsec = np.concatenate(runs)
        figures = [nsec.mean(), *np.percentile(nsec, (50, 99, 99.9)), nsec.max(), excess(nsec)]
        beyond = f"{beyond_bare(found, name) / 1000:+.1f}" if name != BARE and BARE in found else ""
        yield f"| {case} | {name} | " + " | ".join(f"{each / 1000:.1f}" for each in figures) + f" | {beyond} |"


def judged(case, found):
    for name in (each for each in found if each.startswith("ours") and not each.endswith("always")):
        over = beyond_bare(found, name)
        yield (f"{case}, {name}: p99.9 is {over / 1000:+.1f} µs further above the average than the bare loop's, goal "
               f"{GOAL / 1000:.0f}: {'met' if over <= GOAL else 'missed'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=CASES, help="one of the cases (default: all)")
    parser.add_argument("--cycles", type=int, default=50000, help="blocks of each (default: 50000)")
    parser.add_argument("--runs", type=int, default=5, help="how many parts they are in (default: 5)")
    parser.add_argument("--threads", type=int, nargs="+", default=[2], help="beside 1 (default: 2)")
    parser.add_argument("--svg", type=Path, help="where to draw the histograms")
    parser.add_argument("--no-priority", action="store_true", help="no thread is SCHED_FIFO")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="(default: build)")
    options = parser.parse_args()
    priority = urgent() and not options.no_priority
    everybody = list(contenders(options.build.resolve(), options.threads, priority))
    lines = ["| case | program | average, µs | median | p99 | p99.9 | worst | p99.9 − average | beyond the bare loop |",
             "|---|---|---|---|---|---|---|---|---|"]
    parts, verdicts = [], []
    for name in options.case or CASES:
        print(name, file=sys.stderr, flush=True)
        graph = CASES[name]
        found = measure(graph, everybody, options.runs, options.cycles // (EDITED_SHARE if graph.edited else 1))
        lines += rows(name, found)
        parts.append(Histograms(f"{name}: blocks that take so long, of {sum(map(len, found[FIRST]))}", "µs",
                                {each: np.concatenate(nsec) / 1000 for each, nsec in found.items()}))
        if name in JUDGED and BARE in found:
            verdicts += list(judged(name, found))
    print(f"{report.machine()}\nload at the end: {os.getloadavg()[0]:.1f}; "
          f"{'SCHED_FIFO' if priority else 'no real-time priority'}\n")
    print("\n".join(lines + [""] + verdicts))
    if options.svg:
        options.svg.write_text(svg("Blocks of 64 frames", report.machine()["CPU"], parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
