# SPDX-License-Identifier: GPL-3.0-or-later
"""A few packets that would take all memory or all descriptors, and bundles that wait for years."""
import os
import resource
import socket
import struct
import time

import pytest

from tests.hostile.conftest import BUFFERS
from tests.lib import server as servers
from tests.lib.daemon import Session
from tests.lib.osc import Bundle, Client, Failed, Message, TimeTag, encode
from tests.lib.ports import free_port
from tests.lib.process import wait_for

MOST_MIB = 768  # by which the daemon may grow, however much is sent
YEARS = 2 * 365 * 86400


pytestmark = pytest.mark.usefixtures("survived")


def resident_mib(victim):
    """Memory of the daemon."""
    with open(f"/proc/{victim.session.daemon.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS:"))


def later(messages):
    return encode(Bundle(TimeTag.from_unix(time.time() + YEARS), messages))


def assert_bounded(victim, send, packets):
    """Check that memory is bounded while `send()` sends packets, and that each is answered or refused."""
    before = resident_mib(victim)
    for _ in range(packets):
        send()
        victim.client.status()
        assert resident_mib(victim) - before < MOST_MIB
    victim.client.send("/clearSched")
    victim.client.sync(timeout=20)
    wait_for(lambda: resident_mib(victim) - before < MOST_MIB / 2, "the memory given back")


def test_room_for_replies(victim):
    """A packet of 56 kB asks for half a gigabyte of replies, in two years."""
    with victim.new_client() as client:
        packet = later([Message("/g_queryTree", 0, 0)] * 2000)
        assert_bounded(victim, lambda: client.send_bytes(packet), 30)


def test_room_for_replies_of_completions(victim):
    replies = encode(Bundle(1, [Message("/g_queryTree", 0, 0)] * 1500))
    with victim.new_client() as client:
        packet = later([Message("/b_alloc", 1, 64, 1, replies)])
        assert_bounded(victim, lambda: client.send_bytes(packet), 30)


def test_arguments(victim):
    """Each of a million takes one byte in the packet, and sixteen in memory."""
    packet = b"/n_set\0\0," + b"T" * 1_000_000 + b"\0" * 3
    packet = b"#bundle\0" + later([])[8:16] + struct.pack(">i", len(packet)) + packet
    with socket.create_connection(("127.0.0.1", victim.server.port)) as stream:
        assert_bounded(victim, lambda: stream.sendall(struct.pack(">i", len(packet)) + packet), 100)


def test_bundles_in_years_leave_room_for_now(victim):
    """They can be cleared, over UDP and TCP."""
    with victim.new_client() as client:
        for number in range(8192 + 100):
            client.send_bytes(later([Message("/n_free", 77)]))
            if number % 50 == 0:
                try:
                    client.sync()
                except Failed:
                    pass  # a bundle was refused
        client.collect_into_inbox(0.2)
        assert [m.args for m in client.inbox if m.address == "/fail"][-1] == ["/n_free", "command queue full"]
        client.inbox.clear()
        with socket.create_connection(("127.0.0.1", victim.server.port), timeout=20) as stream:
            packet = encode(Message("/sync", 5))
            stream.sendall(struct.pack(">i", len(packet)) + packet)
            assert b"/synced" in stream.recv(100)
        client.sync()
        client.send("/clearSched")
        client.sync()
        client.send_bytes(later([Message("/n_free", 77)]))
        client.sync()
        assert not [m for m in client.inbox if m.address == "/fail"]


def test_a_daemon_that_may_have_no_more_memory():
    """Only the packet that it can't hold is lost."""
    if servers.is_stock():
        pytest.skip("it is about our node")
    # A daemon of its own: the heap of another one may still have enough memory from earlier.
    with Session() as session:
        server = servers.NodeServer(session, free_port(), {"load-synthdefs": "false"})
        session.connect(server.node_name, "test-sink")
        pid = session.daemon.pid
        before = resource.prlimit(pid, resource.RLIMIT_AS)
        with open(f"/proc/{pid}/statm", encoding="ascii") as pages:
            now = int(pages.read().split()[0]) * resource.getpagesize()
        resource.prlimit(pid, resource.RLIMIT_AS, (now + (20 << 20), before[1]))
        with Client(server.port) as client:
            for lost in range(1, 11):
                client.send_bytes(encode(Bundle(1, [Message("/g_queryTree", 0, 0)] * 2000)))
                wait_for(lambda lost=lost: session.daemon.output().count("out of memory") >= lost, "the loss")
                client.sync(timeout=20)
            resource.prlimit(pid, resource.RLIMIT_AS, before)
            client.send_bytes(encode(Bundle(1, [Message("/g_queryTree", 0, 0)] * 10)))
            assert client.wait("/g_queryTree.reply").args == [0, 0, 0]
        server.stop()
        assert session.daemon.running(), session.logs()


def test_descriptors_are_left_for_others():
    """With many connections and files left open, the daemon still accepts its own clients."""
    if servers.is_stock():
        pytest.skip("it is about our node")
    with Session() as session:
        session.force_quantum(64)
        server = servers.NodeServer(session, free_port(), {"load-synthdefs": "false", "buffers": BUFFERS})
        session.connect(server.node_name, "test-sink")
        resource.prlimit(session.daemon.pid, resource.RLIMIT_NOFILE, (256, 256))
        path = str(session.dir / "a.wav")
        refused = 0
        with Client(server.port) as client:
            client.command("/b_alloc", 0, 100, 1)
            client.command("/b_write", 0, path, "wav", "float")
            streams = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
            for buffer in range(1, BUFFERS):
                client.command("/b_alloc", buffer, 10, 1)
                try:
                    client.command("/b_read", buffer, path, 0, -1, 0, 1)
                except Failed:
                    refused += 1
            assert refused > 0
            assert len(os.listdir(f"/proc/{session.daemon.pid}/fd")) < 256 - 32
            assert "PipeWire:Interface:Core" in session.pw_cli("info", "0")
            for stream in streams:
                stream.close()
        server.stop()
