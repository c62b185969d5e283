# SPDX-License-Identifier: GPL-3.0-or-later
"""Forty TCP clients ask for far more than they read, and vanish: the others are answered meanwhile and afterwards, and
the server gives the connections back."""
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.lib.osc import Message, encode
from tests.lib.process import wait_for

CROWD = 40
SECONDS = 2
PATIENCE = 2.0  # s for one answer; with 40 requests of each queued before it, it took more than 5
ROUNDS = 5
GREEDY = """
import os, socket, sys, time
port, crowd, seconds = map(int, sys.argv[1:4])
request = bytes.fromhex(sys.argv[4]) * 8
clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(crowd)]
for client in clients:
    client.setblocking(False)
end = time.monotonic() + seconds
while time.monotonic() < end:
    for client in clients:
        try:
            client.send(request)
        except OSError:
            pass
os._exit(0)
"""

pytestmark = pytest.mark.usefixtures("survived")


def frame(message):
    data = encode(message)
    return struct.pack(">i", len(data)) + data


def connections(victim):
    """The server's ends that the kernel has and the server hasn't closed: its local port, established or half closed."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(int(row[1].rpartition(":")[2], 16) == victim.server.port and row[3] in ("01", "08") for row in rows)


def assert_answers(victim):
    victim.client.sync(timeout=PATIENCE)
    with socket.create_connection(("127.0.0.1", victim.server.port), timeout=PATIENCE) as stream:
        stream.sendall(frame(Message("/sync", 7)))
        assert b"/synced" in stream.recv(100)


def test_others_are_served(victim):
    port = str(victim.server.port)
    request = frame(Message("/c_getn", 0, 4000)).hex()
    crowd = subprocess.Popen([sys.executable, "-I", "-c", GREEDY, port, str(CROWD), str(SECONDS), request])
    try:
        wait_for(lambda: connections(victim) >= CROWD, "the crowd's connections")
        while crowd.poll() is None:
            assert_answers(victim)
            time.sleep(0.05)
    finally:
        crowd.kill()
        crowd.wait()
    assert crowd.returncode == 0
    for _ in range(ROUNDS):
        assert_answers(victim)
    wait_for(lambda: connections(victim) == 0, "the end of the crowd's connections", timeout=10)
