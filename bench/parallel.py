#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What helper threads save: offline renderings of 2000 and of 256 voices of sclang's default synth, of 16 tracks with a
reverb each, of 128 larger ones, of bells of plugins' units and their reverb, and of the piece of bench/offline.py, with
1 thread and with more. The renderings alternate, so that a busy machine falls on all alike, and must be the same, byte
for byte. Progress goes to standard error, a Markdown table of medians to standard output."""
import argparse
import os
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import report, voice_scores  # noqa: E402
from bench.contenders import NODES, POOL_KIB  # noqa: E402
from bench.offline import render  # noqa: E402
from tests.lib.scsynth import score_bytes  # noqa: E402

SECONDS = {"2000 default voices": 10, "256 default voices": 60, "16 tracks, their reverbs after them": 60,
           "16 tracks, each with its reverb": 60, "128 tracks of 16 voices, each with its reverb": 10,
           "256 bells of plugins' units, and a reverb": 60, "the piece of bench/offline.py": 60}


def steady(voices):
    """That many voices from the beginning on. Unlike sclang's own, this default synth draws no random numbers, so that
    renderings can be compared."""
    definition = (ROOT / "tests/oracle/synthdefs/default.scsyndef").read_bytes()
    messages = [("/s_new", "default", 1000 + i, 0, 0, "freq", 100.0 + 1000.0 * i / voices, "amp", voice_scores.AMP)
                for i in range(voices)]
    return [(0, ("/d_recv", definition)), *((0, *messages[i:i + 200]) for i in range(0, voices, 200))]


def tracks(count, each, together=False):
    """Tracks of that many voices, each played to a reverb through buses of its own. `together`: all reverbs are
    after all voices."""
    names = (ROOT / "tests/oracle/synthdefs/default.scsyndef", ROOT / "examples/synthdefs/piece_reverb.scsyndef")
    voices = [("/s_new", "default", 1000 + i, 1, 100 + i // each, "freq", 100.0 + 960.0 * i / (count * each), "amp",
               voice_scores.AMP, "out", 16 + i // each * 2) for i in range(count * each)]
    reverbs = [("/s_new", "piece_reverb", 10000 + i, 1, 99 if together else 100 + i, "in", 16 + i * 2)
               for i in range(count)]
    groups = [("/g_new", number, 1, 0) for number in (*range(100, 100 + count), 99)]
    return [(0, *(("/d_recv", name.read_bytes()) for name in names)), (0, *groups),
            *((0, *messages[i:i + 200]) for messages in (voices, reverbs) for i in range(0, len(messages), 200))]


def bells(count):
    """That many synths of a dozen Springs, which are a plugin's, and a reverb after them."""
    names = (ROOT / "bench/synthdefs/bench_bell.scsyndef", ROOT / "examples/synthdefs/piece_reverb.scsyndef")
    voices = [("/s_new", "bench_bell", 1000 + i, 1, 0, "freq", 100.0 + 400.0 * i / count, "amp", 0.1 / count, "out", 16)
              for i in range(count)]
    return [(0, *(("/d_recv", name.read_bytes()) for name in names)),
            (0, *voices, ("/s_new", "piece_reverb", 999, 1, 0, "in", 16))]


def scores(folder):
    """{name: bytes of a score}"""
    events = {"2000 default voices": steady(2000), "256 default voices": steady(256),
              "16 tracks, their reverbs after them": tracks(16, 4, True),
              "16 tracks, each with its reverb": tracks(16, 4),
              "128 tracks of 16 voices, each with its reverb": tracks(128, 16),
              "256 bells of plugins' units, and a reverb": bells(256),
              "the piece of bench/offline.py": voice_scores.swarm(SECONDS["the piece of bench/offline.py"], folder)}
    return {name: score_bytes(found, SECONDS[name]) for name, found in events.items()}


def measure(options, folder):
    """{(name, threads): [Rendering, …]}, whose data are all the same for a name, and {name: [ns between cores, …]}."""
    found, distances = {}, {}
    for name, data in scores(folder).items():
        score, first = folder / "score.osc", None
        score.write_bytes(data)
        for run in range(options.runs):
            distances.setdefault(name, []).append(report.core_distance(options.build))
            for threads in options.threads:
                more = ("-m", str(POOL_KIB), "-n", str(NODES), "-w", "512", "--set", f"threads={threads}",
                        *(item for setting in options.set for item in ("--set", setting)))
                rendered = render(options.build / "src/cli/pw-scsynth", score, folder / "rendered.wav", more)
                first = first or rendered.data
                if rendered.data != first:
                    raise RuntimeError(f"{name}: {threads} threads rendered something else")
                rendered.data = b""
                found.setdefault((name, threads), []).append(rendered)
                print(f"{name}, run {run + 1} of {options.runs}, {threads} threads: {rendered.wall:.2f} s, "
                      f"{rendered.user:.2f} s of processor time", file=sys.stderr, flush=True)
    return found, distances


def table(found, distances):
    lines = ["| rendering | threads | time | processor time | times as fast | ns between cores |",
             "|---|---|---|---|---|---|"]
    for (name, threads), runs in found.items():
        alone = next(runs for (other, _), runs in found.items() if other == name)
        wall, user = (median(getattr(run, what) for run in runs) for what in ("wall", "user"))
        faster = median(a.wall / b.wall for a, b in zip(alone, runs))
        lines.append(f"| {name}, {SECONDS[name]} s | {threads} | {wall:.2f} s | {user:.2f} s | {faster:.2f} "
                     f"| {', '.join(str(distance) for distance in distances[name])} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="of each (default: 5)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="(default: 1 2)")
    parser.add_argument("--set", action="append", default=[], help="a setting of pw-scsynth, key=value")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="(default: build)")
    options = parser.parse_args()
    options.build = options.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        found, distances = measure(options, Path(folder))
    print(report.machine())
    print(f"load at the end: {os.getloadavg()[0]:.1f}\n")
    print(table(found, distances))
    return 0


if __name__ == "__main__":
    sys.exit(main())
