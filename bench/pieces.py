#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What real pieces cost: pieces of music made by chance from a corpus's SynthDefs, each named by its seed, and that of
examples/piece.py, rendered offline beside scsynth.

    SCS_CORPUS=FOLDER bench/pieces.py                                 ten pieces, and the examples'
    SCS_CORPUS=FOLDER bench/pieces.py --seeds 7 8 --sets              two of them, no other forms than the default
    SCS_CORPUS=FOLDER bench/pieces.py --instructions                  counted by callgrind, too

A piece has 2 to 8 instruments and a chain of 0 to 3 effects, in the groups and on the buses that Sonic Pi makes. What is
printed is the processor time of all but the first second, in which the SynthDefs are loaded; medians, and "3.00×" is the
median of the ratios of interleaved pairs: so many times cheaper than scsynth. "Ours" is the server as it is without
settings; the forms beside it are its voices lone and batched, with each instruction set. Before it is measured, each piece
is heard: silence, or another level than scsynth's, fails. SynthDefs that scsynth or ours refuses are left out of the
pieces, and named. Progress goes to standard error, a Markdown table to standard output. The status is 1 when a goal was
missed or a piece failed."""
import argparse
import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import random_pieces, report, voice_scores  # noqa: E402
from bench.chart import Bars, svg  # noqa: E402
from bench.contenders import Contender, contenders, cpu_flags, instruction_sets  # noqa: E402
from bench.corpus import START, cost  # noqa: E402
from bench.medians import times_cheaper, typical  # noqa: E402
from bench.offline_costs import Offline  # noqa: E402
from bench.table import Cell, Row, Target, as_json, markdown  # noqa: E402
from tests.lib.audio import read_wav, rms  # noqa: E402

SCSYNTH, OURS = "scsynth", "ours"
LEVEL, COUNTED, BEST, LEVELS = "level", "instructions", "best form", "rms"
AUDIBLE = 1e-4  # rms
ALIKE = 2.0     # times; noise and random notes differ from run to run
GOAL, GOAL_IN_ALL, GOAL_OF_EXAMPLE = 2, 3.5, 4
NEAR_BEST = 1 / 0.98
EXAMPLE = "examples/piece.py"


@dataclass
class Played:
    """A piece and what was found of it."""
    name: str
    events: list
    goal: float
    levels: dict      # {contender's name: rms}
    costs: dict       # {contender's name: [s of each round]}
    counted: dict     # {contender's name: instructions}

    def alike(self):
        """Whether it sounds, and as loud with ours as with scsynth."""
        low, high = sorted(self.levels.values())
        return low >= AUDIBLE and high <= ALIKE * low

    def best(self):
        """The name of the form that costs least."""
        return min((name for name in self.costs if name != SCSYNTH), key=lambda name: typical(self.costs[name]))


def heard(offline, contender, events, seconds):
    """The rms of what it renders."""
    offline.run(contender, offline.write(events, seconds), False)
    return rms(read_wav(offline.folder / "out.wav")[0])


def counted(offline, contender, events, seconds):
    """Instructions of what cost() times."""
    long, short = (offline.instructions(contender, [event for event in events if event[0] < length], length)
                   for length in (START + seconds, START))
    return long - short


def row(played):
    """Its row of the table."""
    cells = {SCSYNTH: _seconds(played, SCSYNTH)}
    cells[OURS] = _seconds(played, OURS)
    targets = [Target(OURS, times=played.goal)]
    if played.counted:
        theirs, ours = played.counted[SCSYNTH], played.counted[OURS]
        cells[COUNTED] = Cell(ours, f"{ours / 1e6:.0f} of {theirs / 1e6:.0f} million", theirs / ours)
    if len(played.costs) > 2:
        best = played.best()
        more = 1 / times_cheaper(played.costs[OURS], played.costs[best])
        cells[BEST] = Cell(1 / more, f"{best}: {typical(played.costs[best]):.2f} s, {more:.2f} of ours")
        targets.append(Target(BEST, value=NEAR_BEST))
    if played.levels:
        cells[LEVELS] = Cell(None, "; ".join(f"{value:.3f}" for value in played.levels.values()))
    return Row(played.name, cells, targets)


def in_all(pieces):
    """The random ones as if they were one piece."""
    costs = {name: [sum(each) for each in zip(*(played.costs[name] for played in pieces))] for name in pieces[0].costs}
    sums = {name: sum(played.counted[name] for played in pieces) for name in pieces[0].counted}
    return Played(f"these {len(pieces)}", [], GOAL_IN_ALL, {}, costs, sums)


def picture(rows, heading, footer):
    """The ratios as bars."""
    return svg(heading, footer, [
        Bars(title, [(each.measure[:24], each.cells[column].times, f"{each.cells[column].times:.2f}")
                     for each in rows if column in each.cells and each.cells[column].times])
        for column, title in ((OURS, "scsynth's processor time over ours"), (COUNTED, "scsynth's instructions over ours"))
        if any(column in each.cells for each in rows)])


class Bench:
    def __init__(self, options, offline):
        self.options, self.offline = options, offline
        self.scsynth = Contender(SCSYNTH, "scsynth")
        self.ours = Contender(OURS, str(options.build / "src/cli/pw-scsynth"), settings={"simd": "auto"})
        here, self.left_out = contenders(options.build, options.sets)
        self.forms = [contender for contender in here if contender.ours]
        self.played = []

    def run(self, corpus):
        for seed in self.options.seeds:
            piece = random_pieces.piece(seed, corpus)
            refused = self._refused(piece.synthdefs())
            piece = piece.without(refused)
            if piece.parts:
                self._play(str(piece), piece.events(START + self.options.seconds, self.offline.folder), GOAL)
        self._play(EXAMPLE, voice_scores.example(START + self.options.seconds), GOAL_OF_EXAMPLE)

    def _refused(self, paths):
        found = []
        for contender in self.scsynth, self.ours:
            played = self.offline.playable(contender, paths)
            if refused := [path for path in paths if path not in played]:
                self.left_out.append(f"{' '.join(path.stem for path in refused)}: {contender.name} crashes with it, or makes "
                                     "what isn't finite")
            found += refused
        return found

    def _play(self, name, events, goal):
        seconds = START + self.options.seconds
        levels = {contender.name: heard(self.offline, contender, events, seconds)
                  for contender in (self.scsynth, self.ours)}
        played = Played(name, events, goal, levels, {}, {})
        if not played.alike():
            self.left_out.append(f"{name}: rms {levels}")
            self._say(f"{name}: not alike: {levels}")
            return
        for number in range(self.options.rounds):
            for contender in (self.scsynth, self.ours, *self.forms):
                value = cost(self.offline, contender, events, self.options.seconds)
                played.costs.setdefault(contender.name, []).append(value)
                self._say(f"{name}, round {number + 1} of {self.options.rounds}: {contender.name} {value:.3f} s")
        if self.options.instructions:
            played.counted = {contender.name: counted(self.offline, contender, events, self.options.counted)
                              for contender in (self.scsynth, self.ours)}
            self._say(f"{name}: {played.counted}")
        self.played.append(played)

    @staticmethod
    def _say(text):
        print(text, file=sys.stderr, flush=True)


def _seconds(played, name):
    value = typical(played.costs[name])
    return Cell(value, f"{value:.2f} s", None if name == SCSYNTH else times_cheaper(played.costs[SCSYNTH],
                                                                                   played.costs[name]))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = instruction_sets(cpu_flags())
    parser.add_argument("--seeds", type=int, nargs="+", default=range(1, 11), metavar="N", help="(default: 1 to 10)")
    parser.add_argument("--seconds", type=float, default=30, metavar="S", help="of each piece (default: 30)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="renderings with each (default: 3)")
    parser.add_argument("--sets", nargs="*", choices=here, metavar="SET", default=here[-2:],
                        help=f"instruction sets of the forms beside the default (default: {' '.join(here[-2:])})")
    parser.add_argument("--instructions", action="store_true", help="count them, too: half a minute a piece")
    parser.add_argument("--counted", type=float, default=4, metavar="S", help="of each piece (default: 4)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="FOLDER", help="meson's (default: build)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.json", help="all figures")
    parser.add_argument("--svg", type=Path, metavar="FILE.svg", help="the ratios, drawn")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if not (options.build / "src/cli/pw-scsynth").exists():
        parser.error(f"{options.build} holds no build: tools/build build")
    missing = [name for name in ("scsynth", *(["valgrind"] if options.instructions else [])) if not shutil.which(name)]
    if missing:
        parser.error(f"not installed: {' '.join(missing)}")
    if not os.environ.get("SCS_CORPUS"):
        parser.error("SCS_CORPUS must name a folder with the folders sonic-pi, sonic-pi-gated, superdirt and overtone")
    return options


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, Offline(Path(folder)))
        bench.run(os.environ["SCS_CORPUS"])
    pieces = [played for played in bench.played if played.name != EXAMPLE]
    rows = [row(played) for played in [*pieces, *([in_all(pieces)] if pieces else []), *bench.played[len(pieces):]]]
    machine = ", ".join(f"{name} {value}" for name, value in report.machine().items())
    columns = [name for name in (SCSYNTH, OURS, COUNTED, BEST, LEVELS) if any(name in each.cells for each in rows)]
    print(f"{machine}\n\n{markdown(columns, rows)}")
    for each in bench.left_out:
        print(f"Left out: {each}.")
    if options.output:
        options.output.write_text(json.dumps({
            "machine": report.machine(), "rows": as_json(rows), "left out": bench.left_out,
            "costs": {played.name: played.costs for played in bench.played}}, indent=1) + "\n")
    if options.svg:
        options.svg.write_text(picture(rows, "Pieces: scsynth's cost over ours", machine))
    return 0 if rows and len(bench.played) == len(options.seeds) + 1 and all(
        met for each in rows for _, met in each.verdicts()) else 1


if __name__ == "__main__":
    sys.exit(main())
