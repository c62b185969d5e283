# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that send to a server and wait for an answer, as another user or in a sandbox."""
import struct
import subprocess
import sys

SENDER = """
import socket, sys
kind, to = sys.argv[1:]
packets = [bytes.fromhex(line) for line in sys.stdin]
sock = socket.socket(socket.AF_UNIX if kind == "unix" else socket.AF_INET,
                     socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
sock.settimeout(1)
sock.connect(to if kind == "unix" else ("127.0.0.1", int(to)))
try:
    for packet in packets:
        sock.send(packet)
    print(len(sock.recv(1000)))
except (TimeoutError, ConnectionError):
    print(0)
"""


def packed(kind, packets):
    """As they are sent: one by one by UDP, else all as one stream."""
    if kind == "udp":
        return packets
    return [b"".join(struct.pack(">i", len(packet)) + packet for packet in packets)]


def answered_bytes(kind, to, packets, wrapper=(), **options):
    """How many bytes the answer to these packets had, which a program sends by "udp", "tcp" or "unix" to a port or a
    path; `wrapper` is the command that runs it."""
    done = subprocess.run([*wrapper, sys.executable, "-I", "-c", SENDER, kind, str(to)], cwd="/", text=True, check=True,
                          input="\n".join(packet.hex() for packet in packed(kind, packets)), capture_output=True,
                          **options)
    return int(done.stdout)
