#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""One piece of many default synths by each path that a SuperCollider server's sound can take on Linux: our node in
PipeWire's graph, the same in a process of its own, scsynth and supernova as clients of PipeWire by pw-jack, and
scsynth as a client of jackd with its dummy driver.

For each quantum and number of voices: the processor time, threads, context switches and wake-ups of every process that
the path needs, and its xruns. For each quantum: the way of a click from a source to a sink, and how far the clicks of
900 bundles with time tags lie from their times. Each path has private daemons; rounds go through all of them in turn,
and medians are taken. Paths that this machine can't take are named with their reason.

Progress goes to standard error, a Markdown table to standard output, all cells to a file of JSON and a picture to one
of SVG. With the defaults it takes about half an hour."""
import argparse
import json
import shutil
import sys
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import chart, latency, report, windows  # noqa: E402
from bench.contenders import NODES, POOL_KIB  # noqa: E402
from bench.jackd import Jackd  # noqa: E402
from bench.stands import SINK, Ours, Program, Silent, Stock  # noqa: E402
from tests.lib import audio  # noqa: E402
from tests.lib.osc import Client, NoReply  # noqa: E402
from tests.lib.process import WaitError  # noqa: E402
from tests.lib.recording import Incomplete, Recording  # noqa: E402
from tests.lib.xruns import count_xruns, quantum_of  # noqa: E402

CLICKS = ROOT / "tests/integration/synthdefs"
RATE = 48000
BUNDLES, LEAD = 900, 0.3  # s that a bundle is sent before its time
THRESHOLD = 0.25          # of a click, which has 0.5


@dataclass
class Cell:
    """What one window of one path found. Times and numbers are a second's."""
    path: str
    quantum: int
    voices: int
    processes: dict  # {name: {"cpu", "threads", "switches", "wakeups"}}, cpu in cores
    xruns: int | None
    note: str = ""

    def total(self, what):
        return sum(each[what] for each in self.processes.values())


@dataclass
class Timing:
    """Of clicks with time tags. Frames; the drift is what the clocks come apart in those seconds."""
    jitter: float
    drift: float
    seconds: float


@dataclass
class Results:
    cells: list = field(default_factory=list)
    latencies: dict = field(default_factory=dict)  # {(path, quantum): [frames]}
    timings: dict = field(default_factory=dict)    # {(path, quantum): Timing}
    left_out: list = field(default_factory=list)   # texts

    def leave_out(self, text):
        if text not in self.left_out:  # as in the round before
            self.left_out.append(text)


ROOM = ("-n", str(NODES), "-m", str(POOL_KIB))  # more than 1024 nodes


class InGraph(Ours):
    name = "in the graph"
    settings = {"max-nodes": NODES, "rt-memory": POOL_KIB}


class OwnProcess(Program):
    name = "own process"
    options = ROOM


class PwJackScsynth(Stock):
    name = "scsynth, pw-jack"
    options = ROOM


class PwJackSupernova(Stock):
    name = "supernova, pw-jack"
    program = "supernova"
    options = ("-T", "1", *ROOM)


class JackdScsynth(Jackd):
    name = "scsynth, jackd"
    options = ROOM


def paths():
    """(classes of the paths that can be taken here, why others can't)."""
    needs = {InGraph: (), OwnProcess: (), PwJackScsynth: ("scsynth", "pw-jack"), PwJackSupernova: ("supernova", "pw-jack"),
             JackdScsynth: ("scsynth", "jackd", "jack_connect")}
    here, left_out = [], ["PulseAudio's server in PipeWire: neither scsynth nor supernova is built with an output to it",
                          "scsynth with a PipeWire output of its own: not in any release"]
    for kind, programs in needs.items():
        missing = [program for program in programs if not shutil.which(program)]
        if missing:
            left_out.append(f"{kind.name}: {', '.join(missing)} isn't installed")
        else:
            here.append(kind)
    return here, left_out


def processes(before, after, seconds, names):
    """{name: what its threads did a second}, between two samples; `names` is {pid: name}."""
    found = {}
    for (pid, tid), info in after.items():
        old = before.get((pid, tid), {})
        each = found.setdefault(names[pid], {"cpu": 0.0, "threads": 0, "switches": 0.0, "wakeups": 0.0})
        wanted, unwanted, nsec = (info[key] - old.get(key, 0) for key in
                                  ("voluntary_switches", "involuntary_switches", "cpu_nsec"))
        each["cpu"] += nsec / 1e9 / seconds
        each["threads"] += 1
        each["switches"] += (wanted + unwanted) / seconds
        each["wakeups"] += wanted / seconds
    return found


def window(stand, quantum, voices, options):
    """The Cell of a stand that is running."""
    stand.play(voices)
    time.sleep(options.settle)
    names, missed = stand.processes(), xruns(stand)
    before, start = windows.sample(names), time.monotonic()
    time.sleep(options.seconds)
    after, seconds = windows.sample(names), time.monotonic() - start
    found = xruns(stand)
    return Cell(stand.name, quantum, voices, processes(before, after, seconds, names), more(missed, found),
                audible(stand, quantum))


def more(before, after):
    """How much a counter went on, which may have begun anew; None if it couldn't be read."""
    if before is None or after is None:
        return None
    return after - before if after >= before else after


def windows_of(kind, quantum, options):
    """A Cell for each number of voices."""
    with kind(options.build) as stand, stand.running(quantum):
        return [window(stand, quantum, voices, options) for voices in options.voices]


def xruns(stand):
    """Of the server's node: the driver's own count leaves out what its followers miss."""
    return stand.xruns() if isinstance(stand, Jackd) else count_xruns(stand.session.env, stand.server.node_name)


def audible(stand, quantum):
    """What is wrong with what the sink plays, or nothing."""
    if isinstance(stand, Jackd):
        return ""
    if (running := quantum_of(stand.session.env, SINK)) != quantum:
        return f"cycles of {running}"
    try:
        return "" if stand.level() >= windows.AUDIBLE else "silent"
    except Incomplete:
        return "cycles lost"


def deviations(clicks, times):
    """The Timing of clicks, in frames of a recording, whose times are given in seconds."""
    clicks, times = np.asarray(clicks, float), np.asarray(times, float)
    if len(clicks) != len(times):
        raise Silent(f"{len(clicks)} clicks of {len(times)} bundles")
    late = clicks - RATE * times
    slope, start = np.polyfit(times, late, 1)
    seconds = float(times[-1] - times[0])
    return Timing(float(np.std(late - (start + slope * times))), float(slope * seconds), seconds)


def timing(stand, quantum):
    """Clicks at moments that fall anywhere within a block."""
    with stand.running(quantum), Client(stand.server.port) as client:
        client.command("/d_loadDir", str(CLICKS))
        gaps = np.cumsum(np.random.default_rng(1).uniform(0.007, 0.013, BUNDLES))

        def play():
            times = time.time() + 2 * LEAD + gaps
            for moment in times:
                time.sleep(max(0, moment - LEAD - time.time()))
                client.send_at(moment, ("/s_new", "test_impulse", -1, 0, 0))
            return times[-1] - time.time() + 0.5

        return deviations(stand.clicks(play) if isinstance(stand, Jackd) else recorded_clicks(stand, play), gaps - gaps[0])


def recorded_clicks(stand, play):
    """The frames of the clicks that are heard while play() runs, and for as many seconds more as it says."""
    path = stand.session.dir / "clicks.wav"
    with Recording(stand.session, path) as recording:
        recording.wait(play())
    return audio.impulses(audio.read_wav(path)[0][:, 0], THRESHOLD)


@contextmanager
def said(what):
    print(what, end=" ", file=sys.stderr, flush=True)
    start = time.monotonic()
    yield
    print(f"({time.monotonic() - start:.0f} s)", file=sys.stderr, flush=True)


def tried(results, what, measure):
    """What is measured, a second time if that failed; a path that can't do it is named, and left out there."""
    for last in (False, True):
        try:
            return measure()
        except (Incomplete, Silent, WaitError, NoReply) as error:
            if last:
                results.leave_out(f"{what}: {first_line(error)}")
    return None


def first_line(error):
    return str(error).partition("\n")[0]


def run(kinds, options):
    results = Results()
    for number in range(options.rounds):
        for quantum in options.quanta:
            for kind in kinds:
                with said(f"round {number + 1} of {options.rounds}, quantum {quantum}, {kind.name}:"):
                    results.cells += tried(results, f"{kind.name}, quantum {quantum}",
                                           lambda: windows_of(kind, quantum, options)) or []
    for quantum in options.quanta:
        for kind in kinds:
            with said(f"clicks, quantum {quantum}, {kind.name}:"), kind(options.build) as stand:
                where = f"{kind.name}, quantum {quantum}"
                if not issubclass(kind, Jackd):
                    if found := tried(results, f"{where}, latency", lambda: latency.measure(stand, quantum)):
                        results.latencies[kind.name, quantum] = found.frames
                if found := tried(results, f"{where}, time tags", lambda: timing(stand, quantum)):
                    results.timings[kind.name, quantum] = found
    return results


def typical(results, name, quantum, voices, what):
    """The median over the rounds, or None."""
    found = [cell.total(what) for cell in results.cells
             if (cell.path, cell.quantum, cell.voices) == (name, quantum, voices)]
    return median(found) if found else None


def markdown(results, kinds, options):
    head = ["quantum", "path", *(f"{voices} voices" for voices in options.voices), "threads", "switches/s", "wake-ups/s", "xruns",
            "source to sink", "jitter", "drift"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for quantum in options.quanta:
        lines += [f"| {quantum} | {kind.name} | {' | '.join(row(results, kind.name, quantum, options))} |" for kind in kinds]
    lines += ["", "Percent of a core, all processes together; switches and wake-ups with the fewest voices; xruns of all windows; "
              "frames, and drift in the seconds that 900 bundles take."]
    return "\n".join([*lines, *(f"- left out: {text}" for text in results.left_out)]) + "\n"


def row(results, name, quantum, options):
    cells = [cell for cell in results.cells if (cell.path, cell.quantum) == (name, quantum)]
    notes = {voices: "".join(sorted({f" ({cell.note})" for cell in cells if cell.voices == voices and cell.note}))
             for voices in options.voices}
    cpu = [shown(typical(results, name, quantum, voices, "cpu"), lambda cores: f"{100 * cores:.1f} %") + notes[voices]
           for voices in options.voices]
    few = [shown(typical(results, name, quantum, min(options.voices), what), lambda number: f"{number:.0f}")
           for what in ("threads", "switches", "wakeups")]
    missed = [cell.xruns for cell in cells if cell.xruns is not None]
    way, clicks = results.latencies.get((name, quantum)), results.timings.get((name, quantum))
    return [*cpu, *few, str(sum(missed)) if missed else "–", ", ".join(map(str, way)) if way else "–",
            *([f"{clicks.jitter:.3f}", f"{clicks.drift:.1f}"] if clicks else ["–", "–"])]


def shown(value, text):
    return "–" if value is None else text(value)


def picture(results, kinds, options):
    parts = [chart.Lines(f"quantum {quantum}: processor time of all processes, % of a core", "voices", {
        kind.name: [(voices, 100 * cpu) for voices in options.voices
                    if (cpu := typical(results, kind.name, quantum, voices, "cpu")) is not None]
        for kind in kinds}) for quantum in options.quanta]
    parts += [chart.Bars(f"quantum {quantum}: wake-ups a second with {min(options.voices)} voices", [
        (kind.name, wakeups, f"{wakeups:.0f}") for kind in kinds
        if (wakeups := typical(results, kind.name, quantum, min(options.voices), "wakeups")) is not None])
        for quantum in options.quanta]
    machine = ", ".join(f"{name} {value}" for name, value in report.machine().items())
    return chart.svg("One piece by each path", machine, parts)


def as_json(results):
    return {"machine": report.machine(), "cells": [asdict(cell) for cell in results.cells],
            "latencies": [{"path": path, "quantum": quantum, "frames": frames}
                          for (path, quantum), frames in results.latencies.items()],
            "timings": [{"path": path, "quantum": quantum} | asdict(each)
                        for (path, quantum), each in results.timings.items()],
            "left_out": results.left_out}


def numbers(text):
    return [int(each) for each in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quanta", type=numbers, default=[32, 64, 128, 256, 512, 1024], help="(default: 32,64,…,1024)")
    parser.add_argument("--voices", type=numbers, default=[500, 1000, 2000], help="(default: 500,1000,2000)")
    parser.add_argument("--rounds", type=int, default=2, help="(default: 2)")
    parser.add_argument("--seconds", type=float, default=3, help="of a window (default: 3)")
    parser.add_argument("--settle", type=float, default=1, help="seconds before a window (default: 1)")
    parser.add_argument("--json", type=Path, default=Path("paths.json"), help="(default: paths.json)")
    parser.add_argument("--svg", type=Path, default=Path("paths.svg"), help="(default: paths.svg)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="(default: build)")
    options = parser.parse_args()
    options.build = options.build.resolve()
    return options


def main():
    options = parse()
    kinds, left_out = paths()
    results = run(kinds, options)
    results.left_out = left_out + results.left_out
    options.json.write_text(json.dumps(as_json(results), indent=1) + "\n")
    options.svg.write_text(picture(results, kinds, options))
    print(", ".join(f"{name} {value}" for name, value in report.machine().items()), end="\n\n")
    print(markdown(results, kinds, options))


if __name__ == "__main__":
    main()
