# SPDX-License-Identifier: GPL-3.0-or-later
"""Free ports on the loopback interface."""
import socket
from pathlib import Path
from pathlib import Path


def free_port():
    """A port free for both UDP and TCP at this moment, and in which no killed server left its shared
    memory."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, \
                socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
            udp.bind(("127.0.0.1", 0))
            port = udp.getsockname()[1]
            try:
                tcp.bind(("127.0.0.1", port))
            except OSError:
                continue
        if not Path(f"/dev/shm/SuperColliderServer_{port}").exists():
            return port
