# SPDX-License-Identifier: GPL-3.0-or-later
"""pw-scsynth -S: a rate that the graph takes, and one that it doesn't."""
import re

import pytest

from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.recording import Recording

PLACES = pytest.mark.parametrize("place", [(), ("--client",)], ids=["daemon", "client"])
RESAMPLED = re.compile(r"^pw-scsynth: engine at (\d+) Hz in a graph of 48000 Hz: "
                       r"resampled, adds (\d+) frames \((\d+\.\d) ms\)$", re.MULTILINE)


@pytest.fixture(scope="module")
def session():
    """A graph of 48000 Hz that has no other rate."""
    with Session(policy=True, sinks={"test-sink": 2}) as session:
        session.force_quantum(1024)
        yield session
        assert session.daemon.running(), session.logs()


def linked(session, name):
    """Wait until the policy has linked the program's outputs."""
    session.wait_links(lambda links: any(out.startswith(f"{name}:out_") for out, _ in links),
                       f"links of {name}")


def said(session, server):
    """What it prints about resampling: (engine's rate, frames, milliseconds)."""
    session.wait_until(lambda: RESAMPLED.search(server.child.output()), "what is said of resampling")
    rate, frames, milliseconds = RESAMPLED.search(server.child.output()).groups()
    return int(rate), int(frames), float(milliseconds)


def sine(server, frequency):
    client = Client(server.port)
    client.command("/notify", 1)
    client.command("/d_loadDir", str(SYNTHDEFS))
    client.request("/s_new", "test_sine", 1000, 0, 0, "freq", frequency, "amp", 0.2, reply="/n_go")
    return client


@PLACES
@pytest.mark.parametrize("rate", [44100, 96000])
def test_another_rate_is_resampled(launch, session, tmp_path, place, rate):
    server = launch("-i", 0, "-o", 2, "-S", rate, *place)
    linked(session, server.name)
    with sine(server, 440.0) as client:
        assert client.status()[7] == rate
        with Recording(session, tmp_path / "heard.wav") as recording:
            recording.wait(2)
    samples, heard_rate = audio.read_wav(recording.path)
    heard = samples[:, 0]
    assert heard_rate == 48000
    assert audio.frequency(heard, 48000) == pytest.approx(440, abs=0.001)
    assert audio.peak(heard) == pytest.approx(0.2, rel=0.001)
    assert audio.clicks(heard) == []
    engine_rate, frames, milliseconds = said(session, server)
    assert engine_rate == rate
    assert milliseconds == pytest.approx(frames / 48, abs=0.06)
    assert len(RESAMPLED.findall(server.child.output())) == 1


def latency(session, name, port):
    """The frames of the port's own latency, as PipeWire knows it."""
    dump = session.pw_dump()
    node = next(item["id"] for item in dump
                if (item.get("info") or {}).get("props", {}).get("node.name") == name)
    found = next(item for item in dump if item["type"].endswith(":Port")
                 and item["info"]["props"]["node.id"] == node and item["info"]["props"]["port.name"] == port)
    told = [entry for entry in found["info"]["params"]["Latency"] if entry["direction"] == "Output"]
    return told[0]["minRate"], told[0]["maxRate"]


def test_the_added_latency_is_told_to_the_graph(launch, session):
    server = launch("-i", 2, "-o", 2, "-S", 44100)
    linked(session, server.name)
    _, frames, _ = said(session, server)
    session.wait_until(lambda: latency(session, server.name, "out_1") == (frames, frames),
                       f"a latency of {frames}, not {latency(session, server.name, 'out_1')}")


@PLACES
def test_the_rate_of_the_graph_is_not_resampled(launch, session, place):
    server = launch("-S", 48000, *place)
    linked(session, server.name)
    with Client(server.port) as client:
        assert client.status()[7] == 48000
    # The node checks both once a second.
    session.wait_until(lambda: int(server.properties()["scsynth.packets.received"]) > 0, "counted packets")
    assert server.properties()["scsynth.resampling"] == "no"
    assert "resampled" not in server.child.output()


def test_quiet_does_not_say_it(launch, session):
    server = launch("-S", 44100, "-V", "-1", ready=False)
    session.wait_node(server.name)
    session.wait_until(lambda: "resampled" in server.properties()["scsynth.resampling"], "resampling")
    with Client(server.port) as client:
        client.command("/quit")
    assert server.ended() == (0, "")


def force_rate(session, rate):
    session.run("pw-metadata", "-n", "settings", "0", "clock.force-rate", rate)


@PLACES
def test_the_graph_changes_its_rate(launch, session, tmp_path, place):
    server = launch("-i", 0, "-o", 2, "-S", 44100, *place)
    linked(session, server.name)

    def shows(text):
        session.wait_until(lambda: server.properties()["scsynth.resampling"].startswith(text), text)

    with sine(server, 440.0):
        try:
            for rate, text in ((96000, "engine at 44100 Hz in a graph of 96000 Hz: resampled"),
                               (44100, "no"), (48000, "engine at 44100 Hz in a graph of 48000 Hz: resampled")):
                force_rate(session, rate)
                shows(text)
                with Recording(session, tmp_path / f"{rate}.wav") as recording:
                    recording.wait(1)
                heard, heard_rate = audio.read_wav(recording.path)
                assert heard_rate == rate
                assert audio.frequency(heard[:, 0], rate) == pytest.approx(440, abs=0.01)
                assert audio.clicks(heard[:, 0]) == []
        finally:
            force_rate(session, 0)
    for rate in 96000, 48000:
        assert f"graph of {rate} Hz: resampled" in server.child.output()


@PLACES
def test_clients_get_the_rate_at_which_the_graph_runs(launch, session, tmp_path, place):
    """It isn't the daemon's default rate."""
    try:
        force_rate(session, 44100)
        server = launch("-i", 0, "-o", 2, *place)
        linked(session, server.name)
        with sine(server, 440.0) as client:
            session.wait_until(lambda: client.status()[7:] == [44100, 44100], client.status())
            client.command("/b_alloc", 0, 65536, 2)
            assert client.request("/b_query", 0, reply="/b_info").args == [0, 65536, 2, 44100]
            client.command("/b_write", 0, str(tmp_path / "disk.wav"), "wav", "float", 0, 0, 1)
            client.request("/s_new", "test_disk_out", 1001, 1, 0, "buf", 0, reply="/n_go")
            with Recording(session, tmp_path / "heard.wav") as recording:
                recording.wait(1)
            client.command("/b_close", 0)
        recorded, rate = audio.read_wav(tmp_path / "disk.wav")
        assert rate == 44100
        assert audio.frequency(recorded[:, 1], rate) == pytest.approx(440, abs=0.01)
        heard, rate = audio.read_wav(recording.path)
        assert rate == 44100
        assert audio.frequency(heard[:, 0], rate) == pytest.approx(440, abs=0.01)
    finally:
        force_rate(session, 0)


@PLACES
def test_a_rate_that_is_kept(launch, session, tmp_path, place):
    try:
        force_rate(session, 44100)
        server = launch("-i", 0, "-o", 2, "--set", "keep-rate=true", *place)
        linked(session, server.name)
        with sine(server, 440.0) as client:
            for rate in 44100, 48000, 96000:
                force_rate(session, rate)
                resampled = "no" if rate == 44100 else f"engine at 44100 Hz in a graph of {rate} Hz: resampled"
                session.wait_until(lambda said=resampled: server.properties()["scsynth.resampling"].startswith(said),
                                   resampled)
                with Recording(session, tmp_path / f"{rate}.wav") as recording:
                    recording.wait(1)
                heard, heard_rate = audio.read_wav(recording.path)
                assert heard_rate == rate
                assert audio.frequency(heard[:, 0], rate) == pytest.approx(440, abs=0.01)
                assert audio.clicks(heard[:, 0]) == []
                assert client.status()[7:] == [44100, 44100]
    finally:
        force_rate(session, 0)
