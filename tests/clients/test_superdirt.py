# SPDX-License-Identifier: GPL-3.0-or-later
"""SuperDirt, played by messages as Tidal sends them, on our servers and on stock scsynth."""
import numpy as np
import pytest

from tests.clients import tidal
from tests.clients.superdirt import MANY, NEEDED, RATE, assert_said_nothing_wrong, click_times, levels, perform
from tests.lib import scsynth

pytestmark = NEEDED
# Levels differ by chance (noise, random phases, an oscillator's position in its cycle), some more than others.
TOLERANCE_DB = 6.0
CHANCE = ("superstatic", "scram")


def play(dirt_port, _):
    tidal.play(tidal.piece(), dirt_port)


def levels_of_events(samples):
    return levels(samples, [event.at for event in tidal.piece()], 0.55)


@pytest.fixture(scope="module")
def stock(session, tmp_path_factory):
    if not scsynth.available():
        pytest.skip("there is no stock scsynth to compare with")
    return perform(session, "stock", tmp_path_factory.mktemp("stock"), play)


@pytest.fixture(scope="module", params=["pw-scsynth", "module"])
def heard(request, session, tmp_path_factory):
    return perform(session, request.param, tmp_path_factory.mktemp(request.param), play)


def test_starts_as_on_scsynth(heard, stock):
    assert heard.steps == stock.steps
    assert (heard.steps["buffers"], heard.steps["last"]) == (str(MANY + 2), "64")
    # sclang's own 105 SynthDefs, and at least those of SuperDirt 1.7.3.
    assert int(heard.steps["synthdefs"]) >= 105 + 92


def test_says_nothing_wrong(heard):
    assert_said_nothing_wrong(heard)


def test_events_sound_at_their_times(heard):
    times = click_times(heard.samples, tidal.CLICKS) / RATE
    assert len(times) == tidal.CLICKS
    wanted = np.array([event.at for event in tidal.piece()[:tidal.CLICKS]])
    assert np.ptp(times - wanted) < 0.001


def test_sounds_as_on_scsynth(heard, stock):
    assert np.isfinite(heard.samples).all()
    ours, theirs = levels_of_events(heard.samples), levels_of_events(stock.samples)
    assert min(theirs) > -100 and min(ours) > -100
    wrong = [f"{event.sound} {event.more}: {mine:.1f} dB, not {reference:.1f}"
             for event, mine, reference in zip(tidal.piece(), ours, theirs)
             if abs(mine - reference) > TOLERANCE_DB and not {event.sound, *event.more}.intersection(CHANCE)]
    assert not wrong, "\n".join(wrong)
    assert np.median(np.subtract(ours, theirs)) == pytest.approx(0, abs=0.1)
