# SPDX-License-Identifier: GPL-3.0-or-later
"""A desktop's session in which a piece plays for ever: what tests/hostile/turns.py does things to."""
import math
import os
import shutil
import struct
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.integration.conftest import SYNTHDEFS
from tests.lib import silences
from tests.lib.build import BUILD
from tests.lib.daemon import Session
from tests.lib.osc import Client, Failed, NoReply
from tests.lib.ports import free_port
from tests.lib.process import WaitError, wait_for

SINKS = {"test-sink": 2, "second-sink": 2}
HEADPHONES = "headphones"  # the sink that comes and goes
RATE, QUANTUM = 48000, 1024
BUFFER, FRAMES, BUS = 5, 4096, 9
PIECE, LATER = 1000, 2000  # the piece's first node, and the first of what comes and goes
SOUNDS = 0.03  # s of sound after which it is back
DEAF = 3.0  # s without sound after which the listener's own links are looked at
# A pack whose units go wrong, and one that crashes while it is loaded.
PACKS = ("misbehaving.so", "crash-in-load.so")
STEP = struct.Struct("@q")


class Life:
    """A context manager. `client` is logged in from beginning to end."""

    def __init__(self):
        self.port = free_port()
        self.node = f"scsynth-{self.port}"
        self.silences = silences.Silences()
        self.folder = Path(tempfile.mkdtemp(prefix="scs-life-"))
        self._clock = self.folder / "clock"
        self._clock.write_bytes(STEP.pack(0))
        packs = self.folder / "packs"
        packs.mkdir()
        for pack in PACKS:
            (packs / pack).symlink_to(BUILD / "tests/hostile" / pack)
        module = (f"{{ name = libpipewire-module-scsynth args = {{ scsynth.osc.port = {self.port} "
                  f'scsynth.ugen-path = ":{packs}" }} }}')
        self.session = Session(policy=True, sinks=SINKS, sources={"microphone": 2}, modules=[module],
                               objects=[self.silences.object()],
                               folder="/dev/shm",  # in memory, as a user's runtime folder is
                               env={"LD_PRELOAD": str(BUILD / "tests/hostile/stepped-clock.so"),
                                    "SCS_STEPPED_CLOCK": str(self._clock)})
        self.client = None
        self.step = 0  # s, by which the daemon's wall clock is ahead
        self.headphones = False
        self.broken = self.killed = -math.inf  # when an engine was broken last, and the daemon killed
        self.engines = 0  # broken ones of this daemon

    def __enter__(self):
        self._left = ExitStack()
        self._left.callback(shutil.rmtree, self.folder)
        self._left.callback(self.silences.close)
        with self._left:
            self._left.enter_context(self.session)
            self.client = self._left.enter_context(Client(self.port))
            self.client.wait_ready()
            self._play()
            self.settle()
            self._left = self._left.pop_all()
        return self

    def __exit__(self, kind, *_):
        if kind:
            print(self.session.logs())
        self._left.close()

    # The piece

    def _play(self):
        """Sines, one of them at a control bus, one that plays a buffer, and one that is paused."""
        client = self.client
        client.command("/notify", 1)
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.command("/b_alloc", BUFFER, FRAMES, 1)
        self._samples = [round(math.sin(2 * math.pi * 5 * i / 256), 3) for i in range(256)]
        for start in range(0, FRAMES, 256):
            client.send("/b_setn", BUFFER, start, 256, *self._samples)
        client.send("/c_set", BUS, 0.125)
        client.request("/g_new", 1, 1, 0, reply="/n_go")
        for number, (name, *controls) in enumerate((
                ("test_sine", "freq", 440.0, "amp", 0.25), ("test_sine", "freq", 660.0),
                ("test_play", "buf", BUFFER, "amp", 0.125), ("test_sine", "freq", 880.0, "amp", 0.25))):
            client.request("/s_new", name, PIECE + number, 1, 1, *controls, reply="/n_go")
        client.send("/n_map", PIECE + 1, "amp", BUS)
        client.send("/n_run", PIECE + 3, 0)
        client.sync()
        self._tree = self.tree()
        self._samples = self._part_of_buffer()

    def tree(self):
        return self.client.request("/g_queryTree", 0, 1, reply="/g_queryTree.reply").args

    def _part_of_buffer(self):
        return list(self.client.request("/b_getn", BUFFER, FRAMES - 64, 64, reply="/b_setn").args[3:])

    def why_not_whole(self):
        """What of the piece isn't there; None if all is."""
        try:
            if (tree := self.tree()) != self._tree:
                return f"the tree is {tree} instead of {self._tree}"
            if (value := self.client.request("/c_get", BUS, reply="/c_set").args[1]) != 0.125:
                return f"control bus {BUS} is {value}"
            if self._part_of_buffer() != self._samples:
                return f"buffer {BUFFER} is another one"
        except (NoReply, Failed) as error:
            return str(error)
        return None

    def wait_whole(self, timeout=10.0):
        """Until the piece is there as it was."""
        try:
            self.wait(lambda: self.why_not_whole() is None, "the piece", timeout)
        except WaitError as error:
            raise WaitError(f"{error}: {self.why_not_whole()}") from None

    def wait_copied(self):
        """Until a copy of the piece that was made after this is where it outlives its engine and its daemon."""
        self.client.send("/c_set", BUS + 1, time.monotonic() % 1000)  # nothing is copied where nothing has changed
        self.client.sync()
        state = self.session.dir / "run/pw-scsynth" / f"kept-{self.port}/state"
        for _ in range(2):  # the one that is on its way may be older
            before = state.stat().st_mtime_ns if state.exists() else 0
            self.wait(lambda before=before: state.exists() and state.stat().st_mtime_ns != before, "a copy")
            self.client.send("/c_set", BUS + 1, time.monotonic() % 1000)

    def wait_heard(self):
        """Until it sounds, and has for a moment. False if the listener itself had been cut off."""
        now = time.monotonic()
        return self._wait_cycle(lambda: self.silences.heard() > now + SOUNDS, "sound")

    def _wait_cycle(self, condition, what):
        """For what the listener is to notice. False if it had to be linked again: PipeWire 0.3.65 may leave a link paused
        for good. The policy mends those of the server."""
        try:
            self.wait(condition, what, DEAF)
            return True
        except WaitError:
            links = self._links_in_state()
        paused = [link for link, state in links.items() if link[1] == silences.PORT and state != "active"]
        for output, inlet in paused:
            self.session.run("pw-link", "-d", output, inlet)
            self.session.run("pw-link", output, inlet)
        try:
            self.wait(condition, what, 5.0)
        except WaitError as error:
            raise WaitError(f"{error}: the links were {links} and are {self._links_in_state()}") from None
        return not paused

    def _links_in_state(self):
        """PipeWire's states of all links, as Graph.links() names them."""
        dump = {item["id"]: item["info"] for item in self.session.pw_dump() if item.get("info")}

        def name(node, port):
            return f"{dump[node]['props']['node.name']}:{dump[port]['props']['port.name']}"

        return {(name(info["output-node-id"], info["output-port-id"]), name(info["input-node-id"], info["input-port-id"])):
                info["state"] for info in dump.values() if "output-port-id" in info}

    # The graph

    def wait(self, condition, what, timeout=10.0):
        return wait_for(condition, what, timeout, 0.005)

    def sinks(self):
        return [*SINKS, *([HEADPHONES] if self.headphones else [])]

    def _listen(self, sink):
        self.wait(lambda: f"{sink}:monitor_FL" in self.session.run("pw-link", "-o"), f"{sink}'s monitor")
        self.session.run("pw-link", f"{sink}:monitor_FL", silences.PORT)

    def props(self):
        return self.session.node(self.node)["info"]["props"]

    def settle(self, sink=None):
        """Until the outputs are linked to the default sink, and to that alone, which is `sink` if that is given; and each
        sink is listened to: WirePlumber may have given it new ports."""
        def settled():
            links = self.session.links()
            for deaf in {f"{each}:monitor_FL" for each in self.sinks()} - {out for out, into in links if into == silences.PORT}:
                self._listen(deaf.split(":")[0])
            default = self.session.default_sink()
            return self._heading(links) == {default} and default in ([sink] if sink else self.sinks())
        try:
            self.wait(settled, f"links to {sink or 'the default sink'}")
        except WaitError as error:
            raise WaitError(f"{error}: the default is {self.session.default_sink()}, and there are {self.session.links()}") from None

    def _heading(self, links):
        """The sinks that the outputs are linked to."""
        return {into.split(":")[0] for out, into in links if out.startswith(f"{self.node}:out_")}

    def set_default(self, sink):
        self.session.run("pw-metadata", "0", "default.configured.audio.sink", f'{{ "name": "{sink}" }}', "Spa:String:JSON")
        self.settle(sink)

    def plug(self):
        """The headphones: a sink of more priority than the others', and less than the microphone's: else their monitor would
        be the default source."""
        self.session.pw_cli("create-node", "adapter",
                            f"{{ factory.name=support.null-audio-sink object.linger=1 node.name={HEADPHONES} "
                            "media.class=Audio/Sink audio.position=[FL,FR] priority.session=1500 "
                            "monitor.channel-volumes=false }")
        self.headphones = True
        self.settle()

    def unplug(self):
        self.session.pw_cli("destroy", self.session.node(HEADPHONES)["id"])
        self.headphones = False
        self.settle()

    def set_clock(self, key, value):
        self.session.run("pw-metadata", "-n", "settings", "0", f"clock.{key}", value)

    def set_rate(self, rate):
        self.set_clock("force-rate", rate)
        self.wait(lambda: round(self.client.status()[-1]) == rate, f"{rate} Hz")

    def set_quantum(self, frames):
        """PipeWire 0.3.65 may overlook a change that comes beside others, and thinks then that there is nothing to change
        until it is told of another quantum."""
        for _ in range(3):
            self.set_clock("force-quantum", frames)
            try:
                self._wait_cycle(lambda: self.silences.quantum() == frames, f"{frames} frames")
                return
            except WaitError as error:
                overlooked = f"{error}; there are {self.silences.quantum()}, and {self.session.metadata('settings')}"
            self.set_clock("force-quantum", 2 * frames)
        raise WaitError(overlooked)

    def rest(self):
        """Back to what it was at the beginning, so that memory can be compared."""
        if self.headphones:
            self.unplug()
        self.set_rate(RATE)
        self.set_quantum(QUANTUM)
        self.wait_heard()

    # Programs

    def restart_wireplumber(self, number):
        # While others keep a sink running, WirePlumber 0.4.13 can't give it a format, and links nobody to it.
        for sink in self.sinks():
            self.session.run("pw-link", "-d", f"{sink}:monitor_FL", silences.PORT)
        os.kill(self.session.wireplumber.pid, number)
        self.session.wireplumber.wait(10)
        self.session.end(self.session.wireplumber)
        self.session.start_wireplumber()
        self.wait(self.session.default_sink, "a default sink")

    def restart_daemon(self, number):
        self.session.stop_daemons(number)
        for child in (self.session.daemon, self.session.wireplumber):
            self.session.end(child)
        self.session.start_daemons()
        self.headphones, self.engines = False, 0
        self.killed = time.monotonic()

    def step_clock(self, seconds):
        """Set the daemon's wall clock, which from then on is so much ahead of this program's."""
        self.step = seconds
        with self._clock.open("r+b") as file:
            file.write(STEP.pack(round(seconds * 1e9)))

    def wall_clock(self):
        """The daemon's."""
        return time.time() + self.step
