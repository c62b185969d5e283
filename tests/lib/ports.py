# SPDX-License-Identifier: GPL-3.0-or-later
"""Free ports on the loopback interface."""
import socket


def free_port():
    """A port free for both UDP and TCP at this moment."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, \
                socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
            udp.bind(("127.0.0.1", 0))
            port = udp.getsockname()[1]
            try:
                tcp.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
