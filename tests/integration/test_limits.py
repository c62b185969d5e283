# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers as large as the settings allow, and what they take of the daemon's memory."""
import pytest

from tests.lib import audio
from tests.lib.osc import Client, Failed
from tests.lib.ports import free_port
from tests.lib.recording import Recording
from tests.lib.server import NodeServer
from tests.oracle.references import synthdef

pytestmark = pytest.mark.usefixtures("ours")
MIB = 1 << 20


def resident(session):
    """MiB of the daemon that are in memory."""
    with open(f"/proc/{session.daemon.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS:"))


def delay(seconds):
    """A SynthDef that takes 4 bytes for each frame of them."""
    return synthdef(f"delay{seconds}", [("DC", 2, [0.1], 1, 0), ("DelayN", 2, [(0, 0), float(seconds), 0.1], 1, 0),
                                        ("Out", 2, [0.0, (1, 0)], 0, 0)])


def test_real_time_memory_that_is_not_used_is_not_there(session):
    usual = NodeServer(session, free_port())
    with Client(usual.port) as client:
        client.sync()
    with_usual = resident(session)
    usual.stop()
    server = NodeServer(session, free_port(), {"rt-memory": 1 << 20})
    with Client(server.port) as client:
        for seconds in 10, 1200:
            client.command("/d_recv", delay(seconds))

        def free():
            return client.request("/rtMemoryStatus", reply="/rtMemoryStatus.reply").args[0]

        before, all_free = resident(session), free()
        assert before < with_usual + 128  # 64 are there ahead of their use
        for number in range(30):  # 55 MiB
            client.send("/s_new", "delay10", 1000 + number, 0, 0)
        client.sync()
        used = all_free - free()
        assert 50 * MIB < used < 70 * MIB
        session.wait_until(lambda: resident(session) > before + 40, "memory ahead of its use")
        assert resident(session) < before + 80
        # More than is ahead, at once.
        client.send("/s_new", "delay1200", 2000, 0, 0)  # 256 MiB
        client.sync()
        assert client.status()[2] == 31
        assert "delay1200" not in session.daemon.output()
    server.stop()


def test_more_memory_than_the_machine_has_is_refused(session):
    NodeServer.create(session, free_port(), {"rt-memory": 1 << 30})
    session.wait_until(lambda: "not enough memory for what the settings ask for: 10485" in session.daemon.output(),
                       "why there is no engine")


def test_eight_million_buffers(session):
    most = 1 << 23
    usual = NodeServer(session, free_port())
    with Client(usual.port) as client:
        client.sync()
    with_usual = resident(session)
    usual.stop()
    server = NodeServer(session, free_port(), {"buffers": most})
    with Client(server.port) as client:
        client.command("/d_recv", synthdef("number", [("NumBuffers", 0, [], 1, 0), ("Out", 1, [0.0, (0, 0)], 0, 0)]))
        client.send("/s_new", "number", 1000, 0, 0)
        client.sync()
        session.wait_until(lambda: client.request("/c_get", 0, reply="/c_set").args[1] == most, "their number")
        assert resident(session) < with_usual + 16  # of 1 GiB
        for number in 0, most // 2, most - 1:
            client.command("/b_alloc", number, 1000, 1)
            client.send("/b_setn", number, 998, 2, 0.25, 0.5)
            assert client.request("/b_getn", number, 998, 2, reply="/b_setn").args == [number, 998, 2, 0.25, 0.5]
        assert client.request("/b_query", most - 2, reply="/b_info").args[1] == 0
        with pytest.raises(Failed, match="buffer 8388608 is out of range"):
            client.command("/b_alloc", most, 1, 1)
        assert resident(session) < with_usual + 16
    server.stop()


def test_a_thousand_ports(session, tmp_path):
    server = NodeServer(session, free_port(), {"inputs": 1024, "outputs": 1024, "control-inputs": 0, "audio-buses": 4096})
    session.wait_until(lambda: len(session.ports(server.node_name)) == 2048, "its ports")
    session.link(f"{server.node_name}:out_1024", "test-sink:playback_FL")
    with Client(server.port) as client:
        client.command("/d_recv", synthdef("last", [("SinOsc", 2, [440.0, 0.0], 1, 0),
                                                    ("Out", 2, [1023.0, (0, 0)], 0, 0)]))
        client.send("/s_new", "last", 1000, 0, 0)
        client.sync()
        with Recording(session, tmp_path / "heard.wav") as recording:
            recording.wait(1)
    samples, rate = audio.read_wav(recording.path)
    assert audio.frequency(samples[:, 0], rate) == pytest.approx(440, abs=0.01)
    server.stop()
