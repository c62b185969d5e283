# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in for a server."""
import socket
import threading

from tests.lib.osc import decode


class Answering:
    """A port where each packet is answered by what `answer(message)` returns, if that is anything."""

    def __init__(self, answer):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._answer = answer
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            end.sendto(b"", ("127.0.0.1", self.port))
        self._thread.join()
        self._socket.close()

    def _serve(self):
        while True:
            packet, sender = self._socket.recvfrom(65536)
            if not packet:
                return
            if (answer := self._answer(decode(packet))) is not None:
                self._socket.sendto(answer, sender)
