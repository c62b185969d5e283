# SPDX-License-Identifier: GPL-3.0-or-later
"""pw-scsynth when the PipeWire daemon ends and comes back."""
import os
import signal
import socket
from pathlib import Path

import pytest

from tests.cli.conftest import PW_SCSYNTH, Program
from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, sclang
from tests.lib.build import ROOT
from tests.lib.daemon import Session
from tests.lib.osc import Client, NoReply
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.recording import Recording

SCRIPT = Path(__file__).with_name("restart.scd")
PLACES = pytest.mark.parametrize("place", [(), ("--client",)], ids=["daemon", "client"])
GONE = "pw-scsynth: PipeWire is gone; waiting for it\n"
BACK = "PipeWire is back: SuperCollider 3 server ready.\n"
AGAIN_AND_AGAIN = "the PipeWire daemon has ended 3 times right after the server's start"


@pytest.fixture
def session():
    """A session of the test's own, with the policy."""
    with Session(policy=True) as session:
        session.force_quantum(1024)
        yield session


@pytest.fixture
def bare():
    """PipeWire alone."""
    with Session(wireplumber=False, sinks={}) as session:
        yield session


def wait_back(server, times=1):
    """Until the server is back for that many times; its output."""
    wait_for(lambda: server.child.output().count(BACK) == times or not server.child.running(), "the server's return")
    output = server.child.output()
    assert server.child.running() and output.count(BACK) == times, output
    return output


@PLACES
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_the_server_comes_back_with_the_daemon(session, tmp_path, place, number):
    server = Program(session, "-i", 0, "-o", 2, "-l", 4, *place)
    with Client(server.port) as client:
        client.command("/notify", 1)
        client.request("/g_new", 1000, 0, 0, reply="/n_go")
        session.stop_daemons(number)
        server.child.wait_output(GONE)
        with pytest.raises(NoReply):
            client.request("/status", reply="/status.reply", timeout=0.3)
        session.start_daemons()
        output = wait_back(server)
        assert output.count(GONE) == 1 and "ERROR" not in output, output
        assert session.ports(server.name) == ["control_1", "out_1", "out_2"]
        # A fresh server: no login, no node but the root.
        assert client.status()[3] == 1
        assert client.command("/notify", 1).args[1:] == [0, 4]
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.request("/s_new", "test_sine", 1000, 0, 0, "freq", 440.0, "amp", 0.2, reply="/n_go")
        session.wait_until(lambda: len(session.links()) == 2, "two links")
        session.force_quantum(1024)
        with Recording(session, tmp_path / "heard.wav") as recording:
            recording.wait(0.5)
        heard = audio.read_wav(recording.path)[0][:, 0]
        assert audio.frequency(heard[-16384:], 48000) == pytest.approx(440, abs=4)
        # What it prints comes through the relay once more.
        client.send("/n_free", 4712)
        server.child.wait_output("FAILURE IN SERVER /n_free Node 4712 not found\n")
        client.command("/quit")
    assert server.ended()[0] == 0
    session.wait_gone(server.name)


@PLACES
def test_it_keeps_the_port_that_it_has_found(bare, place):
    child = bare.start([PW_SCSYNTH, "-u", 0, *place], "pw-scsynth")
    port = int(child.wait_output("ready.").split("port ")[1].split()[0])
    bare.stop_daemons()
    child.wait_output(GONE)
    bare.start_daemons()
    assert child.wait_output(BACK).count("port ") == 1
    with Client(port) as client:
        client.status()


def test_it_waits_a_moment_for_its_port(bare):
    """Whatever held the port when the daemon came back may need a moment to end, as the former daemon may."""
    server = Program(bare)
    bare.stop_daemons()
    server.child.wait_output(GONE)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", server.port))
        bare.start_daemons()
        wait_for(lambda: "pw-scsynth" in bare.run("pw-cli", "ls", "Client"), "the new connection")
    wait_back(server)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_it_while_it_waits(bare, number):
    server = Program(bare)
    bare.stop_daemons()
    server.child.wait_output(GONE)
    os.kill(server.child.pid, number)
    status, output = server.ended()
    assert status == 0 and "ERROR" not in output, output


def test_it_gives_up_when_the_daemon_does_not_survive_it(bare):
    """Otherwise a server that crashes the daemon would do so for ever."""
    server = Program(bare)
    for times in (1, 2):
        bare.stop_daemons(signal.SIGKILL)
        bare.start_daemons()
        wait_back(server, times)
    bare.stop_daemons(signal.SIGKILL)
    status, output = server.ended()
    assert status == 1 and AGAIN_AND_AGAIN in output, output


def test_a_lost_connection_leaves_nothing_behind(bare):
    """Descriptors and threads are as many after a second return as after the first."""
    def held(pid):
        return len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))

    server = Program(bare, "--client")
    counts = []
    for times in (1, 2):
        bare.stop_daemons()
        bare.start_daemons()
        wait_back(server, times)
        with Client(server.port) as client:
            client.sync()
        counts.append(held(server.child.pid))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("classes", ["ours", "stock"])
def test_sclang(session, tmp_path, classes):
    """With our classes it goes on with the new server by itself, as after a boot; without them, by s.reboot."""
    port = free_port()
    child = sclang.start(SCRIPT, port, classes, PW_SCSYNTH, folder=tmp_path, env=session.env,
                         classes=[ROOT / "sclang/PipeWireServer"] if classes == "ours" else [])
    try:
        child.wait_output("STEP booted 1")
        session.stop_daemons(signal.SIGKILL)
        child.wait_output("STEP unresponsive true")
        session.start_daemons()
        output = sclang.finish(child)
    finally:
        child.stop()
    steps = sclang.steps(output)
    assert {steps.pop(name) for name in list(steps) if name not in ("booted", "quits")} == {"true"}, output
    assert steps == {"booted": "1", "quits": "1"}, output
    assert output.count("exited with exit code 0") == (1 if classes == "ours" else 2), output
    session.wait_gone(f"scsynth-{port}")
