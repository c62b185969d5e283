# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns and JITLib of stock sclang, checked by their sound."""
from pathlib import Path

import numpy as np
import pytest

from tests.lib import audio, sclang
from tests.lib.recording import Recording
from tests.lib.server import is_stock

SCRIPT = Path(__file__).with_name("patterns.scd")
RATE = 48000
STEP = RATE // 100  # between two windows of Tones


class Tones:
    """The amplitude of tones over time, in windows of 40 ms, one each 10 ms."""

    def __init__(self, signal):
        self._signal = signal
        self._size = 4 * STEP

    def levels(self, hz):
        turns = np.exp(-2j * np.pi * hz * np.arange(self._size) / RATE) * np.hanning(self._size)
        return np.array([4 * abs(np.dot(self._signal[i:i + self._size], turns)) / self._size
                         for i in range(0, len(self._signal) - self._size, STEP)])

    def top(self, hz):
        return np.max(self.levels(hz))

    def seconds(self, hz, above):
        return np.count_nonzero(self.levels(hz) > above) / 100


@pytest.fixture(scope="module")
def lesson(playing, tmp_path_factory):
    folder = tmp_path_factory.mktemp("patterns")
    with Recording(playing.session, folder / "heard.wav") as recording:
        output = sclang.run(SCRIPT, playing.port, folder=folder, env=playing.session.env)
    heard, rate = audio.read_wav(recording.path)
    assert rate == RATE and "FAILURE" not in output
    return sclang.steps(output), heard[:, 0]


@pytest.fixture(scope="module")
def steps(lesson):
    return lesson[0]


@pytest.fixture(scope="module")
def tones(lesson):
    return Tones(lesson[1])


def test_events_come_to_the_frame(lesson):
    signal = lesson[1]
    ticks = audio.impulses(signal, 0.55)
    loud = [frame for frame in ticks if signal[frame] > 0.75]
    quiet = [frame for frame in ticks if signal[frame] < 0.75]
    for frames, apart, count in ((loud, 0.125, 10), (quiet, 0.1, 6)):
        assert len(frames) == count
        # scsynth's clock runs a little differently from the graph's.
        most = 30 if is_stock() else 2
        assert np.max(np.abs(np.diff(frames) - apart * RATE)) <= most, np.diff(frames)


def test_pmono_is_one_synth_that_changes(steps, tones):
    assert steps["pmono"] == "1"
    for hz in (700, 900):
        assert tones.seconds(hz, 0.15) == pytest.approx(0.3, abs=0.03)
    assert tones.top(1100) == pytest.approx(0.3, rel=0.02)


def test_pbind_plays_each_note(steps, tones):
    assert steps["pbind"] == "4"
    for note in (84, 91, 96):
        hz = 440 * 2**((note - 69) / 12)
        assert tones.top(hz) == pytest.approx(0.3, rel=0.02)
        assert tones.seconds(hz, 0.15) == pytest.approx(0.1, abs=0.03)


def test_pdef_is_replaced_while_it_plays(tones):
    first, second = tones.levels(1300) > 0.15, tones.levels(1500) > 0.15
    assert np.count_nonzero(first) > 20 and np.count_nonzero(second) > 10
    assert np.flatnonzero(first)[-1] < np.flatnonzero(second)[0]


def test_a_node_proxy_fades_over(tones):
    old, new = tones.levels(400), tones.levels(3000)
    start = np.flatnonzero((old > 0.29) & (new < 0.01))[-1]
    end = np.flatnonzero((new > 0.29) & (old < 0.01))[0]
    # Both fades follow half a period of a sine, so their sum is constant.
    assert (end - start) / 100 == pytest.approx(0.77 * 0.8, abs=0.05)
    assert np.max(np.abs((old + new)[start:end] - 0.3)) < 0.015
    # Such a fade takes 59 % of its time from a tenth to nine tenths.
    rising = np.count_nonzero((new > 0.03) & (new < 0.27) & (old > 0.02))
    assert rising / 100 == pytest.approx(0.59 * 0.8, abs=0.05)


def test_a_node_proxy_is_set_and_mapped(tones):
    old, new = tones.levels(2000), tones.levels(2600)
    both = (old > 0.04) & (new > 0.04)
    start = np.flatnonzero(both)[0]
    end = start + np.flatnonzero(~both[start:])[0]  # any tone that is cut off later is heard at both frequencies, too
    assert (end - start) / 100 == pytest.approx(0.59 * 0.4, abs=0.05)
    assert np.max(np.abs((old + new)[start:end] - 0.4)) < 0.02
    assert tones.top(3400) == pytest.approx(0.4, rel=0.02)
    assert tones.seconds(3400, 0.2) == pytest.approx(0.4, abs=0.25)  # sclang may be delayed
    assert tones.top(4200) == pytest.approx(0.4, rel=0.02)


def test_roles_of_a_node_proxy(tones):
    filtered = tones.levels(4200)[(tones.levels(4600) > 0.19) & (tones.levels(5000) < 0.01)]
    assert len(filtered) > 30
    assert np.median(filtered) == pytest.approx(0.1, rel=0.05)
    assert tones.top(4600) == pytest.approx(0.2, rel=0.02)
    for hz in (5000, 5200):
        assert tones.top(hz) == pytest.approx(0.1, rel=0.05)


def test_a_proxy_space(steps, tones):
    assert tones.top(5600) == pytest.approx(0.15, rel=0.02)
    later = tones.levels(6400)
    assert np.count_nonzero(np.abs(later - 0.15) < 0.003) > 30
    assert np.count_nonzero(np.abs(later - 0.3) < 0.006) > 10
    assert tones.seconds(5600, 0.07) == pytest.approx(0.6, abs=0.25)
    assert steps["proxies"] == "2"


def test_nothing_is_left(steps, lesson):
    assert steps["synths"] == "0"
    assert audio.peak(lesson[1][-RATE // 2:]) == 0
