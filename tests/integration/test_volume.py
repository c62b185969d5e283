# SPDX-License-Identifier: GPL-3.0-or-later
"""Volume and mute of a server that our policy has linked: by pw-cli, by WirePlumber's wpctl, and by what programs for
PulseAudio, such as pavucontrol and the desktops' settings, ask of pipewire-pulse."""
import numpy as np
import pytest

from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, pulse, wireplumber
from tests.lib.build import PW_SCSYNTH
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.recording import Recording
from tests.lib.server import NODE, NodeServer

pytestmark = pytest.mark.usefixtures("ours")
LINKS = [(f"{NODE}:out_1", "test-sink:playback_FL"), (f"{NODE}:out_2", "test-sink:playback_FR")]
AMP = 0.2
STEEPEST = 2 * np.pi * 440 / 48000  # of a sine of amplitude 1, from one frame to the next


@pytest.fixture
def session():
    with Session(policy=True) as session:
        session.force_quantum(1024)
        yield session
        assert session.daemon.running(), session.logs()


def play(port):
    with Client(port) as client:
        client.wait_ready()
        client.command("/notify", 1)
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.request("/s_new", "test_sine", 1000, 0, 0, "freq", 440.0, "amp", AMP, reply="/n_go")
        client.command("/notify", 0)


def linked(session):
    session.wait_until(lambda: [link for link in session.links() if link[0].startswith(NODE)] == LINKS, "the links")


@pytest.fixture
def server(session):
    """One that plays a sine, linked by the policy. Returns its id."""
    play(NodeServer(session, free_port()).port)
    linked(session)
    return session.node(NODE)["id"]


def record(session, folder, seconds=0.4, action=lambda: None):
    with Recording(session, folder / "heard.wav") as recording:
        recording.wait(0.1)
        action()
        recording.wait(seconds)
    return audio.read_wav(recording.path)[0]


def gains(samples, frames=9600):
    """Of the last frames, one a channel."""
    return [audio.rms(channel[-frames:]) * np.sqrt(2) / AMP for channel in samples.T]


def has_no_click(samples):
    for channel in samples.T:
        # Where the volume changes, by at most 1 in 10 ms, the sine is a little steeper.
        assert np.abs(np.diff(channel)).max() < AMP * (STEEPEST + 1 / 480) * 1.01


def wpctl(session, *words):
    return session.run("wpctl", *words).strip()


def test_pw_cli_sets_volume_and_mute(session, server, tmp_path):
    def set_props(words):
        return lambda: session.pw_cli("set-param", server, "Props", words)

    assert gains(record(session, tmp_path)) == pytest.approx([1, 1], rel=0.01)
    samples = record(session, tmp_path, action=set_props("{ volume: 0.5 }"))
    has_no_click(samples)
    assert gains(samples) == pytest.approx([0.5, 0.5], rel=0.01)
    samples = record(session, tmp_path, action=set_props("{ channelVolumes: [ 0.5, 1.0 ] }"))
    assert gains(samples) == pytest.approx([0.5, 1.0], rel=0.01)
    samples = record(session, tmp_path, action=set_props("{ mute: true }"))
    has_no_click(samples)
    assert gains(samples) == [0, 0]
    samples = record(session, tmp_path, action=set_props("{ channelVolumes: [ 1.0 ], mute: false }"))
    has_no_click(samples)
    assert gains(samples) == pytest.approx([1, 1], rel=0.01)
    linked(session)


def test_what_is_no_volume_is_not_taken(session, server):
    def props():
        return session.node(NODE)["info"]["params"]["Props"][0]

    before = props()
    for words in ("{ volume: -1.0 }", "{ volume: 11.0 }", "{ mute: true, channelVolumes: [ -0.5, 1.0 ] }"):
        session.pw_cli("set-param", server, "Props", words)
        assert props() == before
    session.pw_cli("set-param", server, "Props", "{ mute: true, channelVolumes: [ 0.5, 1.0 ] }")
    assert props() == before | {"mute": True, "channelVolumes": [0.5, 1.0]}


def test_wpctl_sets_volume_and_mute(session, server, tmp_path):
    assert wpctl(session, "get-volume", server) == "Volume: 1.00"
    samples = record(session, tmp_path, action=lambda: wpctl(session, "set-volume", server, "0.5"))
    has_no_click(samples)
    assert gains(samples) == pytest.approx([0.125, 0.125], rel=0.01)  # its scale is cubic
    assert wpctl(session, "get-volume", server) == "Volume: 0.50"
    samples = record(session, tmp_path, action=lambda: wpctl(session, "set-mute", server, "1"))
    has_no_click(samples)
    assert gains(samples) == [0, 0]
    assert wpctl(session, "get-volume", server) == "Volume: 0.50 [MUTED]"
    samples = record(session, tmp_path, action=lambda: wpctl(session, "set-mute", server, "toggle"))
    assert gains(samples) == pytest.approx([0.125, 0.125], rel=0.01)
    assert NODE in wpctl(session, "status").split("Streams:")[1]
    linked(session)


def test_a_server_in_a_process_of_its_own(session, tmp_path):
    port = free_port()
    program = session.start([PW_SCSYNTH, "-u", port, "--client"], "pw-scsynth")
    program.wait_output("server ready.\n")
    node = session.wait_node(f"{NODE}-{port}")["id"]
    play(port)
    session.wait_until(lambda: len(session.links()) >= 2, "its links")
    samples = record(session, tmp_path, action=lambda: wpctl(session, "set-volume", node, "0.5"))
    assert gains(samples) == pytest.approx([0.125, 0.125], rel=0.01)
    assert wpctl(session, "get-volume", node) == "Volume: 0.50"


def test_programs_for_pulseaudio_list_and_set_it(session, server, tmp_path):
    listed = pulse.start(session, tmp_path)
    stream, = session.wait_until(listed, "a stream")
    assert stream["properties"]["node.name"] == NODE
    assert stream["sample_specification"] == "float32le 2ch 48000Hz"
    assert stream["channel_map"] == "front-left,front-right"
    number = stream["index"]
    samples = record(session, tmp_path,
                     action=lambda: session.run("pactl", "set-sink-input-volume", number, "50%"))
    has_no_click(samples)
    assert gains(samples) == pytest.approx([0.125, 0.125], rel=0.01)
    session.run("pactl", "set-sink-input-mute", number, "1")
    assert gains(record(session, tmp_path)) == [0, 0]
    muted, = listed()
    assert muted["mute"] is True
    assert muted["volume"]["front-left"]["value_percent"] == "50%"
    assert wpctl(session, "get-volume", server) == "Volume: 0.50 [MUTED]"


def test_the_volume_is_remembered_as_other_programs_is(session):
    port = free_port()

    def volume():
        return wpctl(session, "get-volume", session.node(NODE)["id"])

    server = NodeServer(session, port)
    linked(session)
    wpctl(session, "set-volume", session.node(NODE)["id"], "0.5")
    wait_for(lambda: volume() == "Volume: 0.50", "the volume")
    server.stop()
    server = NodeServer(session, port)
    wait_for(lambda: volume() == "Volume: 0.50", "the volume from before")
    server.stop()
    # It belongs to the port.
    server = NodeServer(session, free_port())
    linked(session)
    assert volume() == "Volume: 1.00"
    server.stop()
    if wireplumber.reads_lua():
        return  # 0.4 restores it whatever the node says
    server = NodeServer(session, port, {"volume": 0.7})
    linked(session)
    assert volume() == "Volume: 0.89"  # the cubic root of the factor
    props, = session.node(NODE)["info"]["params"]["Props"]
    assert props["channelVolumes"] == pytest.approx([0.7, 0.7])
