# SPDX-License-Identifier: GPL-3.0-or-later
"""Native unit generators in the daemon: what eight voices side by side send to the sink."""
import pytest

from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.recording import Recording
from tests.lib.server import NodeServer

VOICES = 8


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("batching", ["true", "false"])
def test_voices_in_the_daemon(session, tmp_path, batching):
    server = NodeServer(session, free_port(), {"native-ugens": "true", "batching": batching})
    session.connect(server.node_name, "test-sink")
    with Client(server.port) as client:
        client.command("/notify", 1)
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.send("/n_run", 0, 0)  # so that all start in the same block
        for number in range(VOICES):
            client.request("/s_new", "test_sine", 1000 + number, 0, 0, "freq", 440.0, "amp", 0.02, reply="/n_go")
        client.send("/n_run", 0, 1)
        with Recording(session, tmp_path / "voices.wav") as recording:
            recording.wait(1.0)
    samples, rate = audio.read_wav(recording.path)
    for channel in samples.T:
        assert audio.frequency(channel, rate) == pytest.approx(440, abs=0.1)
        assert audio.peak(channel) == pytest.approx(0.02 * VOICES, rel=0.01)
        assert audio.clicks(channel) == []
