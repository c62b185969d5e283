# SPDX-License-Identifier: GPL-3.0-or-later
"""Beats of a JACK client that is transport master, on control buses."""
import shutil
import sys

import numpy as np
import pytest

from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, jack_master
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.recording import Recording, whole
from tests.lib.server import NodeServer

BLOCK, BEATS_PER_BAR = 64, jack_master.BEATS_PER_BAR
FADED = 4  # blocks: 5 ms, in which PipeWire 1.7 lets what is linked come in
LOCATED = 480_123  # frame, which is none of a beat
SCRIPT = [(0.3, "start", 0), (0.8, "tempo", 151.3), (1.3, "locate", LOCATED), (1.8, "tempo", 97), (2.3, "stop", 0),
          (2.6, "locate", 48_000)]
MASTER = "master"


def perform(session, tmp_path):
    """What the server's outputs have while the master goes through its script."""
    words = [word for step in SCRIPT for word in step]
    master = session.start(["pw-jack", sys.executable, "-B", jack_master.__file__, MASTER, *words], MASTER)
    try:
        wait_for(lambda: len(session.ports(MASTER, "out")) == 4, "the master's ports")
        with Recording(session, tmp_path / "beats.wav", node="scsynth") as recording:
            for number, port in enumerate(("beat", "tempo", "playing", "bar"), 1):
                session.link(f"{MASTER}:{port}", f"scsynth:in_{number}")
            master.wait_output("done")
            recording.wait(0.1)
        return audio.read_wav(recording.path)[0].astype(float)
    finally:
        master.stop()
        session.wait_gone(MASTER)


@pytest.mark.skipif(not shutil.which("pw-jack"), reason="needs pw-jack")
def test_a_jack_transport_is_followed_in_its_own_cycle(ours, session, tmp_path):
    session.force_quantum(1024)
    server = NodeServer(session, free_port(), {"inputs": 4, "outputs": 8})
    session.connect(server.node_name, "test-sink")
    with Client(server.port) as client:
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.send("/bind_beat", 1, "transport", "c20")
        client.send("/s_new", "test_buses", 1000, 0, 0, "bus", 20)
        client.sync()
        samples = whole(lambda: perform(session, tmp_path))
        # A block's values are in the first frame of the next one.
        beat, tempo, playing, bar = samples[BLOCK::BLOCK, :4].T
        said_beat, said_tempo, said_playing, said_bar = samples[:-BLOCK:BLOCK, 4:].T
        heard = said_tempo > 0  # from the first cycle in which the master is linked
        heard[:np.argmax(heard) + FADED] = False
        assert np.count_nonzero(heard) > 2.5 * 48000 / BLOCK
        assert np.array_equal(playing[heard], said_playing[heard])
        assert np.array_equal(tempo[heard], said_tempo[heard])
        beats, said = bar * BEATS_PER_BAR + beat, said_bar * BEATS_PER_BAR + said_beat
        assert np.abs(beats - said)[heard].max() < 1e-6
        assert set(tempo[heard]) == {np.float32(minute / 60) for minute in (120, 151.3, 97)}
        assert beat.min() >= 0 and beat.max() < BEATS_PER_BAR
        # It was located while it rolled: a leap, and a cycle that stands.
        leap = int(np.argmax(np.diff(said[heard])))
        assert np.diff(said[heard])[leap] > 10
        assert not playing[heard][leap + 1] and playing[heard][leap - 1]
        assert client.request("/c_get", 22, reply="/c_set").args == [22, 0.0]
