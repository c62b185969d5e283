# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the place of a server's program and records its traffic: LOG -- PROGRAM [ARGUMENT ...]. It starts the program
with another port for -u and passes packets on between clients and the program. It writes to the log, as JSON, how often
each command was sent and each answer came, and every /fail."""
import json
import selectors
import signal
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

from examples.osc import Bundle, OscError, decode
from tests.lib.ports import free_port

LARGEST = 65536


class Relay:
    def __init__(self, log, command):
        self._log = Path(log)
        self._sent, self._answers, self._fails = Counter(), Counter(), []
        at = command.index("-u") + 1
        port, self._port = int(command[at]), free_port()
        self._selector = selectors.DefaultSelector()
        self._listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._listening.bind(("127.0.0.1", port))
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._clients = {}
        self._child = subprocess.Popen([*command[:at], str(self._port), *command[at + 1:]])

    def run(self):
        """Run until the program ends. Returns its exit status."""
        signal.signal(signal.SIGTERM, lambda *_: self._child.terminate())
        while self._child.poll() is None:
            self._pass_on(0.1)
        while self._pass_on(0): # what was sent just before it was ended
            pass
        self._write()
        return self._child.returncode

    def _pass_on(self, seconds):
        """Wait that long for packets; whether there were any."""
        found = self._selector.select(seconds)
        for key, _ in found:
            if key.data is None:
                packet, address = self._listening.recvfrom(LARGEST)
                self._note(packet, self._sent)
                self._pass(self._server_for(address), packet)
            else:
                self._answer(key.fileobj, key.data)
        return bool(found)

    def _answer(self, server, address):
        try:
            packet = server.recv(LARGEST)
        except (ConnectionRefusedError, BlockingIOError): # the program doesn't listen yet; _pass() was told so meanwhile
            return
        self._note(packet, self._answers)
        self._listening.sendto(packet, address)

    def _server_for(self, address):
        """A socket of its own for each client, so that the server tells them apart."""
        if address not in self._clients:
            server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            server.connect(("127.0.0.1", self._port))
            server.setblocking(False)
            self._selector.register(server, selectors.EVENT_READ, address)
            self._clients[address] = server
        return self._clients[address]

    @staticmethod
    def _pass(server, packet):
        try:
            server.send(packet)
        except ConnectionRefusedError:
            pass

    def _note(self, packet, counter):
        try:
            decoded = decode(packet)
        except OscError as error:
            counter[f"no OSC: {error}"] += 1
            return
        for message in _messages(decoded):
            counter[str(message.address)] += 1
            if message.address == "/fail":
                self._fails.append(message.args)

    def _write(self):
        self._log.write_text(json.dumps({"sent": self._sent, "answers": self._answers, "fails": self._fails}))


def _messages(packet):
    if not isinstance(packet, Bundle):
        return [packet]
    return [message for element in packet.elements for message in _messages(element)]


def main(log, _, *command):
    if "-u" not in command: # -v
        return subprocess.run(command, check=False).returncode
    return Relay(log, list(command)).run()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
