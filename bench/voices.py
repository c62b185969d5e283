#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What voices cost: ours, lone and batched, with each instruction set of this processor, beside stock scsynth and
supernova on the same machine.

  instructions  of a default synth and block, by callgrind
  daemon        CPU with 500 to 2000 default synths, quantum 1024, less the same without synths
  most          the most default synths without a late cycle, quantum 1024, one core
  churn         the same while 200 voices a second start and 200 end
  voices        processor time of a voice and block, offline: default, FM, 4 and 128 partials
  note          what a note costs beyond its blocks: /s_new, constructors, first block, /n_free; and /s_new alone, with
                the constructors, by callgrind, of ours
  piece         processor time of the examples' pieces and, if the environment's SCS_CORPUS names a folder with
                SynthDefs in the wild, of a minute of those
  memory        real-time memory of a default voice: how many more fit into 16 MiB than into 8; and what is resident
                of the whole process that has filled 8 MiB, which shows what is kept elsewhere

Offline renderings run on one processor; start-up is removed by the difference of two durations and of runs without
voices. What is timed alternates between the contenders, and "3.00×" is the median of the pairs' ratios: so many times
cheaper than scsynth, or so many times as many voices. Progress goes to standard error, a Markdown table to standard
output. The status is 1 when a goal was missed. valgrind and supernova may be missing; what was left out is said."""
import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import capacity, report, voice_scores, windows  # noqa: E402
from bench.chart import Bars, Lines, svg  # noqa: E402
from bench.contenders import contenders, cpu_flags, instruction_sets  # noqa: E402
from bench.medians import most, times_cheaper, typical, without_base  # noqa: E402
from bench.offline_costs import Offline  # noqa: E402
from bench.stands import Silent  # noqa: E402
from bench.table import Cell, Row, Target, as_json, markdown  # noqa: E402

ROWS = ("instructions", "daemon", "most", "churn", "voices", "note", "piece", "memory")
QUANTUM = 1024
FULL = 0.95  # of a core: more is an overload
KINDS = {"default": ("default synth", 1000), "bench_fm": ("FM voice (2 SinOsc, EnvGen)", 1000),
         "bench_partials_4": ("4 FSinOsc", 1000), "bench_partials_128": ("128 FSinOsc", 40)}
TIMES = {"default": {}, "bench_fm": {"batched avx2": 4}, "bench_partials_4": {"batched avx2": 8},
         "bench_partials_128": {"batched avx2": 9}}
POOL_KIB, ASKED = 8192, 60000
NOTE_BLOCKS = 4
REFERENCE = "scsynth"


class Voices:
    """Each measure is a method, named in ROWS."""

    def __init__(self, options, offline):
        self.options, self.offline = options, offline
        self.contenders, self.left_out = contenders(options.build, options.sets)
        self.rows, self.parts, self.details = [], [], {}

    def run(self):
        for name in self.options.only:
            getattr(self, name)()

    def instructions(self):
        voices, seconds = (16, 0.1) if self.options.quick else (96, 0.4)
        found = self._counted("instructions of a voice", lambda contender: self.offline.voice_instructions(
            contender, "default", voices, seconds))
        self._row("instructions of a default synth and block", found, "{:.0f}",
                  [Target("lone avx2", value=1900), Target("batched avx2", value=1000)])

    def daemon(self):
        counts = (500, 1000) if self.options.quick else (500, 1000, 1500, 2000)
        stands = self._stands()
        found = {name: {} for name in stands}
        for synths in (0, *counts):
            for name in found:
                found[name][synths] = []
            for number in range(self.options.windows):
                for name, stand in stands.items():
                    cpu = self._window(stand(self.options.build), synths)
                    found[name][synths].append(cpu)
                    self._say(f"{synths} default synths, window {number + 1} of {self.options.windows}: {name} "
                              + ("overload" if cpu is None else f"{100 * cpu:.1f} % CPU"))
        self.details["daemon"] = found
        lines = {name: [(0, 0)] for name in found}
        for synths in counts:
            less = {name: without_base(each[synths], each[0]) for name, each in found.items()}
            targets = [] if synths not in (1000, 1500) else [Target("batched avx2", times=9),
                                                             Target("batched avx512", times=11)]
            self._row(f"CPU in the daemon, {synths} default synths", less, "{:.1f} %", targets, 100, "overload", None)
            for name, each in less.items():
                value = typical(each)
                lines[name].append((synths, None if value is None else 100 * value))
        self.parts.append(Lines("CPU in the daemon, % of a core, quantum 1024, less the same without synths",
                                "default synths", lines))

    def _window(self, stand, synths):
        """Its CPU, None when that is more than it has."""
        with stand:
            try:
                cpu = windows.measure(stand, QUANTUM, synths, self.options.seconds, self.options.settle).cpu
            except (Silent, *capacity.OVERLOADED):
                if not synths:
                    raise
                return None
        return cpu if cpu < FULL else None

    def most(self):
        self._capacity("most default synths without a late cycle", False,
                       {"batched avx2": 10, "batched avx512": 12})

    def churn(self):
        self._capacity("the same, 200 voices a second starting and ending", True, {"batched avx2": 7})

    def _capacity(self, measure, churn, times):
        resolution = 0.2 if self.options.quick else 0.04
        found, start = {}, 800
        for name, stand in self._stands().items():
            found[name] = [most(lambda voices, kind=stand: self._sustained(kind, voices, churn), start, resolution)
                           or None]
        self.details[measure] = found
        self._row(measure, found, "{:.0f}", [Target(name, times=each) for name, each in times.items()],
                  more_is_better=True, none="none")

    def _sustained(self, kind, voices, churn):
        """Whether one of several tries had no late cycle: on a shared machine, other work makes some late."""
        for number in range(self.options.tries):
            try:
                late = capacity.missed(kind(self.options.build), QUANTUM, voices, self.options.seconds,
                                       self.options.settle, churn)
            except capacity.OVERLOADED as error:
                if voices <= 100:
                    raise
                late = str(error).splitlines()[0]
            self._say(f"{voices} default synths{' coming and going' if churn else ''}: {kind.name}, late: {late}"
                      + (f", try {number + 1} of {self.options.tries}" if late else ""))
            if late == 0:
                return True
        return False

    def voices(self):
        durations = (1.2, 1.7) if self.options.quick else (1.2, 3.2)
        for name, (label, voices) in KINDS.items():
            found = self._timed(label, lambda contender, name=name, voices=voices: self.offline.voice_nsec(
                contender, name, voices, durations))
            self._row(f"{label}, ns a voice and block", found, "{:.1f}",
                      [Target(each, times=times) for each, times in TIMES[name].items()])

    def note(self):
        number = 10000 if self.options.quick else 50000
        count = 400 if self.options.quick else 2000
        counted = self._counted("instructions of a note", lambda contender: self.offline.note_instructions(
            contender, count, NOTE_BLOCKS)[0])
        self._row("a note beyond its blocks, default synth, instructions", counted, "{:.0f}")
        ours = [contender for contender in self.contenders if contender.ours]
        counted = self._counted("instructions of /s_new", lambda contender: self.offline.new_synth_instructions(
            contender, count), ours)
        self._row("/s_new of the default synth on the data loop, instructions", counted, "{:.0f}",
                  [Target("batched avx2", value=4000)])
        timed = self._timed("a note", lambda contender: self.offline.note_nsec(contender, number, NOTE_BLOCKS)[0])
        self._row("a note beyond its blocks, default synth, ns", timed, "{:.0f}")

    def piece(self):
        seconds = 15 if self.options.quick else 60
        pieces = {"examples/piece.py": voice_scores.example(seconds),
                  "bench/offline.py's score": voice_scores.swarm(seconds, self.offline.folder)}
        if folder := os.environ.get("SCS_CORPUS"):
            label, paths = self._corpus(Path(folder))
            pieces[label] = voice_scores.corpus(paths, seconds)
        else:
            self.left_out.append("piece: SynthDefs in the wild, as SCS_CORPUS names no folder")
        for label, events in pieces.items():
            def cost(contender, events=events):
                empty = self.offline.run(contender, self.offline.write([], seconds), False).cpu
                return self.offline.run(contender, self.offline.write(events, seconds)).cpu - empty
            self._row(f"{label}, {seconds} s: processor time", self._timed(label, cost), "{:.2f} s",
                      [Target("batched avx2", times=3)])

    def _corpus(self, folder):
        paths = voice_scores.corpus_synthdefs(folder)
        self._say(f"which of {len(paths)} SynthDefs scsynth plays")
        played = self.offline.playable(self.contenders[0], paths)
        if len(played) < len(paths):
            missing = ", ".join(path.stem for path in paths if path not in played)
            self.left_out.append(f"piece: SynthDefs that scsynth alone crashes with or makes infinite: {missing}")
        return f"{len(played)} SynthDefs in the wild", played

    def memory(self):
        fit, resident = {}, {}
        for contender in self.contenders:
            try:
                fitting, mib = self.offline.voices_that_fit(contender, POOL_KIB, ASKED)
                more, _ = self.offline.voices_that_fit(contender, 2 * POOL_KIB, ASKED)
            except RuntimeError as error:
                self._leave_out(f"memory: {contender.name}, its memory full,", error)
                continue
            self._say(f"{contender.name}: {fitting} voices in {POOL_KIB} KiB, {mib:.0f} MiB resident; "
                      f"{more} in twice as much")
            if more == ASKED:
                self.left_out.append(f"memory: {contender.name}, which has room for all {ASKED} that were asked for")
                continue
            fit[contender.name], resident[contender.name] = [POOL_KIB * 1024 / (more - fitting)], [mib]
            self.details.setdefault("voices in 8 and 16 MiB", {})[contender.name] = fitting, more
        self._row("memory of a default voice, bytes", fit, "{:.0f}", [Target("batched avx2", value=512)])
        self._row("the whole process with 8 MiB full of them, MiB", resident, "{:.0f}", drawn=False)

    def _counted(self, label, cost, of=None):
        """{name: [instructions]} of those that callgrind can run; its valgrind may not know AVX-512."""
        if not shutil.which("valgrind"):
            self.left_out.append(f"{label}: valgrind is not installed")
            return {}
        found = {}
        for contender in of or self.contenders:
            if contender.simd == "avx512":
                continue
            self._say(f"{label}: {contender.name}, by callgrind")
            try:
                found[contender.name] = [cost(contender)]
            except RuntimeError as error:
                self._leave_out(f"{label}: {contender.name}", error)
        if any(contender.simd == "avx512" for contender in self.contenders):
            self.left_out.append(f"{label}: AVX-512, which valgrind can't run")
        return found

    def _timed(self, label, cost):
        """{name: [value of each round]}, interleaved."""
        found, failed = {contender.name: [] for contender in self.contenders}, set()
        for number in range(self.options.rounds):
            for contender in self.contenders:
                if contender.name in failed:
                    continue
                try:
                    self.offline.warm_up(contender)
                    value = cost(contender)
                except RuntimeError as error:
                    if contender.name != "supernova":
                        raise
                    self._leave_out(f"{label}: {contender.name}", error)
                    failed.add(contender.name)
                    continue
                found[contender.name].append(value)
                self._say(f"{label}, round {number + 1} of {self.options.rounds}: {contender.name} {value:.4g}")
        self.details[label] = found
        return {name: values for name, values in found.items() if name not in failed}

    def _row(self, measure, found, form, targets=(), scale=1, none="", drawn=True, more_is_better=False):
        """A row of medians, each with its ratio to scsynth's, and bars of the same."""
        cells = {}
        for name, values in found.items():
            value, times = typical(values), None
            if name != REFERENCE and REFERENCE in found:
                pair = (values, found[REFERENCE]) if more_is_better else (found[REFERENCE], values)
                times = times_cheaper(*pair)
            cells[name] = Cell(None, none) if value is None else Cell(value * scale, form.format(value * scale), times)
        if not cells:
            return
        self.rows.append(Row(measure, cells, list(targets)))
        if drawn:
            self.parts.append(Bars(measure, [
                (name, cell.value or 0, cell.text + (f" ({cell.times:.2f}×)" if cell.times is not None else ""))
                for name, cell in cells.items()]))

    def _stands(self):
        return {contender.name: contender.stand() for contender in self.contenders}

    def _leave_out(self, what, error):
        self.left_out.append(f"{what}: {str(error).splitlines()[0]}")

    @staticmethod
    def _say(text):
        print(text, file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = instruction_sets(cpu_flags())
    parser.add_argument("--only", nargs="+", choices=ROWS, metavar="ROW", default=ROWS,
                        help=f"some of {', '.join(ROWS)} (default: all)")
    parser.add_argument("--sets", nargs="+", choices=here, metavar="SET", default=here,
                        help=f"instruction sets of ours (default: what this processor has: {', '.join(here)})")
    parser.add_argument("--quick", action="store_true", help="short and few runs: to see that all works")
    parser.add_argument("--rounds", type=int, help="of what is timed offline (default: 5; quick: 1)")
    parser.add_argument("--windows", type=int, help="of each in the daemon (default: 5; quick: 1)")
    parser.add_argument("--seconds", type=float, help="a window's length (default: 3; quick: 1)")
    parser.add_argument("--settle", type=float, default=1.5, metavar="SECONDS",
                        help="before each window; the default synth sweeps for 1 s (default: 1.5)")
    parser.add_argument("--tries", type=int, help="at each number of voices, one of which must be without a late cycle "
                                                  "(default: 3; quick: 2)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="(default: build)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.json", help="all figures")
    parser.add_argument("--svg", type=Path, metavar="FILE.svg", help="the rows, drawn")
    options = parser.parse_args()
    for name, usual, quick in (("rounds", 5, 1), ("windows", 5, 1), ("seconds", 3.0, 1.0), ("tries", 3, 2)):
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else usual)
    options.build = options.build.resolve()
    if not (options.build / "src/cli/pw-scsynth").exists():
        parser.error(f"{options.build} holds no build: tools/build build")
    if not shutil.which("scsynth"):
        parser.error("scsynth is not installed")
    live = {"daemon", "most", "churn"}.intersection(options.only)
    missing = [name for name in ("pw-jack", "pipewire", "wireplumber", "dbus-daemon") if not shutil.which(name)]
    if live and missing:
        parser.error(f"{', '.join(sorted(live))} need {', '.join(missing)}; --only names other rows")
    return options


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        voices = Voices(options, Offline(Path(folder)))
        voices.run()
    setup = report.machine()
    machine = ", ".join(f"{name} {value}" for name, value in setup.items())
    names = [contender.name for contender in voices.contenders]
    print(f"{machine}\n\n{markdown(names, voices.rows)}")
    for each in voices.left_out:
        print(f"Left out: {each}.")
    if options.output:
        options.output.write_text(json.dumps({"machine": setup, "rows": as_json(voices.rows),
                                              "left out": voices.left_out, "details": voices.details}, indent=1) + "\n")
    if options.svg:
        options.svg.write_text(svg("Voices: ours beside scsynth and supernova", machine, voices.parts))
    return 0 if all(met for row in voices.rows for _, met in row.verdicts()) else 1


if __name__ == "__main__":
    sys.exit(main())
