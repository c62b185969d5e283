# SPDX-License-Identifier: GPL-3.0-or-later
"""MouseX, MouseY, MouseButton and KeyState beside scsynth's, which read an X display of the test's own."""
import os
from unittest import mock

import numpy as np
import pytest

from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, display, scsynth
from tests.lib.build import PW_SCSYNTH
from tests.oracle.references import Def

X, Y = 300, 100  # pixels
BLOCK = 64
SETTLED = 2.0  # s: by then scsynth's thread has read the display


@pytest.fixture
def screen(tmp_path):
    if missing := display.missing():
        pytest.skip(f"not installed: {missing}")
    with display.Display(tmp_path) as shown, mock.patch.dict(os.environ, {"DISPLAY": shown.name}):
        yield shown


@pytest.mark.parametrize("warp", [0, 1])
def test_ranges_and_lags_are_those_of_scsynth(screen, warp, tmp_path):
    screen.move(X, Y)
    screen.button(True)
    events = [(0, ("/d_recv", (SYNTHDEFS / "test_pointer.scsyndef").read_bytes()),
               ("/pointer", X / display.WIDTH, 1 - Y / display.HEIGHT, 1),
               ("/s_new", "test_pointer", 1000, 0, 0, "warp", float(warp)))]
    changes = [("low", 100.0), ("high", 3000.0), ("lag", 0.05), ("low", 20.0), ("lag", 0.0), ("high", 10.0), ("lag", 0.3),
               ("low", 400.0)]
    events += [(SETTLED + 0.1 * number, ("/n_set", 1000, *change)) for number, change in enumerate(changes)]
    end = SETTLED + 0.1 * len(changes) + 0.5
    options = ("-i", "0", "-o", "3")
    theirs, ours = (audio.read_wav(scsynth.render(events, end, tmp_path / f"{number}.wav", program=program,
                                                  options=options))[0][int(SETTLED * 48000):]
                    for number, program in enumerate(("scsynth", PW_SCSYNTH)))
    assert theirs.shape == ours.shape
    for channel in range(3):
        assert np.ptp(theirs[:, channel]) > 100
        assert np.allclose(ours[:, channel], theirs[:, channel], rtol=1e-5), channel


def test_keys_are_those_of_scsynth(screen, tmp_path):
    screen.key(True)
    keys = bytearray(32)
    keys[38 // 8] = 1 << 38 % 8  # a
    made = Def("a_key")
    key, low, high, lag = (made.control(*each) for each in (("key", 38), ("low", 200), ("high", 800), ("lag", 0.2)))
    made.out(made.ar("K2A", made.kr("KeyState", key, low, high, lag)))
    events = [(0, ("/d_recv", made.bytes()), ("/pointer", 0, 0, 0, bytes(keys)), ("/s_new", "a_key", 1000, 0, 0))]
    changes = [("key", 39.0), ("low", 100.0), ("lag", 0.05), ("key", 38.0), ("lag", 0.0), ("high", 3000.0), ("key", 0.0)]
    events += [(SETTLED + 0.1 * number, ("/n_set", 1000, *change)) for number, change in enumerate(changes)]
    end = SETTLED + 0.1 * len(changes) + 0.2
    theirs, ours = (audio.read_wav(scsynth.render(events, end, tmp_path / f"{number}.wav", program=program,
                                                  options=("-i", "0", "-o", "1")))[0][int(SETTLED * 48000):]
                    for number, program in enumerate(("scsynth", PW_SCSYNTH)))
    screen.key(False)
    assert theirs.shape == ours.shape
    assert np.ptp(theirs) > 2000
    assert np.allclose(ours, theirs, rtol=1e-5)
