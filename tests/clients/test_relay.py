# SPDX-License-Identifier: GPL-3.0-or-later
"""The relay passes packets on to a program that doesn't listen at once."""
import json
import os
import signal
import socket
import sys
import time

from tests.lib.build import ROOT
from tests.lib.osc import Message, encode
from tests.lib.ports import free_port
from tests.lib.process import Process

ECHO = """\
import socket, sys, time
time.sleep(1)
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", int(sys.argv[-1])))
while True:
    packet, address = server.recvfrom(65536)
    server.sendto(packet, address)
"""


def test_program_that_listens_late(tmp_path):
    log, port = tmp_path / "log.json", free_port()
    relay = Process([sys.executable, "-B", "-m", "tests.clients.relay", log, "--", sys.executable, "-c", ECHO, "-u", port],
                    dict(os.environ), tmp_path / "relay.log", cwd=ROOT)
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        client.settimeout(0.01)
        end = time.monotonic() + 20
        while not answered(client) and time.monotonic() < end:
            for _ in range(20):
                client.sendto(encode(Message("/status")), ("127.0.0.1", port))
        os.kill(relay.pid, signal.SIGTERM)
        relay.wait(10)
    finally:
        client.close()
        relay.stop()
    assert json.loads(log.read_text())["answers"]["/status"] > 0


def answered(client):
    try:
        return client.recv(65536)
    except TimeoutError:
        return b""
