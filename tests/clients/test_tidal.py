# SPDX-License-Identifier: GPL-3.0-or-later
"""Tidal itself plays SuperDirt, which has booted our server, and sends to that server's control buses."""
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.clients.superdirt import NEEDED, RATE, assert_said_nothing_wrong, click_times, levels, perform
from tests.lib import scsynth
from tests.lib.ports import free_port

SCRIPT = Path(__file__).with_name("tidal.hs")
CPS = 0.5625  # cycles in a second, Tidal's default
CLICKS = 8
# Quarters of cycles: those with a cutoff frequency from a control bus, low and high, and those between clicks and these
# and after them.
BUSES = np.arange(12, 16)
OTHERS = np.r_[8:12, 16:24]
QUIET_DB = -30.0  # below is what reverberates
TOLERANCE_DB = 2.0


def installed():
    if not shutil.which("ghc-pkg"):
        return False
    return subprocess.run(["ghc-pkg", "latest", "tidal"], capture_output=True, check=False).returncode == 0


pytestmark = [NEEDED, pytest.mark.skipif(not installed(), reason="tools/clients wasn't run: there is no Tidal for runghc")]


def performance(session, server, folder):
    said = []

    def play(dirt_port, port):
        ports = [dirt_port, port, *(free_port() for _ in range(3))]
        child = session.start(["runghc", SCRIPT, *ports], f"tidal-{server}")
        assert child.wait(120) == 0, child.output()
        said.append(child.output())
    return perform(session, server, folder, play), said[0]


@pytest.fixture(scope="module")
def heard(session, tmp_path_factory):
    return performance(session, "pw-scsynth", tmp_path_factory.mktemp("ours"))


def quarters(samples, numbers, late=0.0, seconds=0.2 / CPS):
    """The levels of quarters of cycles, from so late in each."""
    return np.array(levels(samples, numbers / (4 * CPS) + late, seconds))


def test_says_nothing_wrong(heard):
    performance, said = heard
    assert_said_nothing_wrong(performance)
    assert "Connected to SuperDirt" in said


def test_clicks_sound_at_their_times(heard):
    times = click_times(heard[0].samples, CLICKS) / RATE
    assert np.ptp(times - np.arange(CLICKS) / (4 * CPS)) < 0.001


def test_control_buses_arrive(heard):
    # A synth may start a block before its bus is set, as both come by ways of their own: that is heard at first.
    found = quarters(heard[0].samples, BUSES, late=0.08, seconds=0.1)
    assert min(found[::2]) - max(found[1::2]) > 10, found


def test_sounds_as_on_scsynth(heard, session, tmp_path):
    if not scsynth.available():
        pytest.skip("there is no stock scsynth to compare with")
    stock = performance(session, "stock", tmp_path)[0]
    ours, theirs = (quarters(each.samples, OTHERS) for each in (heard[0], stock))
    sounding = theirs > QUIET_DB
    assert sum(sounding) >= 8
    assert ours[sounding] == pytest.approx(theirs[sounding], abs=TOLERANCE_DB)
