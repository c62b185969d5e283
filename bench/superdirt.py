#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A session of SuperDirt's in the daemon, beside stock scsynth under pw-jack: the processor time of all processes that it
takes, in windows that alternate. Without sclang: what SuperDirt would send is sent by this program.

    SCS_CORPUS=FOLDER bench/superdirt.py

FOLDER/superdirt holds SuperDirt's SynthDefs. 96 events a bar of 1.78 s go to 12 orbits, in turn; each makes a group with a
sample or one of SuperDirt's synths, up to three effects, and the gate that frees the group. Each orbit has its delay, reverb,
leslie, level meter and monitor, of which the first three run where an event has used them. Progress goes to standard error, a
Markdown table to standard output; the status is 1 when the goal was missed."""
import argparse
import os
import random
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import report, windows  # noqa: E402
from bench.medians import times_cheaper, typical, without_base  # noqa: E402
from bench.stands import RATE, Ours, Stock  # noqa: E402
from examples.piece import hz  # noqa: E402
from tests.lib.audio import write_wav  # noqa: E402
from tests.lib.osc import Client  # noqa: E402

BAR, EVENTS, ORBITS = 1.78, 96, 12
GOAL = 3
AHEAD = 0.3  # s from sending to sounding
DIRT, FIRST_ORBIT, FIRST_EVENT = 2, 10, 10_000  # groups
TAIL, HEAD, BEHIND = 1, 0, 3
SAMPLE = 0
SYNTHS = ("superpiano superhat superkick supersquare supersaw superpwm superfm supermandolin supergong superhammond "
          "supervibe superhex superzow super808 superfork superchip").split()
# Module: the controls that an event sets, made from a number between 0 and 1.
EFFECTS = {
    "dirt_shape2": lambda x: ("shape", 0.8 * x), "dirt_hpf2": lambda x: ("hcutoff", 100 + 2000 * x, "hresonance", 0.2),
    "dirt_bpf2": lambda x: ("bandqf", 200 + 3000 * x, "bandq", 1 + 5 * x), "dirt_crush2": lambda x: ("crush", 3 + 8 * x),
    "dirt_coarse2": lambda x: ("coarse", 1 + 7 * x), "dirt_lpf2": lambda x: ("cutoff", 400 + 5000 * x, "resonance", 0.3 * x),
    "dirt_phaser2": lambda x: ("phaserrate", 4 * x, "phaserdepth", 0.5), "dirt_tremolo2": lambda x: ("tremolorate", 8 * x),
    "dirt_distort2": lambda x: ("distort", 0.5 * x), "dirt_krush2": lambda x: ("krush", 4 * x, "kcutoff", 3000.0),
    "dirt_ring2": lambda x: ("ring", x, "ringf", 400 * x), "dirt_triode2": lambda x: ("triode", x),
    "dirt_octer2": lambda x: ("octer", 0.5 * x), "squiz2": lambda x: ("pitchratio", 1 + 3 * x),
    "dj-filter2": lambda x: ("djf", x)}
# Effects of an orbit, in their order: what an event sets where it uses them; those without are always running.
OF_ORBITS = {"dirt_delay2": lambda x: ("delaytime", 0.1 + 0.4 * x, "delayfeedback", 0.5, "delaySend", 1.0, "delayAmp", x),
             "dirt_reverb2": lambda x: ("room", 0.5 * x, "size", x), "dirt_leslie2": lambda x: ("leslie", x, "lrate", 6.0),
             "dirt_rms2": None, "dirt_monitor2": None}


def first_bus(orbit):
    """Of six an orbit: its synths', its dry and its effects'."""
    return 16 + 6 * orbit


def effect_number(orbit, index):
    """The node of an orbit's effect; the orbit's group is one less than the first."""
    return FIRST_ORBIT + 10 * orbit + 1 + index


def orbits():
    """The messages that make all of them."""
    yield "/g_new", DIRT, HEAD, 0
    for orbit in range(ORBITS):
        group, synths = FIRST_ORBIT + 10 * orbit, first_bus(orbit)
        yield "/g_new", group, HEAD, DIRT
        for index, name in reversed(list(enumerate(OF_ORBITS))):
            yield ("/s_new", name, effect_number(orbit, index), BEHIND, group, "outBus", 0, "dryBus", synths + 2,
                   "effectBus", synths + 4, "orbitIndex", orbit)
            yield "/n_run", effect_number(orbit, index), 0


def event(number, chance):
    """The messages of an event, which is its bundle."""
    orbit, group, length = number % ORBITS, FIRST_EVENT + number % 50_000, chance.uniform(0.1, 0.6)
    bus, found = first_bus(orbit), []
    for index, controls in enumerate(OF_ORBITS.values()):
        if controls is None or chance.random() < 0.2:
            node = effect_number(orbit, index)
            found += [("/n_run", node, 1), ("/n_set", node, "pauseImmediately", 0, "resumed", 1)]
            if controls:
                found.append(("/n_set", node, *controls(chance.random())))
    found.append(("/g_new", group, TAIL, FIRST_ORBIT + 10 * orbit))
    note, pan = chance.randint(40, 76), chance.uniform(-1, 1)
    source = "dirt_sample_1_2" if chance.random() < 0.5 else chance.choice(SYNTHS)
    found.append(("/s_new", source, -1, TAIL, group, "out", bus, "bufnum", SAMPLE, "freq", hz(note), "pan", pan, "sustain",
                  length, "speed", 1.0, "endSpeed", 1.0))
    chosen = sorted(chance.sample(list(EFFECTS), chance.randint(0, 3)), key=list(EFFECTS).index)
    found += [("/s_new", name, -1, TAIL, group, "out", bus, "sustain", length, *EFFECTS[name](chance.random()))
              for name in chosen]
    found.append(("/s_new", "dirt_gate2", -1, TAIL, group, "in", bus, "out", bus + 2, "amp", 0.3, "sustain", length,
                  "fadeInTime", 0.0, "fadeTime", 0.001))
    return found


class Player:
    """Sends the events of bar after bar from a thread of its own, until it is stopped."""

    def __init__(self, port):
        self._port, self._ended = port, threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self):
        self._ended.set()
        self._thread.join()

    def _run(self):
        chance, number, began = random.Random(1), 0, time.time() + AHEAD
        with Client(self._port) as client:
            while not self._ended.wait(max(0.0, began + number * BAR / EVENTS - AHEAD - time.time())):
                client.send_at(began + number * BAR / EVENTS, *event(number, chance))
                number += 1


class Playing:
    """A stand on which the session plays in place of a number of default synths; none: the orbits at rest."""

    player = None

    def _start(self):
        super()._start()
        sound = self.session.dir / "sample.wav"
        at = np.arange(RATE // 2) / RATE
        write_wav(sound, 0.5 * np.sin(2 * np.pi * 220 * at * (1 + at)) * np.exp(-3 * at), RATE)
        with Client(self.server.port) as client:
            client.command("/d_loadDir", str(Path(os.environ["SCS_CORPUS"], "superdirt")), timeout=30)
            client.command("/b_allocRead", SAMPLE, str(sound), 0, 0)
            for message in orbits():
                client.send(*message)
            client.sync()

    def play(self, synths):
        if synths and not self.player:
            self.player = Player(self.server.port)
            time.sleep(2 * AHEAD)

    def _stop(self):
        if self.player:
            self.player.stop()
            self.player = None
        super()._stop()


class OursPlaying(Playing, Ours):
    settings = {"buffers": 4096, "max-nodes": 8192, "wire-buffers": 2048, "rt-memory": 262144}


class StockPlaying(Playing, Stock):
    options = ("-b", "4096", "-n", "8192", "-w", "2048", "-m", "262144")


def cell(costs, name):
    value = typical(costs[name])
    return f"{100 * value:.1f} %" + ("" if name == Stock.name else f" ({times_cheaper(costs[Stock.name], costs[name]):.2f}×)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, default=5, help="of each, interleaved (default: 5)")
    parser.add_argument("--seconds", type=float, default=2 * BAR, help="a window's length (default: two bars)")
    parser.add_argument("--settle", type=float, default=3.0, metavar="SECONDS", help="before each window (default: 3)")
    parser.add_argument("--quantum", type=int, default=256, help="frames (default: 256)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="(default: build)")
    options = parser.parse_args()
    if not Path(os.environ.get("SCS_CORPUS", ""), "superdirt").is_dir():
        parser.error("SCS_CORPUS must name a folder with a folder superdirt")
    with ExitStack() as stack:
        stands = [stack.enter_context(kind(options.build.resolve())) for kind in (OursPlaying, StockPlaying)]
        found = {synths: windows.interleaved(stands, options.quantum, synths, options.windows, options, lambda text: print(
            text, file=sys.stderr, flush=True)) for synths in (0, EVENTS)}
    whole = {name: [each.cpu for each in of_it] for name, of_it in found[EVENTS].items()}
    idle = {name: [each.cpu for each in of_it] for name, of_it in found[0].items()}
    beyond = {name: without_base(whole[name], idle[name]) for name in whole}
    print(", ".join(f"{name} {value}" for name, value in report.machine().items()), end="\n\n")
    print(f"| SuperDirt, quantum {options.quantum} | scsynth with the daemon | ours |\n|---|---|---|")
    for what, costs in (("CPU", whole), ("CPU, less that of the orbits at rest", beyond)):
        print(f"| {what} | {cell(costs, Stock.name)} | {cell(costs, Ours.name)} |")
    return 0 if times_cheaper(beyond[Stock.name], beyond[Ours.name]) >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
