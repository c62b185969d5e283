# SPDX-License-Identifier: GPL-3.0-or-later
"""What is compared: a test source inside the daemon, our node inside the daemon, and stock scsynth
as a JACK client. Each has a private daemon with a null sink, and works only while it is measured."""
from contextlib import contextmanager
from pathlib import Path

from tests.lib import audio
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.recording import Recording
from tests.lib.scsynth import ProgramServer, StockServer
from tests.lib.server import NodeServer

SINK = "test-sink"
SYNTHDEFS = Path(__file__).parent / "synthdefs"
RATE = 48000
_AT_ONCE = 50
_TEST_SOURCE = """{
    factory.name = audiotestsrc library.name = audiotestsrc/libspa-audiotestsrc
    node.name = source object.linger = true audio.channels = 2 audio.position = [ FL FR ]
    adapter.auto-port-config = { mode = dsp position = preserve } }"""


class Silent(RuntimeError):
    """What should have played did not."""


class Stand:
    """A context manager around the private session."""

    name = None

    def __init__(self, build):
        self.session = Session(sinks={SINK: 2}, build=build)

    def __enter__(self):
        self.session.__enter__()
        return self

    def __exit__(self, *error):
        self.session.__exit__(*error)

    def processes(self):
        """{pid: name} of the processes whose work is counted."""
        return {self.session.daemon.pid: "pipewire"}

    def pids(self):
        return list(self.processes())

    @contextmanager
    def running(self, quantum):
        """At work, linked to the sink, in cycles of `quantum` frames."""
        self.session.force_quantum(quantum)
        self._start()
        try:
            self.session.wait_state(SINK, "running")
            yield self
        finally:
            self._stop()
            self.session.wait_until(lambda: not self.session.links(), "the end of the links")

    def level(self):
        """The level that the sink plays just now."""
        path = self.session.dir / "level.wav"
        with Recording(self.session, path) as recording:
            recording.wait(0.25)
        return audio.rms(audio.read_wav(path)[0][RATE // 10:, 0])

    def play(self, synths):
        """Have exactly that many default synths."""

    def _start(self):
        raise NotImplementedError

    def _stop(self):
        raise NotImplementedError


def play_default(client, synths):
    """Have a server play exactly that many default synths."""
    client.send("/g_freeAll", 0)
    for first in range(0, synths, _AT_ONCE):
        client.send_at(None, *[
            ("/s_new", "default", 1000 + i, 0, 0, "freq", 100.0 + i % 5000, "amp", 0.1 / synths)
            for i in range(first, min(synths, first + _AT_ONCE))])
        client.sync()
    wait_for(lambda: client.status()[2] == synths, f"{synths} synths")


class TestSource(Stand):
    name = "source"

    def _start(self):
        session = self.session
        session.pw_cli("create-node", "adapter", _TEST_SOURCE)
        node = session.wait_node("source")["id"]
        # Else it keeps time by a timer of its own, beside the graph's, and plays nothing.
        session.pw_cli("set-param", node, "Props", "{ live: false }")
        session.wait_until(lambda: len(session.ports("source", "out")) == 2, "the source's ports")
        session.connect("source", SINK)

    def _stop(self):
        self.session.pw_cli("destroy", self.session.node("source")["id"])
        self.session.wait_gone("source")


class _Server(Stand):
    server = None

    def _start(self):
        self.server = self._boot(free_port())
        if not self.session.links():
            self.session.connect(self.server.node_name, SINK)
        with Client(self.server.port) as client:
            client.command("/d_loadDir", str(SYNTHDEFS))

    def _stop(self):
        self.server.stop()

    def _boot(self, port):
        raise NotImplementedError

    def play(self, synths):
        with Client(self.server.port) as client:
            play_default(client, synths)


class Ours(_Server):
    name = "ours"
    settings = {}

    def _boot(self, port):
        return NodeServer(self.session, port, self.settings)


class Resampled(Ours):
    """Ours at a rate that the graph doesn't have."""
    name = "resampled"
    settings = {"sample-rate": 44100}


class ManyResampled(Ours):
    """The same with as many ports as pw-scsynth makes."""
    name = "8 in 8 out"
    settings = {"sample-rate": 44100, "inputs": 8, "outputs": 8}


class Stock(_Server):
    name = "scsynth"
    program = "scsynth"
    options = ()

    def _boot(self, port):
        return StockServer(self.session, port, self.options, self.program)

    def processes(self):
        return super().processes() | {self.server.pid: self.program}


class Program(_Server):
    """Ours in a process of its own."""
    name = "pw-scsynth"
    options = ()

    def _boot(self, port):
        command = [self.session.build / "src/cli/pw-scsynth", "--client", "-u", port, *self.options]
        return ProgramServer(self.session, port, f"scsynth-{port}", command, "pw-scsynth")

    def processes(self):
        return super().processes() | {self.server.pid: self.name}
