#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much faster more threads than this machine has would be: what each turn of a piece takes is measured (one thread,
bench/item-costs.cpp), who depends on whom is read from the buses, and what docs/parallel.md says of strands, gates and
pipelines of blocks is simulated. The critical path of a piece is the chain of turns that depend on each other and take
longest: no number of threads makes a block shorter than that.

  one block       helpers compute strands ahead, the walk takes them up: cycles of 64 frames
  several blocks  a pipeline of as many stages as threads: cycles of --blocks blocks

Left out: what caches, memory and clocks of more cores do; the wake-up at the begin of a cycle; random numbers and done
actions; that a strand pays only if hand-over takes less than it; most_planned. What one core has written, another one sees
after --handover ns.

Progress goes to standard error, a Markdown table to standard output, the picture to --svg."""
import argparse
import heapq
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import report  # noqa: E402
from bench.chart import Lines, svg  # noqa: E402
from bench.parallel import steady, tracks  # noqa: E402
from bench.pargroups import CASES, SERIAL  # noqa: E402

THREADS = (1, 2, 4, 8, 16, 32, 64)
SHOWN = (2, 4, 8, 16, 64)
OUTPUTS = 2               # buses that are never a strand's alone
SETTLED, KEPT = 12, 4     # blocks until the walk's share of the items has settled; of which the last ones count
POLL = 200                # ns until a simulated thread without work looks again
FILES = {"default": "tests/oracle/synthdefs/default", "piece_reverb": "examples/synthdefs/piece_reverb",
         "bench_light": "bench/synthdefs/bench_light", "bench_heavy": "bench/synthdefs/bench_heavy"}
# Channels that a SynthDef reads and writes, from the bus on that the control says; 0 unless it is given.
READS = {"piece_reverb": ("in", 2)}
WRITES = {"default": ("out", 2), "piece_reverb": ("out", 2), "bench_light": ("out", 1), "bench_heavy": ("out", 1)}
PIECES = {
    "256 light, one bus": lambda: CASES["256 light, one bus"].events(SERIAL, 1, None),
    "2 groups of 4 heavy": lambda: CASES["2 groups of 4 heavy"].events(SERIAL, 1, None),
    "16 heavy, one bus": lambda: CASES["16 heavy, one bus"].events(SERIAL, 1, None),
    "2000 default voices": lambda: steady(2000),
    "80 tracks, a reverb each": lambda: tracks(80, 16),
    "16 tracks, reverbs after": lambda: tracks(16, 4, True),
}


@dataclass
class Turn:
    name: str
    voices: int
    nsec: float
    reads: set = field(default_factory=set)
    writes: set = field(default_factory=set)


@dataclass
class Strand:
    turns: list
    nsec: float
    written: int         # rows that are added to buses of others, in the turn
    gate: int = 0        # the walk has come to the strand of this number; 0: none
    needs: tuple = ()    # the strands whose buses it reads


# ---- what is played

def graph(events):
    """(lines for item-costs, the synths in their order: (name, controls)) of a score in which all begins at 0."""
    groups, lines = {0: []}, [f"def {ROOT / file}.scsyndef" for file in FILES.values()]
    order = []
    for _, *messages in events:
        for address, *words in messages:
            if address == "/g_new":
                groups[words[0]] = []
                order.append(words[0])
                lines.append(f"group {words[0]}")
            elif address == "/s_new":
                name, number, _, group, *controls = words
                groups[group].append((name, dict(zip(controls[::2], controls[1::2]))))
                lines.append(" ".join(map(str, ("synth", name, number, group, *controls))))
    return lines, [synth for group in (*order, 0) for synth in groups[group]]


def buses(table, name, controls):
    if name not in table:
        return set()
    control, channels = table[name]
    first = int(controls.get(control, 0))
    return set(range(first, first + channels))


def measured(program, lines, synths, cycles):
    """(ns of a block's walk, its turns)."""
    done = subprocess.run([program, str(cycles)], input="\n".join(lines), capture_output=True, text=True, timeout=120,
                          check=False)
    if done.returncode:
        raise RuntimeError(f"item-costs ended with {done.returncode}: {done.stderr}")
    walk, *rows = done.stdout.splitlines()
    turns, place = [], 0
    for row in rows:
        nsec, voices, name = row.split(maxsplit=2)
        turn = Turn(name, int(voices), float(nsec))
        for own, controls in synths[place:place + turn.voices]:
            if own != name:
                raise RuntimeError(f"a turn of {name} has a {own}: what is interleaved can't be simulated")
            turn.reads |= buses(READS, name, controls)
            turn.writes |= buses(WRITES, name, controls)
        place += turn.voices
        turns.append(turn)
    if place != len(synths):
        raise RuntimeError(f"{place} of {len(synths)} synths have turns")
    return float(walk), turns


# ---- strands and gates, as docs/parallel.md has them

def spans(turns):
    """(first, last) turn of each bus that connects turns, unless more than half of the work hangs on it."""
    work = sum(turn.nsec for turn in turns)
    for bus in {bus for turn in turns for bus in turn.reads if bus >= OUTPUTS}:
        reaching = [i for i, turn in enumerate(turns) if bus in turn.reads | turn.writes]
        if any(bus in turns[i].writes for i in reaching) and len(reaching) > 1:
            if sum(turn.nsec for turn in turns[reaching[0]:reaching[-1] + 1]) <= work / 2:
                yield reaching[0], reaching[-1]


def strands(turns):
    joined = [0] * (len(turns) + 1)
    for first, last in spans(turns):
        joined[first] += 1
        joined[last] -= 1
    parts, depth = [[]], 0
    for i in range(len(turns)):
        parts[-1].append(i)
        depth += joined[i]
        if not depth:
            parts.append([])
    parts.pop()
    found, writers = [], {}
    for number, part in enumerate(parts):
        own = [turns[i] for i in part]
        reads = set().union(*(turn.reads for turn in own))
        needs = tuple(sorted({writers[bus] for bus in reads if bus in writers}))
        alone = reads - set(writers)
        written = sum(turn.voices * len(turn.writes - alone) for turn in own)
        found.append(Strand(part, sum(turn.nsec for turn in own), written, needs[-1] + 1 if needs else 0, needs))
        for turn in own:
            writers.update(dict.fromkeys(turn.writes, number))
    return found


def critical_path(all_strands, turns):
    """(ns, names of the turns) of the longest chain of what depends on each other."""
    best = []
    for strand in all_strands:
        before = max((best[number] for number in strand.needs), default=(0, []), key=lambda chain: chain[0])
        best.append((before[0] + strand.nsec, before[1] + strand.turns))
    nsec, chain = max(best, key=lambda each: each[0])
    return nsec, [turns[i] for i in chain]


# ---- one block

class Block:
    """A block that some threads compute: each is a generator that yields the moment at which it acts next."""

    def __init__(self, all_strands, threads, share, visit, costs):
        self.strands, self.visit, self.costs = all_strands, visit, costs
        self.split = int(share * len(all_strands))
        self.helpers = threads - 1
        self.begun = {}  # strand: who
        self.done = {}   # strand: when
        self.reached, self.end = 0, 0
        self.by_helpers = self.by_walk = 0

    def run(self):
        actors = [self.walk(), *(self.help(who) for who in range(self.helpers))]
        queue = [(0, i) for i in range(len(actors))]
        while queue:
            moment, who = heapq.heappop(queue)
            try:
                following = next(actors[who]) if moment == 0 else actors[who].send(moment)
                heapq.heappush(queue, (max(following, 1e-9), who))
            except StopIteration:
                pass
        return self.end

    def free(self, number, gated):
        strand = self.strands[number]
        return number not in self.begun and bool(strand.gate) == gated and (not gated or strand.gate < self.reached)

    def compute(self, number, who, now):
        self.begun[number] = who
        self.done[number] = now + self.strands[number].nsec
        return self.done[number]

    def any_gated(self, behind=-1):
        free = (i for i in range(behind + 1, len(self.strands)) if self.free(i, True))
        return min(free, key=lambda i: self.strands[i].gate, default=None)

    def help(self, which):
        count = len(self.strands)
        start = self.split + (count - self.split) * which // self.helpers
        now = yield self.costs.handover
        for number in (*range(start, count), *range(start - 1, -1, -1)):
            if self.free(number, False):
                now = yield self.compute(number, which + 1, now)
        while any(strand.gate and i not in self.begun for i, strand in enumerate(self.strands)):
            number = self.any_gated()
            now = yield now + POLL if number is None else self.compute(number, which + 1, now + self.costs.handover)

    def walk(self):
        now, writer = 0, 0
        for number, strand in enumerate(self.strands):
            now = yield now + self.visit * len(strand.turns)
            self.reached = number + 1
            if number not in self.begun:
                self.begun[number], writer = 0, 0
                now = yield now + strand.nsec
                continue
            who = self.begun[number]
            while now < self.done[number] + self.costs.handover * (who > 0):
                other = next((i for i in range(number + 1, len(self.strands)) if self.free(i, False)), None)
                other = self.any_gated(number) if other is None else other
                if other is None:
                    now = yield max(now, min(now + POLL, self.done[number] + self.costs.handover))
                else:
                    self.by_walk += 1
                    now = yield self.compute(other, 0, now)
            self.by_helpers += 1
            if strand.written:
                # Whoever has computed neighbours writes for all of them: there and back for each row of these.
                now = yield now + strand.written * self.costs.write + 2 * self.costs.handover * (who not in (0, writer))
                writer = who
        self.end = now


def one_block(all_strands, threads, visit, costs):
    """ns of a block, once the share of the walk has settled."""
    share, kept = 0.5, []
    for _ in range(SETTLED):
        block = Block(all_strands, threads, share if threads > 1 else 1, visit, costs)
        kept.append(block.run())
        found = block.by_helpers - min(block.by_helpers, block.by_walk)
        share += (1 - found / len(all_strands) - share) / 4
    return sum(kept[-KEPT:]) / KEPT


# ---- several blocks

def stages(nsec, most):
    """ns of each of at most that many stages of neighbouring turns, the longest being as short as it can be."""
    def cut(limit):
        parts = [0.0]
        for each in nsec:
            if parts[-1] and parts[-1] + each > limit:
                parts.append(0.0)
            parts[-1] += each
        return parts
    low, high = max(nsec), sum(nsec)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if len(cut(middle)) <= most else (middle, high)
    return cut(high)


def several_blocks(nsec, threads, blocks, costs):
    """ns of a block of those that are computed at once, from those of its turns."""
    parts = stages(nsec, threads)
    ends = [0.0] * len(parts)
    for _ in range(blocks):
        before = 0.0
        for i, nsec in enumerate(parts):
            before = ends[i] = max(ends[i], before + costs.handover * (i > 0)) + nsec
    return ends[-1] / blocks


@dataclass
class Costs:
    handover: float  # ns until another core sees what one has written
    write: float     # ns to add a voice's row to a bus


def names(turns):
    """What a chain of turns consists of, in order."""
    parts = []
    for turn in turns:
        text = f"{turn.voices} {turn.name}" if turn.voices > 1 else turn.name
        if parts and parts[-1][0] == text:
            parts[-1][1] += 1
        else:
            parts.append([text, 1])
    return " → ".join(f"{count} × ({text})" if count > 1 else text for text, count in parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--piece", action="append", choices=PIECES, help="one of the pieces (default: all)")
    parser.add_argument("--cycles", type=int, default=3000, help="that are measured (default: 3000)")
    parser.add_argument("--blocks", type=int, default=16, help="of a cycle of several (default: 16)")
    parser.add_argument("--handover", type=float, default=500, help="ns (default: 500)")
    parser.add_argument("--write", type=float, default=3.5, help="ns to add a row of a voice to a bus (default: 3.5)")
    parser.add_argument("--svg", type=Path, help="where to draw it")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="(default: build)")
    options = parser.parse_args()
    program = options.build.resolve() / "bench/item-costs"
    if not program.exists():
        sys.exit(f"{program} is not there: tools/build {options.build} -Dtests=true")
    costs = Costs(options.handover, options.write)
    lines = ["| piece | a block, µs | strands | critical path | at most | cycles of | "
             + " | ".join(f"{count} threads" for count in SHOWN) + " |", "|" + "---|" * (6 + len(SHOWN))]
    single, several = {}, {}
    for name in options.piece or PIECES:
        print(name, file=sys.stderr, flush=True)
        walk, turns = measured(program, *graph(PIECES[name]()), options.cycles)
        visit = max(0.0, walk - sum(turn.nsec for turn in turns)) / len(turns)
        parts = strands(turns)
        path, chain = critical_path(parts, turns)
        alone = sum(turn.nsec + visit for turn in turns)
        single[name] = [(count, alone / one_block(parts, count, visit, costs)) for count in THREADS]
        each = [turn.nsec + visit for turn in turns]
        several[name] = [(count, alone / several_blocks(each, count, options.blocks, costs)) for count in THREADS]
        for blocks, found in (1, single), (options.blocks, several):
            faster = dict(found[name])
            head = (f"{name} | {alone / 1000:.1f} | {len(parts)} | {names(chain)}: {path / 1000:.2f} µs | "
                    f"{alone / path:.1f}" if blocks == 1 else " |  |  |  | ")
            lines.append(f"| {head} | {blocks} block{'s' * (blocks > 1)} | "
                         + " | ".join(f"{faster[count]:.2f}" for count in SHOWN) + " |")
    print(f"{report.machine()}\nload at the end: {os.getloadavg()[0]:.1f}\n")
    print("\n".join(lines))
    if options.svg:
        options.svg.write_text(svg("Simulated speed-up", report.machine()["CPU"], [
            Lines("Times as fast as one thread, cycles of one block", "threads", single),
            Lines(f"The same, cycles of {options.blocks} blocks", "threads", several)]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
