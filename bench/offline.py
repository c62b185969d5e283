#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Render a score of five minutes with `scsynth -N` and with `pw-scsynth -N`, and compare the time they take.

The score is always the same: thousands of voices, some 150 at once, most of them sclang's default synth, samples
from buffers and wavetables, all through a delay, a reverb and a limiter. The renderings alternate, so that a busy
machine falls on both alike, and must be the same, byte for byte. Progress goes to standard error, a Markdown table to
standard output. The status is 1 when ours takes more than the given part of scsynth's processor time."""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import report  # noqa: E402
from tests.lib.audio import write_wav  # noqa: E402
from tests.lib.scsynth import score_bytes  # noqa: E402

# All of these sound the same each time: their noise, if any, is seeded.
SYNTHDEFS = [*(ROOT / f"tests/oracle/synthdefs/{name}.scsyndef" for name in ("default", "play")),
             *(ROOT / f"examples/synthdefs/piece_{name}.scsyndef"
               for name in ("kick", "bass", "pad", "lead", "delay", "reverb", "master"))]
RATE = 48000
BEAT = 0.25
VOICES, EFFECTS = 1, 2  # groups
SAMPLE, WAVETABLE = 0, 1
REVERB, ECHO = 16, 18   # buses


class Score:
    """Events of a piece: beats of drums, bass and samples under pads, leads and swarms of default synths."""

    def __init__(self, seconds, folder):
        self._random = random.Random(1)
        self._number = 1000
        self.events = [(0, *self._start(folder))]
        for beat in range(int(seconds / BEAT)):
            self._beat(0.1 + beat * BEAT, beat)
        self.events = [event for event in self.events if event[0] < seconds]

    def _start(self, folder):
        sound = folder / "sound.wav"
        turns = 2 * np.pi * np.arange(2 * RATE) / RATE
        write_wav(sound, np.stack([np.sin(200 * turns * (1 + turns)), np.sin(330 * turns)], axis=1), RATE)
        yield from (("/d_load", str(path)) for path in SYNTHDEFS)
        yield "/b_allocRead", SAMPLE, str(sound), 0, 0
        yield "/b_alloc", WAVETABLE, 2048, 1
        yield "/b_gen", WAVETABLE, "sine1", 1 | 2 | 4, 1.0, 0.5, 0.3, 0.2
        yield "/g_new", VOICES, 0, 0, EFFECTS, 1, 0
        for name in ("delay", "reverb", "master"):
            yield "/s_new", f"piece_{name}", self._next(), 1, EFFECTS

    def _next(self):
        self._number += 1
        return self._number

    def _beat(self, start, beat):
        chance = self._random
        if beat % 2 == 0:
            self._play(start, "piece_kick", 0)
        self._play(start, "piece_bass", 0, "freq", chance.choice((41.2, 55.0, 61.7)), "dur", 0.2)
        if beat % 4 == 0:
            self._play(start, "play", 1.0, "buf", SAMPLE, "rate", chance.uniform(0.5, 2.0))
        if beat % 8 == 0:
            for pitch in (220.0, 277.2, 329.6, 440.0):
                self._play(start, "piece_pad", 0, "freq", pitch, "dur", 2.0, "pan", chance.uniform(-1, 1))
        self._play(start, "piece_lead", 0, "freq", chance.choice((440.0, 659.3, 880.0)), "buf", WAVETABLE)
        for _ in range(8):
            at = start + chance.uniform(0, BEAT)
            self._play(at, "default", chance.uniform(2, 6), "freq", chance.uniform(100, 2000), "amp", 0.01,
                       "pan", chance.uniform(-1, 1))

    def _play(self, at, name, sustain, *arguments):
        """A synth that frees itself, or is released (or freed, if it has no gate) after `sustain` seconds."""
        number = self._next()
        self.events.append((at, ("/s_new", name, number, 0, VOICES, *arguments)))
        if sustain:
            end = ("/n_set", number, "gate", 0) if name == "default" else ("/n_free", number)
            self.events.append((at + sustain, end))


@dataclass
class Rendering:
    user: float  # s of processor time
    wall: float
    data: bytes


def render(program, score, output, options=()):
    """Run the program to its end."""
    command = [program, "-N", score, "_", output, str(RATE), "WAV", "int24", "-o", "2", "-i", "0", "-D", "0", *options]
    began = time.monotonic()
    with open(output.with_suffix(".log"), "w+") as log:
        child = subprocess.Popen(command, env=os.environ | {"HOME": str(output.parent)}, stdin=subprocess.DEVNULL,
                                 stdout=log, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        said = log.read()
    if child.returncode or "FAILURE" in said:
        raise RuntimeError(f"{program} ended with {child.returncode}:\n{said}")
    return Rendering(used.ru_utime, wall, output.read_bytes())


def compare(options, folder):
    """{name: [Rendering, …]}, whose data are all the same."""
    score = folder / "score.osc"
    score.write_bytes(score_bytes(Score(options.seconds, folder).events, options.seconds))
    # The plugins' units alone: only those give the same bytes. bench/voices.py has native ones.
    programs = {"ours": (options.build / "src/cli/pw-scsynth", ("--set", "native-ugens=false")), "scsynth": ("scsynth", ())}
    found = {name: [] for name in programs}
    first = None
    for number in range(options.runs):
        for name, (program, more) in programs.items():
            rendered = render(program, score, folder / f"{name}.wav", more)
            print(f"run {number + 1} of {options.runs}: {name} {rendered.user:.2f} s of processor time, "
                  f"{rendered.wall:.2f} s", file=sys.stderr, flush=True)
            first = first or rendered.data
            if rendered.data != first:
                raise RuntimeError(f"{name} rendered something else")
            if len(set(rendered.data[-10000:])) < 100:
                raise RuntimeError(f"{name} rendered silence")
            rendered.data = b""
            found[name].append(rendered)
    return found


def row(measure, found, what, most=None):
    values = {name: median(getattr(each, what) for each in runs) for name, runs in found.items()}
    times = median(getattr(a, what) / getattr(b, what) for a, b in zip(found["ours"], found["scsynth"]))
    return report.Row(measure, "", f"{values['ours']:.2f} s", f"{values['scsynth']:.2f} s",
                      f"ours / scsynth = {times:.3f}", f"≤ {most:g}" if most else "",
                      times <= most if most else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300.0, help="of the score (default: 300)")
    parser.add_argument("--runs", type=int, default=5, help="of each (default: 5)")
    parser.add_argument("--most", type=float, default=1.02, help="part of scsynth's processor time that ours may take; "
                                                                 "less than a hundredth is noise (default: 1.02)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="(default: build)")
    options = parser.parse_args()
    options.build = options.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        found = compare(options, Path(folder))
    rows = [row("processor time in user mode", found, "user", options.most), row("time", found, "wall")]
    print(report.markdown(report.machine(), rows))
    return 0 if rows[0].met else 1


if __name__ == "__main__":
    sys.exit(main())
