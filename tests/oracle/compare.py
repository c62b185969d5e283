# SPDX-License-Identifier: GPL-3.0-or-later
"""One score rendered by stock scsynth and by our engine, and how far the two are apart."""
import math
import subprocess
from dataclasses import dataclass, field

import numpy as np

from tests.lib import scsynth, supercollider
from tests.lib.audio import read_wav

RATE = 48000
BLOCK = 64
CHANNELS = 8
# Settings of ours with which every unit is SuperCollider's own.
BINARIES = {"native-ugens": "false"}


@dataclass
class Pair:
    """What scsynth rendered, what we rendered, what our engine printed, and its settings."""
    reference: np.ndarray
    ours: np.ndarray
    said: str
    settings: dict = field(default_factory=lambda: BINARIES)

    def part(self, start, end):
        return Pair(self.reference[start:end], self.ours[start:end], self.said, self.settings)

    def differing(self):
        """The frames in which any channel has different bits; two NaNs are equal."""
        same = (self.reference == self.ours) | (np.isnan(self.reference) & np.isnan(self.ours))
        return np.flatnonzero(~same.all(axis=1))

    def decibels(self):
        """The level of the difference in dB, relative to that of the reference."""
        reference, ours = (np.nan_to_num(part, posinf=0, neginf=0)
                           for part in (self.reference, self.ours))
        difference = math.sqrt(np.mean(np.square(ours - reference)))
        level = max(math.sqrt(np.mean(np.square(reference))), 1e-3)
        return 20 * math.log10(difference / level) if difference else -math.inf

    def silent(self):
        return not np.any(self.reference)

    def report(self):
        """Nothing when all samples are the same, otherwise what differs."""
        frames = self.differing()
        if not len(frames):
            return ""
        first = frames[0]
        return (f"{len(frames)} of {len(self.reference)} frames differ ({self.decibels():.1f} dB), "
                f"the first is {first}: {self.reference[first]} became {self.ours[first]}")


def render(events, end, folder, inputs=None, rate=RATE, channels=CHANNELS, settings=BINARIES):
    """Render a score (see tests/lib/scsynth.py) with both, with ours under `settings`; `inputs` is a sound file with
    an even number of samples in each block, as many channels as it has are the inputs."""
    score = folder / "a.score"
    score.write_bytes(scsynth.score_bytes(events, end))
    options = {"inputs": inputs, "rate": rate, "channels": channels}
    theirs = offline_stock(score, folder / "scsynth.wav", **options)
    ours, said = offline_ours(score, folder / "ours.wav", settings=settings, **options)
    return Pair(read_wav(theirs)[0], read_wav(ours)[0], said, settings)


def offline_stock(score, output, **options):
    """Render a score file to `output` with stock scsynth; that."""
    run([*supercollider.scsynth(), *_arguments(score, output, **options)], supercollider.has_rendered)
    return output


def offline_ours(score, output, settings=None, program=None, **options):
    """Render a score file to `output` with ours, or with another build's program, a command; that, and what it
    printed."""
    chosen = [word for key, value in (settings or {}).items() for word in ("--set", f"{key}={value}")]
    return output, run([*(program or supercollider.ours()), *_arguments(score, output, **options), *chosen])


def run(command, is_right=lambda status: status == 0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
                          timeout=600, check=False)
    output = done.stdout + done.stderr
    if not is_right(done.returncode):
        raise RuntimeError(f"{command[0]} ended with {done.returncode}:\n{output}")
    return output


def _arguments(score, output, inputs=None, rate=RATE, channels=CHANNELS):
    count = read_wav(inputs)[0].shape[1] if inputs else 0
    return ["-N", score, inputs or "_", output, rate, "WAV", "float", "-o", channels, "-i", count, "-D", 0, "-d", 2048,
            "-m", 65536, "-w", 512]
