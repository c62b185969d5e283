# SPDX-License-Identifier: GPL-3.0-or-later
"""Outputs with the channels of a layout, on sinks of another order, and with names of their own."""
import numpy as np
import pytest

from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, pulse
from tests.lib.build import PW_SCSYNTH
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.recording import Recording, whole
from tests.lib.server import NODE, NodeServer

pytestmark = pytest.mark.usefixtures("ours")
SURROUND = ["FL", "FR", "FC", "LFE", "RL", "RR"]
SOUND_CARD = "FL FR RL RR FC LFE"  # as ALSA orders them


@pytest.fixture
def session():
    with Session(policy=True, sinks={"test-sink": SOUND_CARD}) as session:
        session.force_quantum(1024)
        yield session
        assert session.daemon.running(), session.logs()


def play_tones(port, outputs):
    """A tone on each output, 200 Hz on the first, 100 Hz more on each other."""
    with Client(port) as client:
        client.wait_ready()
        client.command("/notify", 1)
        client.command("/d_loadDir", str(SYNTHDEFS))
        for i in range(outputs):
            client.request("/s_new", "test_tone", 1000 + i, 1, 0, "out", i, "freq", 200.0 + 100 * i, "amp", 0.2,
                           reply="/n_go")
        client.command("/notify", 0)


def start_program(session, port, *options, **env):
    child = session.start([PW_SCSYNTH, "-u", port, "--set", f"name={NODE}", *options], "pw-scsynth", **env)
    child.wait_output("SuperCollider 3 server ready.\n")
    return child


def linked(session, pairs):
    wanted = {(f"{NODE}:{own}", f"test-sink:playback_{channel}") for own, channel in pairs}
    session.wait_until(lambda: {link for link in session.links() if link[0].startswith(f"{NODE}:")} == wanted,
                       f"exactly {sorted(wanted)}")


def tones(samples, rate):
    """The pitch of each channel; 0 where it is silent."""
    last = samples[-rate // 2:]
    loud = [channel for channel in last.T if audio.peak(channel) > 0]
    assert all(audio.rms(channel) * np.sqrt(2) == pytest.approx(0.2, rel=0.02) for channel in loud)
    return [round(audio.frequency(channel, rate)) if audio.peak(channel) > 0 else 0 for channel in last.T]


def heard(session, folder):
    """The tone at each channel of the sink."""
    def take():
        with Recording(session, folder / "sink.wav") as recording:
            recording.wait(1)
        return recording
    return dict(zip(SOUND_CARD.split(), tones(*audio.read_wav(whole(take).path))))


@pytest.mark.parametrize("layout", ["5.1", "[ FL FR FC LFE RL RR ]"])
def test_each_output_is_heard_at_its_channel(session, tmp_path, layout):
    server = NodeServer(session, free_port(), {"layout": layout, "outputs": 6})
    play_tones(server.port, 6)
    linked(session, [(f"out_{i}", channel) for i, channel in enumerate(SURROUND, 1)])
    assert heard(session, tmp_path) == {"FL": 200, "FR": 300, "FC": 400, "LFE": 500, "RL": 600, "RR": 700}


def test_without_a_layout_the_order_is_the_sinks(session, tmp_path):
    server = NodeServer(session, free_port(), {"outputs": 6})
    play_tones(server.port, 6)
    linked(session, [(f"out_{i}", channel) for i, channel in enumerate(SOUND_CARD.split(), 1)])
    assert heard(session, tmp_path) == {"FL": 200, "FR": 300, "RL": 400, "RR": 500, "FC": 600, "LFE": 700}


def test_in_a_process_of_its_own(session, tmp_path):
    """The properties of node and ports come by another way."""
    port = free_port()
    start_program(session, port, "--client", "-o", 3, "--set", "layout=[ RR LFE ]")
    play_tones(port, 3)
    linked(session, [("out_1", "RR"), ("out_2", "LFE")])  # and what is beyond the list isn't
    assert heard(session, tmp_path) == {"FL": 0, "FR": 0, "RL": 0, "RR": 200, "FC": 0, "LFE": 300}


def test_mixers_see_the_channels(session, tmp_path):
    NodeServer(session, free_port(), {"layout": "5.1", "outputs": 6})
    stream, = session.wait_until(pulse.start(session, tmp_path), "a stream")
    assert stream["channel_map"] == "front-left,front-right,front-center,lfe,rear-left,rear-right"
    assert list(stream["volume"]) == stream["channel_map"].split(",")


def test_a_recorder_gets_each_channel(session, tmp_path):
    server = NodeServer(session, free_port(), {"layout": "5.1", "outputs": 6})
    play_tones(server.port, 6)
    path = tmp_path / "take.wav"
    program = session.start(["pw-record", "--target", NODE, "--channels", 4, "--channel-map", "RR,FL,FC,LFE", path],
                            "pw-record")
    session.wait_until(lambda: sum(inlet.startswith("pw-record:") for _, inlet in session.links()) == 4, "its links")
    session.wait_until(lambda: path.exists() and path.stat().st_size > 4 * 2 * 48000, "a second of sound")
    program.stop()
    assert tones(*audio.read_wav(path)) == [700, 200, 400, 500]


def test_a_layout_that_there_is_not(session):
    child = session.start([PW_SCSYNTH, "-u", free_port(), "--set", "layout=5.2"], "pw-scsynth")
    assert child.wait(10) != 0
    assert 'scsynth.layout = "5.2": expected mono, stereo, ' in child.output()
    assert session.node(NODE) is None


NAMES = ("--set", "port-names=d1 L; d1 R; d2 L", "-o", 4, "-i", 1)
NAMED = ["d1 L", "d1 R", "d2 L", "out_4"]


@pytest.mark.parametrize("place", [[], ["--client"]], ids=["daemon", "client"])
def test_outputs_with_names_are_linked_and_heard(session, tmp_path, place):
    port = free_port()
    start_program(session, port, *place, *NAMES)
    play_tones(port, 4)
    linked(session, zip(NAMED, SOUND_CARD.split()))
    assert heard(session, tmp_path) == {"FL": 200, "FR": 300, "RL": 400, "RR": 500, "FC": 0, "LFE": 0}
    assert session.ports(NODE, "out") == NAMED
    assert "in_1" in session.ports(NODE, "in")


def test_a_link_of_a_named_output_that_the_user_removes_stays_away(session):
    port = free_port()
    start_program(session, port, *NAMES)
    play_tones(port, 1)
    linked(session, zip(NAMED, SOUND_CARD.split()))
    session.run("pw-link", "-d", f"{NODE}:d1 R", "test-sink:playback_FR")
    rest = [("d1 L", "FL"), ("d2 L", "RL"), ("out_4", "RR")]
    linked(session, rest)
    state = session.dir / "state" / "wireplumber" / "scsynth-autoconnect"
    session.wait_until(lambda: state.exists() and f"{NODE}=" in state.read_text(), "the policy's memory")
    assert state.read_text().split(f"{NODE}=")[1].split()[1:] == ["out_2"]
    session.wireplumber.stop()
    linked(session, [])
    session.start_wireplumber()
    linked(session, rest)


def test_clients_of_jack_know_them_by_name(session):
    port = free_port()
    start_program(session, port, *NAMES, "--set", "autoconnect=false")
    session.wait_node(NODE)
    listed = session.run("pw-jack", "jack_lsp").splitlines()
    assert {f"{NODE}:{name}" for name in NAMED} <= set(listed)
    session.run("pw-jack", "jack_connect", f"{NODE}:d2 L", "test-sink:playback_LFE")
    linked(session, [("d2 L", "LFE")])


def test_the_ports_that_a_variable_names_are_linked_in_their_order(session):
    port = free_port()
    start_program(session, port, *NAMES, SC_JACK_DEFAULT_OUTPUTS="test-sink:playback_RR,,test-sink:playback_FC")
    linked(session, [("d1 L", "RR"), ("d2 L", "FC")])
