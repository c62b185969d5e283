# SPDX-License-Identifier: GPL-3.0-or-later
"""Where test_native.py can't take scsynth's sound as a measure, as it is wrong or accidental, ours is what the unit's
definition says, computed with numpy."""
import numpy as np
import pytest

from tests.oracle import references
from tests.oracle.native import apart
from tests.oracle.references import BINARY, BLOCK, OPERATORS, UNARY

FRAMES = 100 * BLOCK
TIME = np.arange(FRAMES) / references.compare.RATE
SIGNAL = np.float32(0.8 * np.sin(2 * np.pi * 331 * TIME) + 0.4 * (2 * (71 * TIME % 1) - 1))
SCALES = 10.0 ** np.repeat(np.linspace(-2, 9, FRAMES // BLOCK), BLOCK)
LIMIT = -120  # dB
# For all real numbers, huge ones too.
FUNCTIONS = {"sin": np.sin, "cos": np.cos, "tan": np.tan}
LOGARITHMS = {"log": np.log, "log2": np.log2, "log10": np.log10, "ratiomidi": lambda x: 12 * np.log2(x)}


def plain_steps(seed, low, high):
    """For each block a multiple of a quarter, so that lines between them are exact in single precision."""
    values = np.random.default_rng(seed).integers(4 * low, 4 * high, FRAMES // BLOCK) / 4
    return np.float32(np.repeat(values, BLOCK))


@pytest.mark.parametrize("divisor", [
    np.full(FRAMES, 0.3125, np.float32), np.full(FRAMES, -2.5, np.float32), plain_steps(1, 1, 9), plain_steps(2, -9, -1),
    np.repeat(plain_steps(3, 1, 9)[::4 * BLOCK], 4 * BLOCK)],
    ids=["0.3125", "-2.5", "moving", "moving below 0", "moving and resting"])
def test_division_by_a_control(divisor, tmp_path):
    dividend = 20 * SIGNAL
    ours = references.played(references.of_inputs(BINARY, "am", OPERATORS["div"]), [dividend, divisor], tmp_path)
    assert np.array_equal(ours, references.floor_division(dividend, references.lines(divisor)))


@pytest.mark.parametrize("kinds", ["aa", "am"])
@pytest.mark.parametrize("seconds", [
    np.full(FRAMES, 0.007), np.full(FRAMES, BLOCK / 48000), np.full(FRAMES, 1e-9), np.full(FRAMES, -1.0),
    np.repeat(np.random.default_rng(4).uniform(0, 0.01, FRAMES // BLOCK), BLOCK)],
    ids=["7 ms", "a block", "nothing", "below 0", "changing"])
def test_ramp(kinds, seconds, tmp_path):
    seconds = np.float32(seconds)
    ours = references.played(references.of_inputs("Ramp", kinds), [SIGNAL, seconds], tmp_path)
    assert apart(references.ramp(SIGNAL, seconds), ours) < LIMIT


def played(name, *inputs, folder):
    """An operator at audio rate."""
    unit = UNARY if len(inputs) == 1 else BINARY
    return references.played(references.of_inputs(unit, "a" * len(inputs), OPERATORS[name]), inputs, folder)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_circular_functions_of_huge_numbers(name, tmp_path):
    values = np.float32(SIGNAL * SCALES)
    ours = played(name, values, folder=tmp_path)
    right = FUNCTIONS[name](np.float64(values))
    # Beside a pole the tangent is as far off as its input can be.
    assert np.all(np.abs(ours - right) <= 1e-6 * (1 + np.square(right)))


@pytest.mark.parametrize("name", LOGARITHMS)
def test_logarithms(name, tmp_path):
    """Those of what is below 0, which are none, are those of the smallest number."""
    values = np.float32(np.abs(SIGNAL) * SCALES)
    values[values < 1e-30] = 1
    ours = played(name, values, folder=tmp_path)
    right = LOGARITHMS[name](np.float64(values))
    assert np.all(np.abs(ours - right) <= 1e-6 * np.maximum(np.abs(right), 1))
    below = played(name, -values, folder=tmp_path)
    assert np.allclose(below, LOGARITHMS[name](2.0 ** -127), rtol=1e-6)


def test_greatest_common_divisors(tmp_path):
    random = np.random.default_rng(5)
    left, right = (np.float32(random.integers(-1000, 1000, FRAMES)) for _ in range(2))
    for block, extreme in enumerate((-2.0 ** 31, np.nan, np.inf, -np.inf)):
        right[block * BLOCK:(block + 1) * BLOCK] = extreme
    ours = played("gcd", left, right, folder=tmp_path)
    assert np.array_equal(ours, references.greatest_common_divisor(left, right))
