# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten thousand messages a second beside many voices, while TCP clients misbehave: every message has its effect, the
voices play, and well-behaved clients are served. bench/load.py compares how many messages are late."""
import os

import pytest

from tests.lib import audio, barrage
from tests.lib import server as servers
from tests.lib.daemon import ROOT, Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.recording import Recording
from tests.lib.tcp_pests import Pests

VOICES = 100
SECONDS = 300 if os.environ.get("SCS_LONG") == "1" else 5
DEFAULT = ROOT / "bench/synthdefs/default.scsyndef"


@pytest.fixture
def server():
    if servers.is_stock():
        pytest.skip("stock scsynth, as the tests start it, serves no TCP")
    with Session() as session:
        session.force_quantum(1024)
        server = servers.NodeServer(session, free_port())
        session.connect(server.node_name, "test-sink")
        yield server
        assert session.daemon.running(), session.logs()


def test_nothing_is_lost(server, tmp_path):
    with Client(server.port) as client:
        client.command("/d_recv", DEFAULT.read_bytes())
        for voice in range(VOICES):
            client.send("/s_new", "default", barrage.FIRST_VOICE + voice, 0, 0, "amp", 0.1 / VOICES)
        client.sync()
        with Pests(server.port) as pests:
            outcome = barrage.run(server.port, VOICES, SECONDS)
        print(f"{outcome}; {pests.answers} bytes over TCP, {pests.left} left, {pests.closed} closed")
        assert outcome.lost == 0, outcome
        assert outcome.bundles > outcome.kernel_dropped
        assert pests.turned_out == 0 and pests.answers > 0 and pests.left > 0
        assert client.status()[2] == VOICES
        with Recording(server.session, tmp_path / "after.wav", server.node_name) as recording:
            recording.wait(0.2)
        assert audio.rms(audio.read_wav(recording.path)[0]) > 1e-4
