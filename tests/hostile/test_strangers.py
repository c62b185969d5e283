# SPDX-License-Identifier: GPL-3.0-or-later
"""Another user of the machine, or a sandbox of the same user, sends to the server: nothing happens, nothing is answered,
and it is counted."""
import os
import struct
import subprocess
import sys

import pytest

from tests.lib.osc import Message, encode
from tests.lib.process import wait_for

NOBODY = 65534
SENDER = """
import socket, sys
kind, port = sys.argv[1], int(sys.argv[2])
packets = [bytes.fromhex(line) for line in sys.stdin]
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
sock.settimeout(1)
sock.connect(("127.0.0.1", port))
try:
    for packet in packets:
        sock.send(packet)
    print(len(sock.recv(1000)))
except (TimeoutError, ConnectionError):
    print(0)
"""

pytestmark = [pytest.mark.usefixtures("survived"),
              pytest.mark.skipif(os.geteuid() != 0, reason="only root can send as another user")]


def send_as(user, kind, port, *packets):
    """How many bytes the answer had."""
    done = subprocess.run([sys.executable, "-I", "-c", SENDER, kind, str(port)], user=user, group=user,
                          extra_groups=[], cwd="/", input="\n".join(packet.hex() for packet in packets), text=True,
                          capture_output=True, check=True)
    return int(done.stdout)


def send_from_sandbox(kind, port, *packets):
    """As send_as(), but as this user, in a mount namespace of its own."""
    done = subprocess.run(["unshare", "--mount", sys.executable, "-I", "-c", SENDER, kind, str(port)], cwd="/",
                          input="\n".join(packet.hex() for packet in packets), text=True, capture_output=True, check=True)
    return int(done.stdout)


def refused(victim):
    return victim.counters()["refused"]


@pytest.mark.parametrize("kind", ("udp", "tcp"))
def test_a_stranger(victim, kind):
    client, path = victim.client, victim.folder / f"stolen-{kind}.wav"
    client.command("/b_alloc", 1, 100)
    client.send("/b_setn", 1, 0, 1, 0.5)
    packets = [encode(Message("/b_setn", 1, 0, 1, 0.25)), encode(Message("/b_write", 1, str(path), "wav", "int16")),
               encode(Message("/status"))]
    before = refused(victim)
    if kind == "tcp":
        packets = [b"".join(struct.pack(">i", len(packet)) + packet for packet in packets)]
    assert send_as(NOBODY, kind, victim.server.port, *packets) == 0
    wait_for(lambda: refused(victim) == before + len(packets), "the refused packets to be counted")
    client.sync()
    assert client.request("/b_getn", 1, 0, 1, reply="/b_setn").args[3] == 0.5
    assert not path.exists()


def test_the_owner_by_the_same_means(victim):
    """What the stranger does is right but for the user."""
    status = encode(Message("/status"))
    before = refused(victim)
    assert send_as(0, "udp", victim.server.port, status) > 0
    assert send_as(0, "tcp", victim.server.port, struct.pack(">i", len(status)) + status) > 0
    assert refused(victim) == before


@pytest.mark.parametrize("kind", ("udp", "tcp"))
def test_a_sandbox(victim, kind):
    if subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode:
        pytest.skip("unshare --mount is not allowed here")
    client, path = victim.client, victim.folder / f"sandboxed-{kind}.wav"
    client.command("/b_alloc", 1, 100)
    packets = [encode(Message("/b_write", 1, str(path), "wav", "int16")), encode(Message("/status"))]
    before = refused(victim)
    if kind == "tcp":
        packets = [b"".join(struct.pack(">i", len(packet)) + packet for packet in packets)]
    assert send_from_sandbox(kind, victim.server.port, *packets) == 0
    wait_for(lambda: refused(victim) == before + len(packets), "the refused packets to be counted")
    client.sync()
    assert not path.exists()
