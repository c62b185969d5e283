#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare our node with a source inside the daemon and with stock scsynth under pw-jack.

Each runs in a private PipeWire session with a null sink and a forced quantum; the user's own
session is not touched. Windows are interleaved and medians taken, so that a busy machine falls on
all alike; after each window it is checked that the sink heard it. Progress goes to standard
error, a Markdown table to standard output."""
import argparse
import json
import shutil
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import instructions, latency, report, windows  # noqa: E402
from bench.report import Row  # noqa: E402
from bench.stands import ManyResampled, Ours, Resampled, Stock, TestSource  # noqa: E402

MEASURES = ("idle", "voices", "resampled", "latency", "instructions")
LATENCY_QUANTA = (64, 256, 1024, 100)
BLOCK = 64


class Comparison:
    def __init__(self, options):
        self.options = options
        self.rows, self.bars, self.details = [], [], {}

    def run(self):
        for measure in self.options.only:
            getattr(self, measure)()

    def idle(self):
        """Context switches and CPU without synths, quantum 64. So little work is easily disturbed:
        twice the windows."""
        found = self._windows("idle", (TestSource, Ours, Stock), 64, 0, 2 * self.options.windows)
        switches = windows.medians(found, "switches")
        more = switches["ours"] - switches["source"]
        most = 0.02 * switches["source"] + 5
        self.rows.append(Row(
            "voluntary context switches/s, quantum 64, no synths",
            *(f"{switches[name]:.0f}" for name in ("source", "ours", "scsynth")),
            f"ours − source = {more:.1f}", f"≤ {most:.0f}", more <= most))
        self._bar("switches, no synths", windows.ratio(found, "switches", "ours", "scsynth"))
        times = windows.ratio(found, "cpu", "ours", "source")
        self._cpu_row("CPU, quantum 64, no synths", found, f"ours / source = {times:.2f}",
                      "≤ 1.20", times <= 1.2)

    def voices(self):
        """CPU with many synths."""
        for synths, quantum, most in ((500, 1024, 1.08), (100, 64, 1.0)):
            found = self._windows(f"{synths} synths", (Ours, Stock), quantum, synths,
                                  self.options.windows)
            times = windows.ratio(found, "cpu", "ours", "scsynth")
            self._cpu_row(f"CPU, quantum {quantum}, {synths} default synths", found,
                          f"ours / scsynth = {times:.3f}", f"{'≤' if most > 1 else '<'} {most:g}",
                          times <= most if most > 1 else times < most)

    def resampled(self):
        """CPU of an engine at 44100 Hz in a graph of 48000."""
        found = self._windows("resampled", (Ours, Resampled, ManyResampled), 1024, 0, self.options.windows)
        cpu = windows.medians(found, "cpu")
        for kind in (Resampled, ManyResampled):
            self.rows.append(Row(
                f"CPU, engine at 44100 Hz in a graph of 48000, {kind.name}", "",
                f"{100 * cpu[kind.name]:.2f} %", "",
                f"{kind.name} − ours at 48000 = {100 * (cpu[kind.name] - cpu['ours']):.2f} %", ""))

    def latency(self):
        """Frames from capture to playback."""
        for quantum in LATENCY_QUANTA:
            found = {}
            for kind in (Ours, Stock) if quantum % BLOCK == 0 else (Ours,):
                with kind(self.options.build) as stand:
                    found[kind.name] = latency.measure(stand, quantum)
                say(f"latency: {kind.name} {found[kind.name]}")
            self.details[f"latency {quantum}"] = {name: asdict(each) for name, each in found.items()}
            ours = found["ours"]
            self.rows.append(Row(
                f"input to output, frames, quantum {ours.quantum}", "",
                *(" ".join(map(str, found[name].frames)) if name in found else ""
                  for name in ("ours", "scsynth")),
                f"reported: {ours.reported}", "0" if quantum % BLOCK == 0 else "as reported",
                ours.frames == [0 if quantum % BLOCK == 0 else ours.reported]))

    def instructions(self):
        """Instructions for a voice and block."""
        if not shutil.which("valgrind"):
            say("instructions: left out, valgrind is not installed")
            return
        found = instructions.per_voice(self.options.build / "src/cli/pw-scsynth", say)
        self.details["instructions"] = found
        times = found["ours"] / found["scsynth"]
        self.rows.append(Row(
            "instructions for a default voice and block of 64", "",
            *(f"{found[name]:.0f}" for name in ("ours", "scsynth")),
            f"ours / scsynth = {times:.3f}", ""))
        self._bar("instructions for a voice", times)

    def _windows(self, name, kinds, quantum, synths, count):
        with ExitStack() as stack:
            stands = [stack.enter_context(kind(self.options.build)) for kind in kinds]
            found = windows.interleaved(stands, quantum, synths, count, self.options, say)
        self.details[name] = {stand: [asdict(window) for window in each]
                              for stand, each in found.items()}
        return found

    def _cpu_row(self, measure, found, result, target, met):
        cpu = windows.medians(found, "cpu")
        self.rows.append(Row(
            measure, *(f"{100 * cpu[name]:.2f} %" if name in cpu else ""
                       for name in ("source", "ours", "scsynth")), result, target, met))
        self._bar(measure, windows.ratio(found, "cpu", "ours", "scsynth"))

    def _bar(self, label, value):
        self.bars.append((label, value, f"{value:.2f}"))


def say(text):
    print(text, file=sys.stderr, flush=True)


def build_type(build):
    options = json.loads((build / "meson-info/intro-buildoptions.json").read_text())
    return next(option["value"] for option in options if option["name"] == "buildtype")


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=MEASURES, metavar="MEASURE",
                        help=f"one of {', '.join(MEASURES)}; may be given again (default: all)")
    parser.add_argument("--windows", type=int, default=5,
                        help="of each, interleaved; twice as many without synths (default: 5)")
    parser.add_argument("--seconds", type=float, default=3.0, help="a window's length (default: 3)")
    parser.add_argument("--settle", type=float, default=1.5, metavar="SECONDS",
                        help="before each window; the default synth sweeps for 1 s (default: 1.5)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="(default: build)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.json", help="all figures")
    parser.add_argument("--svg", type=Path, metavar="FILE.svg", help="ours against scsynth, drawn")
    options = parser.parse_args()
    options.only = options.only or MEASURES
    options.build = options.build.resolve()
    if not (options.build / "spa/plugins/scsynth/libspa-scsynth.so").exists():
        parser.error(f"{options.build} holds no build: tools/build build")
    for program in ("scsynth", "pw-jack", "pipewire", "wireplumber", "dbus-daemon"):
        if not shutil.which(program):
            parser.error(f"{program} is not installed")
    return options


def main():
    options = parse()
    setup = report.machine() | {"build": build_type(options.build)}
    comparison = Comparison(options)
    comparison.run()
    if options.output:
        options.output.write_text(json.dumps(
            report.as_json(setup, comparison.rows, comparison.details), indent=1) + "\n")
    if options.svg:
        options.svg.write_text(report.svg("ours / scsynth", comparison.bars))
    print(report.markdown(setup, comparison.rows))
    return 0 if all(row.met is not False for row in comparison.rows) else 1


sys.exit(main())
