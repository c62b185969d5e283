# SPDX-License-Identifier: GPL-3.0-or-later
"""The segment by which local clients read control buses and scopes without messages."""
import os
import signal
from pathlib import Path

import pytest

from tests.lib import sclang
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.server import NodeServer

SCRIPT = Path(__file__).with_name("shared-memory.scd")


def segment(port):
    return Path(f"/dev/shm/SuperColliderServer_{port}")


def numbers(array):
    """Those of an array, which each sclang prints with other blanks."""
    return [float(number) for number in array.strip("[] ").split(",")]


def steps_of_sclang(server, folder):
    return sclang.steps(sclang.run(SCRIPT, server.port, folder=folder, env=server.session.env))


@pytest.fixture(scope="module")
def steps(playing, tmp_path_factory):
    return steps_of_sclang(playing, tmp_path_factory.mktemp("sclang"))


def test_sclang_opens_it(steps):
    assert steps["connected"] == "true"


def test_sclang_reads_what_was_set_and_what_a_synth_writes(steps):
    assert float(steps["get"]) == 0.75
    assert numbers(steps["getn"]) == [0.75, -0.5]
    assert float(steps["written"]) == 0.125


def test_the_server_sees_what_sclang_sets(steps):
    assert numbers(steps["set"]) == [0.25, -0.5]


def test_sclang_scopes(steps):
    # Half of the height stands for amplitude 1, so 0.5 is drawn a quarter from the top.
    assert float(steps["scope0.5"]) == pytest.approx(0.25, abs=0.03)
    assert float(steps["scope-0.5"]) == pytest.approx(0.75, abs=0.03)


@pytest.mark.usefixtures("ours")
def test_each_server_has_its_own_which_goes_with_it(session):
    ports = [free_port(), free_port()]
    servers = [NodeServer(session, port, name=f"scsynth-{port}") for port in ports]
    assert all(segment(port).stat().st_size == 8 << 20 for port in ports)
    servers[0].stop()
    wait_for(lambda: not segment(ports[0]).exists(), "the segment to go")
    assert segment(ports[1]).exists()
    with Client(ports[1]) as client:
        client.command("/quit")
    wait_for(lambda: not segment(ports[1]).exists(), "the segment to go")


@pytest.mark.usefixtures("ours")
def test_it_can_be_left_out(session):
    port = free_port()
    NodeServer(session, port, {"shared-memory": "false"})
    assert not segment(port).exists()


@pytest.mark.usefixtures("ours")
def test_what_a_killed_daemon_left_is_replaced(session, tmp_path):
    port = free_port()
    with Session() as killed:
        NodeServer(killed, port)
        stale = segment(port).stat().st_ino
        os.kill(killed.daemon.pid, signal.SIGKILL)
        wait_for(lambda: not killed.daemon.running(), "the daemon to be gone")
    server = NodeServer(session, port)
    assert segment(port).stat().st_ino != stale
    steps = steps_of_sclang(server, tmp_path)
    assert float(steps["get"]) == 0.75


@pytest.mark.usefixtures("ours")
def test_what_a_killed_daemon_left_is_removed_by_a_server_at_another_port(session):
    """A living server's segment stays, and so does a scsynth's, which has no lock."""
    port, living, scsynth = free_port(), free_port(), free_port()
    with Session() as killed:
        NodeServer(killed, port)
        with Client(port) as client:
            client.wait_ready()
        assert segment(port).exists()
        os.kill(killed.daemon.pid, signal.SIGKILL)
        killed.wait_until(lambda: not killed.daemon.running(), "the end of the daemon")
    servers = [NodeServer(session, living, name="living")]
    wait_for(segment(living).exists, "the living server's segment")
    segment(scsynth).write_bytes(bytes(8 << 20))
    try:
        wait_for(lambda: not segment(port).exists(), "the end of what the killed one left")
        servers.append(NodeServer(session, free_port(), name="another"))
        with Client(servers[1].port) as client:
            client.wait_ready()
        assert segment(living).exists() and segment(scsynth).exists()
    finally:
        segment(scsynth).unlink()
        for server in servers:
            server.stop()


@pytest.mark.usefixtures("ours")
def test_a_server_that_cannot_have_it_goes_on_and_says_so(session):
    port = free_port()
    segment(port).mkdir()
    try:
        NodeServer(session, port)
        with Client(port) as client:
            client.command("/notify", 1)
        assert f"no shared memory for clients: {segment(port)}" in session.daemon.output()
    finally:
        segment(port).rmdir()
