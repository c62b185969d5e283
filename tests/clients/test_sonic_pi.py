# SPDX-License-Identifier: GPL-3.0-or-later
"""Sonic Pi's own server, without its window, boots pw-scsynth as its scsynth and plays all that it has, as
with scsynth.

SCS_SONIC_PI names Sonic Pi as Debian's sonic-pi-server installs it (/usr/lib/sonic-pi)."""
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.clients import sonic_pi
from tests.clients.conftest import Heard, folder_of, needs
from tests.lib import audio
from tests.lib.ports import only_loopback
from tests.lib.process import wait_for
from tests.lib.recording import Recording

PIECE = Path(__file__).with_name("sonic_pi.rb")
pytestmark = [needs("SCS_SONIC_PI", sonic_pi.FOLDER),
              pytest.mark.skipif(not only_loopback(), reason="its ports would be open to the network: run ./check clients, "
                                                             "or this under `unshare -rn` with `ip link set lo up`")]


@dataclass
class Performance:
    errors: list
    heard: Heard
    samples: np.ndarray
    status: int


def performance(session, scsynth, folder):
    """Boot, play the piece, exit."""
    server = sonic_pi.boot(session, folder_of("SCS_SONIC_PI"), scsynth.path)
    try:
        if not session.links():
            session.connect("SuperCollider", "test-sink")
        with Recording(session, folder / "heard.wav") as recording:
            server.play(PIECE.read_text())
            recording.wait(0.2)
        status = server.exit()
        wait_for(scsynth.log.exists, "the end of its scsynth")
    finally:
        server.stop()
    return Performance(server.errors, Heard.of(scsynth), audio.read_wav(folder / "heard.wav")[0], status)


@pytest.fixture(scope="module")
def played(session, listen, tmp_path_factory):
    return {kind: performance(session, listen(kind), tmp_path_factory.mktemp(kind)) for kind in ("ours", "stock")}


def test_plays_without_errors(played):
    assert played["ours"].errors == []
    assert played["ours"].status == 0


def test_nothing_fails(played):
    ours, stock = played["ours"].heard, played["stock"].heard
    assert ours.fails == []
    # Asked until it answers.
    assert {**ours.sent, "/status": 0} == {**stock.sent, "/status": 0}
    assert ours.sent["/s_new"] > 300
    # Ours also prints the names of SynthDefs that /quit frees.
    other = {"/d_removed": 0, "/status.reply": 0}
    assert {**ours.answers, **other} == {**stock.answers, **other}


def test_sounds_as_with_scsynth(played):
    ours, stock = (played[kind].samples for kind in ("ours", "stock"))
    assert np.isfinite(ours).all()
    assert 20 * np.log10(audio.rms(ours) / audio.rms(stock)) == pytest.approx(0, abs=0.5)
