# SPDX-License-Identifier: GPL-3.0-or-later
"""Units for which scsynth is no measure, computed with numpy from their definitions; and SynthDefs and scores that play
one of them, with samples of a sound file as its inputs."""
import math
import struct

import numpy as np

from tests.lib import scsynth
from tests.lib.audio import read_wav, write_wav
from tests.oracle import compare
from tests.oracle.native import NATIVE

CONTROL, AUDIO, DEMAND = 1, 2, 3  # rates
UNARY, BINARY = "UnaryOpUGen", "BinaryOpUGen"
# The operators' numbers in SuperCollider's format.
OPERATORS = {"div": 3, "gcd": 18, "ratiomidi": 20, "log": 25, "log2": 26, "log10": 27, "sin": 28, "cos": 29, "tan": 30}
BLOCK = compare.BLOCK


def synthdef(name, units, controls=()):
    """The bytes of a file. A unit: (name, rate, inputs, outputs, operator or 0); an input: a number, or (unit, output). A
    control: (name, value); a Control's operator says which is its first."""
    numbers = [each for _, _, inputs, _, _ in units for each in inputs if not isinstance(each, tuple)]
    body = b"SCgf" + struct.pack(">ih", 2, 1) + _text(name) + struct.pack(f">i{len(numbers)}f", len(numbers), *numbers)
    body += struct.pack(f">i{len(controls)}f", len(controls), *(value for _, value in controls))
    body += struct.pack(">i", len(controls))
    for index, (control, _) in enumerate(controls):
        body += _text(control) + struct.pack(">i", index)
    body += struct.pack(">i", len(units))
    place = 0
    for unit, rate, inputs, outputs, operator in units:
        body += _text(unit) + struct.pack(">biih", rate, len(inputs), outputs, operator)
        for each in inputs:
            body += struct.pack(">ii", *(each if isinstance(each, tuple) else (-1, place)))
            place += not isinstance(each, tuple)
        body += bytes([rate] * outputs)
    return body + struct.pack(">h", 0)


class Def:
    """A SynthDef in the making. What makes a unit returns its first output; others are (unit, 1) and so on."""

    def __init__(self, name="reported"):
        self.name, self.units, self.controls = name, [], []

    def unit(self, rate, name, *inputs, outputs=1, operator=0):
        self.units.append((name, rate, list(inputs), outputs, operator))
        return len(self.units) - 1, 0

    def ar(self, name, *inputs, **rest):
        return self.unit(AUDIO, name, *inputs, **rest)

    def kr(self, name, *inputs, **rest):
        return self.unit(CONTROL, name, *inputs, **rest)

    def control(self, name, value):
        self.controls.append((name, value))
        return self.kr("Control", operator=len(self.controls) - 1)

    def out(self, *signals):
        self.ar("Out", 0.0, *signals, outputs=0)
        return self

    def bytes(self):
        return synthdef(self.name, self.units, self.controls)


def of_inputs(unit, kinds, operator=0):
    """A SynthDef in which input n is samples of channel n: all of them ("a"), or the first one of each block ("m")."""
    units = [("In", AUDIO, [float(compare.CHANNELS)], len(kinds), 0)]
    inputs = []
    for channel, kind in enumerate(kinds):
        inputs.append((0, channel))
        if kind == "m":
            units.append(("A2K", CONTROL, [(0, channel)], 1, 0))
            inputs[-1] = (len(units) - 1, 0)
    units += [(unit, AUDIO, inputs, 1, operator), ("Out", AUDIO, [0.0, (len(units), 0)], 0, 0)]
    return synthdef("reference", units)


def played(definition, inputs, folder):
    """What ours makes of these samples, an array for each input, whole blocks long."""
    samples = np.stack(inputs, axis=1).astype(np.float32)
    if samples.shape[1] % 2:  # see compare.render
        samples = np.hstack([samples, np.zeros((len(samples), 1), np.float32)])
    write_wav(folder / "inputs.wav", samples, compare.RATE)
    score = folder / "a.score"
    end = len(samples) / compare.RATE
    score.write_bytes(scsynth.score_bytes([(0, ("/d_recv", definition), ("/s_new", "reference", 1000, 0, 0))], end))
    sound, said = compare.offline_ours(score, folder / "ours.wav", inputs=folder / "inputs.wav", settings=NATIVE)
    assert "FAILURE" not in said, said
    return read_wav(sound)[0][:len(samples), 0]  # it ends with a block more


def lines(samples):
    """What a unit at audio rate sees of an input at control rate: lines from each block's value to the next one's."""
    values = np.float64(samples[::BLOCK])
    before = np.concatenate([values[:1], values[:-1]])
    return (before[:, None] + (values - before)[:, None] * np.arange(BLOCK) / BLOCK).ravel()


def floor_division(dividend, divisor):
    return np.floor(np.float32(np.float64(dividend) / np.float64(divisor)))


def ramp(samples, seconds):
    """After each period the output is what the input was when that period began. A block's first number counts."""
    samples, out = np.float64(samples), np.empty(len(samples))
    out[0] = level = samples[0]
    at = 1
    while at < len(samples):
        period = max(1, int(np.float64(np.float32(seconds[at // BLOCK * BLOCK])) * compare.RATE))
        line = level + (samples[at] - level) * np.arange(period + 1) / period
        out[at:at + period] = line[:period][:len(out) - at]
        level = line[period]
        at += period
    return out


def greatest_common_divisor(left, right):
    """Of the numbers without their fractions; negative if both are. What is no integer is the lowest one. Of 0 and another
    it is that other one."""
    def whole(value):
        return int(value) if math.isfinite(value) else -2 ** 63

    def one(a, b):
        return a + b if a == 0 or b == 0 else math.gcd(a, b) * (-1 if a < 0 and b < 0 else 1)
    return np.float32([one(whole(a), whole(b)) for a, b in zip(left, right)])


def _text(name):
    return bytes([len(name)]) + name.encode()
