# SPDX-License-Identifier: GPL-3.0-or-later
"""Pause.kr and Free.kr find synths and groups by their IDs, synths of native units among them, and act in the same block
if they stand before them, as in scsynth."""
import numpy as np
import pytest

from tests.oracle import compare
from tests.oracle.references import AUDIO, CONTROL, synthdef

SETTINGS = {"binaries": compare.BINARIES, "native": {"native-ugens": "true"}}
HEAD, TAIL, BEFORE, AFTER = 0, 1, 2, 3
BLOCK = compare.BLOCK / compare.RATE
TARGET = 1000
TONES = range(TARGET, TARGET + 6)


def tone(channel):
    return synthdef(f"tone{channel}", [("LFSaw", AUDIO, [300.0 + 77 * channel, 0.5], 1, 0),
                                       ("Out", AUDIO, [float(channel), (0, 0)], 0, 0)])


def switch(unit, target):
    return synthdef("switch", [("In", CONTROL, [0.0], 1, 0), (unit, CONTROL, [(0, 0), float(target)], 1, 0)])


def played(folder, settings, unit, target, place, controls):
    """Six tones, and the switch in a place: (add action, node)."""
    definitions = [("/d_recv", tone(channel)) for channel in range(len(TONES))]
    definitions.append(("/d_recv", switch(unit, target)))
    first = [("/g_new", 5, HEAD, 0)]
    first += [("/s_new", f"tone{channel}", node, TAIL, 5) for channel, node in enumerate(TONES)]
    first.append(("/s_new", "switch", 2000, *place))
    events = [(0, ("/c_set", 0, controls[0]), *definitions), (BLOCK * 1.5, *first)]
    events += [(BLOCK * (10.5 + 10 * i), ("/c_set", 0, value)) for i, value in enumerate(controls[1:])]
    pair = compare.render(events, 0.1, folder, settings=SETTINGS[settings])
    assert not pair.report()
    assert "FAILURE" not in pair.said, pair.said
    return pair.ours


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("place", [(HEAD, 0), (TAIL, 0), (BEFORE, TARGET + 2), (AFTER, TARGET + 2), (AFTER, TARGET + 4)])
def test_pause(tmp_path, settings, place):
    sound = played(tmp_path, settings, "Pause", TARGET + 2, place, [1.0, 0.0, 1.0, 0.0])
    heard = np.any(sound[:, 2].reshape(-1, compare.BLOCK), axis=1)
    assert np.count_nonzero(np.diff(heard)) == 4  # begins, is paused, goes on, is paused
    assert np.any(sound[32 * compare.BLOCK:, 3])


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("place", [(HEAD, 0), (TAIL, 0), (BEFORE, TARGET + 2), (AFTER, TARGET + 2)])
def test_free(tmp_path, settings, place):
    sound = played(tmp_path, settings, "Free", TARGET + 2, place, [0.0, 1.0])
    assert np.any(sound[:10 * compare.BLOCK, 2])
    assert not np.any(sound[14 * compare.BLOCK:, 2])
    assert np.any(sound[14 * compare.BLOCK:, 1])


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("unit", ["Pause", "Free"])
def test_a_group(tmp_path, settings, unit):
    sound = played(tmp_path, settings, unit, 5, (HEAD, 0), [1.0, 0.0, 1.0] if unit == "Pause" else [0.0, 1.0])
    assert not np.any(sound[13 * compare.BLOCK:19 * compare.BLOCK])


@pytest.mark.parametrize("settings", SETTINGS)
def test_nobody(tmp_path, settings):
    sound = played(tmp_path, settings, "Free", 99, (HEAD, 0), [0.0, 1.0])
    assert np.any(sound[14 * compare.BLOCK:, 2])
