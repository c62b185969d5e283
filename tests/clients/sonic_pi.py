# SPDX-License-Identifier: GPL-3.0-or-later
"""Sonic Pi's own server, started and spoken to as its window does. It finds our `scsynth` in its path.

Its ports are open to all networks, so it is for a network that has nothing but loopback."""
import os
import signal
import socket
from pathlib import Path

from tests.lib.osc import Message, decode, encode
from tests.lib.ports import free_port
from tests.lib.process import wait_for

FOLDER = "app/server/ruby/bin"
SEQUENCER = Path("/dev/snd/seq")
NO_NETWORK = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy")} # it looks for new versions


def boot(session, folder, path):
    """Sonic Pi in `folder`, when it has booted its scsynth."""
    bin_folder = folder / FOLDER
    kind = _Since4 if (bin_folder / _Since4.PROGRAM).exists() else _Version3
    server = kind(session, bin_folder, PATH=path, **NO_NETWORK)
    try:
        server.wait_booted()
    except BaseException:
        server.stop()
        raise
    return server


class _Server:
    """`errors` are those that it has reported to its window."""
    _child = _port = _token = None

    def __init__(self):
        self.errors = []
        self._window = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def play(self, code):
        """Run a piece and wait for its end."""
        self._send(self._port, "/run-code", code)
        self._window.settimeout(60)
        self._receive_until("/runs/all-completed")

    def stop(self):
        self._window.close()
        self._child.stop()
        try:
            os.killpg(self._child.pid, signal.SIGTERM) # the Erlang that it leaves behind
        except ProcessLookupError:
            pass

    def _send(self, port, address, *words):
        self._window.sendto(encode(Message(address, self._token, *words)), ("127.0.0.1", port))

    def _receive_until(self, address):
        while (message := decode(self._window.recv(65536))).address != address:
            self._keep_alive()
            if "error" in message.address:
                self.errors.append(message.args)

    def _keep_alive(self):
        pass


class _Version3(_Server):
    """3.2: the window chooses the ports."""
    PROGRAM = "sonic-pi-server.rb"

    def __init__(self, session, folder, **env):
        super().__init__()
        ports = [free_port() for _ in range(9)]
        self._token, self._port, window, scsynth = "test", *ports[:3]
        self._window.bind(("127.0.0.1", window))
        # scsynth's port is given twice: the one that it listens on, and the one that Sonic Pi sends to.
        words = ["-u", *ports[:3], scsynth, *ports[3:]]
        self._child = session.start(["ruby", folder / self.PROGRAM, *words], "sonic-pi", **env)

    def wait_booted(self):
        self._child.wait_output("Server successfully booted", 60)

    def exit(self):
        """Its exit status."""
        self._send(self._port, "/exit")
        return self._child.wait(20)


class _Since4(_Server):
    """A daemon starts scsynth, the server and what speaks to the network, and prints the ports."""
    PROGRAM = "daemon.rb"

    def __init__(self, session, folder, **env):
        super().__init__()
        self._daemon = None
        if not SEQUENCER.exists():
            env["PATH"] = f"{_without_midi(session.dir / 'without-midi')}:{env['PATH']}"
        self._child = session.start(["ruby", folder / self.PROGRAM], "sonic-pi", **env)

    def wait_booted(self):
        line = wait_for(self._printed_ports, "Sonic Pi's ports", 90)
        self._daemon, window, self._port, *_, self._token = line
        self._window.bind(("127.0.0.1", window))
        wait_for(self._answers, "Sonic Pi's server", 90, 0.5)

    def exit(self):
        """Its exit status."""
        self._send(self._daemon, "/daemon/exit")
        return self._child.wait(60)

    def _printed_ports(self):
        lines = [line.split() for line in self._child.output().splitlines()]
        return next(([int(word) for word in words] for words in lines if len(words) == 8), None)

    def _answers(self):
        self._keep_alive()
        self._send(self._port, "/ping", "test")
        self._window.settimeout(0.5)
        try:
            self._receive_until("/ack")
        except TimeoutError:
            return False
        return True

    def _keep_alive(self):
        self._send(self._daemon, "/daemon/keep-alive")


def _without_midi(folder):
    """A folder with an `sh` that keeps its part in Erlang from MIDI: without a sequencer that part ends, and Sonic Pi
    waits for it."""
    folder.mkdir(exist_ok=True)
    (folder / "sh").write_text('#!/bin/sh\nexport TAU_MIDI_ENABLED=false TAU_MIDI_ON=false\nexec /bin/sh "$@"\n')
    (folder / "sh").chmod(0o755)
    return folder
