# SPDX-License-Identifier: GPL-3.0-or-later
"""Stock scsynth as a client of a jackd of its own, whose dummy driver keeps the time. Nothing of PipeWire runs."""
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from bench.stands import RATE, SYNTHDEFS, play_default
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import Process, wait_for
from tests.lib.recording import Incomplete

ROOT = Path(__file__).resolve().parents[1]


class Jackd:
    """A context manager, as bench.stands.Stand is. Its sound is heard by a JACK client."""

    name = None
    options = ()  # of scsynth

    def __init__(self, build):
        del build
        self.server, self._driver, self._program = None, None, None

    def __enter__(self):
        self._folder = Path(tempfile.mkdtemp(prefix="scs-jackd-"))
        # Its sockets have the server's name, so this one is nobody else's.
        self._env = os.environ | {"HOME": str(self._folder), "JACK_DEFAULT_SERVER": self._folder.name,
                                  "JACK_NO_AUDIO_RESERVATION": "1", "SC_JACK_DEFAULT_INPUTS": "",
                                  "SC_JACK_DEFAULT_OUTPUTS": "system"}
        return self

    def __exit__(self, *_):
        for left in Path("/dev/shm").glob(f"jack*{self._folder.name}*"):  # of a jackd that was killed
            left.unlink(missing_ok=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def processes(self):
        """{pid: name} of what the path needs."""
        return {self._driver.pid: "jackd", self._program.pid: "scsynth"}

    def xruns(self):
        return self._driver.output().count("XRun")

    @contextmanager
    def running(self, quantum):
        """At work in cycles of `quantum` frames."""
        port = free_port()
        try:
            self._driver = Process(["jackd", "--no-realtime", "--name", self._folder.name, "-d", "dummy", "-r", RATE,
                                    "-p", quantum], self._env, self._folder / "jackd")
            socket = Path(f"/dev/shm/jack_{self._folder.name}_{os.getuid()}_0")
            wait_for(socket.exists, "jackd's socket")
            self._program = Process(["scsynth", "-u", port, "-i", "2", "-o", "2", "-l", "4", "-R", "0",
                                     *self.options], self._env,
                                    self._folder / "scsynth")
            with Client(port) as client:
                client.wait_ready(timeout=20)
                client.command("/d_loadDir", str(SYNTHDEFS))
            self.server = SimpleNamespace(port=port)
            yield self
        finally:
            for each in (self._program, self._driver):
                if each:
                    each.stop()
            self._program = self._driver = None
            Path(f"/dev/shm/SuperColliderServer_{port}").unlink(missing_ok=True)

    def clicks(self, play):
        """The frames of the clicks that are heard while play() runs, and for as many seconds more as it says."""
        listener = Process([sys.executable, "-B", "-m", "tests.lib.jack_listener", "listener"], self._env,
                           self._folder / "listener", cwd=ROOT)
        try:
            wait_for(lambda: subprocess.run(["jack_connect", "SuperCollider:out_1", "listener:sound"], env=self._env,
                                            capture_output=True, check=False).returncode == 0, "the listener's port")
            time.sleep(play())
            heard = [line.split() for line in listener.output().splitlines()]
        finally:
            listener.stop()
        if any(words[0] == "missed" for words in heard):
            raise Incomplete("the listener missed cycles")
        return [int(words[1]) for words in heard if words[0] == "sound"]

    def play(self, synths):
        """Have exactly that many default synths."""
        with Client(self.server.port) as client:
            play_default(client, synths)
