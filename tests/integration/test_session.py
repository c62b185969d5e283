# SPDX-License-Identifier: GPL-3.0-or-later
"""A playing node while the session around it changes: WirePlumber restarts, default devices come and go, nodes are
suspended, the daemon is stopped for a while."""
import json
import os
import signal
import time

import pytest

from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio
from tests.lib.build import PW_SCSYNTH
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import resident_kib, wait_for
from tests.lib.recording import Recording
from tests.lib.server import NODE, NodeServer

pytestmark = pytest.mark.usefixtures("ours")
SINKS = ("test-sink", "second-sink")


@pytest.fixture
def session():
    """A session with the policy and two sinks. One arena: with several, the daemon grows whenever another is used."""
    with Session(policy=True, sinks=dict.fromkeys(SINKS, 2), env={"MALLOC_ARENA_MAX": "1"}) as session:
        session.force_quantum(1024)
        yield session
        assert session.daemon.running(), session.logs()


class Player(Client):
    """A client that knows the name of its server's node."""

    def __init__(self, port, node):
        super().__init__(port)
        self.node = node


@pytest.fixture(params=["daemon", "client"])
def client(session, request):
    """A client of a server that plays a sine on both channels, in the daemon or in a process of its own."""
    port = free_port()
    if request.param == "daemon":
        node = NodeServer(session, port).node_name
    else:
        program = session.start([PW_SCSYNTH, "--client", "-u", port], "pw-scsynth")
        program.wait_output("SuperCollider 3 server ready.\n")
        node = f"scsynth-{port}"
    with Player(port, node) as client:
        client.command("/notify", 1)
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.request("/s_new", "test_sine", 1000, 0, 0, "freq", 440.0, "amp", 0.2, reply="/n_go")
        yield client


def links_to(sink, node=NODE):
    return [(f"{node}:out_{number}", f"{sink}:playback_{channel}") for number, channel in ((1, "FL"), (2, "FR"))]


def own_links(session, node=NODE):
    """All of the outputs; a link that is there twice is there twice."""
    return [link for link in session.links() if link[0].startswith(f"{node}:out_")]


def linked_to(session, sink, node=NODE):
    session.wait_until(lambda: own_links(session, node) == links_to(sink, node), f"links to {sink} alone")


def is_heard(session, folder, sink):
    """The sine without a gap, on both channels."""
    with Recording(session, folder / "heard.wav", node=sink) as recording:
        recording.wait(0.5)
    for channel in audio.read_wav(recording.path)[0][-16384:, :2].T:
        assert audio.frequency(channel, 48000) == pytest.approx(440, abs=4)
        # A gap, or a leap of the phase, would be steeper than the sine.
        assert abs(channel[1:] - channel[:-1]).max() < 0.2 * 2 * 3.1416 * 440 / 48000 * 1.1


def heard(session, folder, sink):
    try:
        is_heard(session, folder, sink)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_wireplumber_restarts(session, client, tmp_path, number):
    linked_to(session, session.default_sink(), client.node)
    for _ in range(2):
        os.kill(session.wireplumber.pid, number)
        session.wireplumber.wait(10)
        # Its links have gone with it, as those of all streams do; the server plays on unheard.
        session.wait_until(lambda: own_links(session, client.node) == [], "the end of the links")
        assert client.status()[2] == 1
        session.start_wireplumber()
        # Both sinks are as good, so it may choose the other one now.
        session.wait_until(lambda: own_links(session, client.node) == links_to(session.default_sink(), client.node), "links")
    # It may still change its mind about the sink.
    session.wait_until(lambda: heard(session, tmp_path, session.default_sink()), "the sine at the default sink")


def toggle(session, times):
    """Change the default sink ten times a second; the last one."""
    for number in range(times):
        sink = SINKS[number % 2]
        began = time.monotonic()
        session.run("pw-metadata", "0", "default.configured.audio.sink", json.dumps({"name": sink}), "Spa:String:JSON")
        time.sleep(max(0.0, began + 0.1 - time.monotonic()))
    return sink


def test_a_default_sink_that_changes_ten_times_a_second(session, client, tmp_path):
    linked_to(session, session.default_sink(), client.node)
    linked_to(session, toggle(session, 20), client.node)
    session.wait_until(lambda: len(session.links()) == 2, "no other links")
    objects = len(session.pw_dump())
    daemon, policy = (resident_kib(process.pid) for process in (session.daemon, session.wireplumber))
    sink = toggle(session, 50)
    linked_to(session, sink, client.node)
    session.wait_until(lambda: len(session.pw_dump()) == objects, f"{objects} objects as before")
    assert resident_kib(session.daemon.pid) - daemon < 256
    assert resident_kib(session.wireplumber.pid) - policy < 2048
    is_heard(session, tmp_path, sink)
    assert client.status()[2] == 1


@pytest.mark.parametrize("which", ["node", "sink"])
def test_suspended_while_it_plays(session, client, tmp_path, which):
    sink = session.default_sink()
    linked_to(session, sink, client.node)
    name = client.node if which == "node" else sink
    for _ in range(3):
        session.pw_cli("send-command", session.node(name)["id"], "Suspend", "{}")
        # Commands are carried out all the same.
        client.request("/s_new", "test_sine", 1001, 0, 0, "amp", 0.0, reply="/n_go")
        client.request("/n_free", 1001, reply="/n_end")
    # PipeWire 0.3.65 may leave the second link paused, whatever plays there. The policy makes it anew.
    session.wait_until(lambda: heard(session, tmp_path, sink), "the sine")
    assert session.node(client.node)["info"]["state"] == "running"
    assert own_links(session, client.node) == links_to(sink, client.node)


def test_a_daemon_that_is_stopped_for_a_while(session, client, tmp_path):
    """As by a debugger, or with the machine."""
    sink = session.default_sink()
    linked_to(session, sink, client.node)
    os.kill(session.daemon.pid, signal.SIGSTOP)
    time.sleep(3)
    os.kill(session.daemon.pid, signal.SIGCONT)
    wait_for(lambda: client.status()[2] == 1, "an answer")
    is_heard(session, tmp_path, sink)
    # Bundles are on time again at once.
    late = session.node(client.node)["info"]["props"]["scsynth.late"]
    client.send_at(time.time() + 0.2, ("/n_set", 1000, "amp", 0.1), ("/sync", 77))
    client.wait("/synced", where=lambda args: args == [77])
    client.sync()
    assert session.node(client.node)["info"]["props"]["scsynth.late"] == late


def test_without_synths_the_sink_sleeps_until_one_is_made(session, tmp_path):
    server = NodeServer(session, free_port(), {"idle-after": "1"})
    sink = session.default_sink()

    def state():
        return session.node(sink)["info"]["state"]

    with Client(server.port) as client:
        client.command("/d_loadDir", str(SYNTHDEFS))
        session.wait_until(lambda: not own_links(session) and state() == "suspended", "the sink's sleep", timeout=30)
        # Clients that only look don't wake it.
        client.status()
        client.sync()
        assert state() == "suspended"
        sent = time.monotonic()
        client.send("/s_new", "test_sine", 1000, 0, 0, "freq", 440.0, "amp", 0.2)
        wait_for(lambda: state() == "running", "the sink's awakening", interval=0.01)
        print(f"the sink runs {time.monotonic() - sent:.3f} s after /s_new")
        linked_to(session, sink)
        is_heard(session, tmp_path, sink)
        client.send("/g_freeAll", 0)
        session.wait_until(lambda: not own_links(session), "an idle server's links to go", timeout=30)
