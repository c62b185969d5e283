# SPDX-License-Identifier: GPL-3.0-or-later
"""Ports on the loopback interface."""
import random
import socket
from pathlib import Path

_CHOSEN = range(20000, 32768)  # below those that systems give to sockets that ask for none


def free_port():
    """A port free for both UDP and TCP at this moment, and in which no killed server left its shared memory. It is
    random, so that tests that run at the same time choose others."""
    while True:
        port = random.SystemRandom().choice(_CHOSEN)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, \
                socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
            try:
                udp.bind(("127.0.0.1", port))
                tcp.bind(("127.0.0.1", port))
            except OSError:
                continue
        if not Path(f"/dev/shm/SuperColliderServer_{port}").exists():
            return port


def only_loopback():
    """Whether no other interface of this network has a route or an address."""
    routes = Path("/proc/net/route").read_text().splitlines()[1:]
    addresses = Path("/proc/net/if_inet6").read_text().splitlines()
    interfaces = {line.split()[0] for line in routes} | {line.split()[-1] for line in addresses}
    return interfaces <= {"lo"}
