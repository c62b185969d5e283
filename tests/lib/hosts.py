# SPDX-License-Identifier: GPL-3.0-or-later
"""Several hosts on one network, on one machine: each in a network namespace, with a PipeWire, a driver and a server of its
own, linked by a bridge. Their monotonic clocks are apart, as those of machines are, and the crystals of their drivers may
be off. The wall clock is this machine's for all of them, as if it were disciplined without any error."""
import ctypes
import os
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from tests.lib.clicks import Clicks
from tests.lib.build import ROOT
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import Process, WaitError, wait_for
from tests.lib.server import NODE, NodeServer

SYNTHDEFS = ROOT / "tests/integration/synthdefs"
RATE, QUANTUM = 48000, 256
_NETWORK = "10.77.0"
_BRIDGE = f"{_NETWORK}.254"
_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000


def why_not():
    """Why there can't be such hosts here, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    try:
        with Network() as network, Namespaces(network.folder, "probe", ahead=1) as spaces:
            network.connect("probe", spaces)
            return None
    except (OSError, RuntimeError, TimeoutError) as error:
        return f"no network namespaces here: {error}"


class Lost(RuntimeError):
    """Not every click came; the text says how many did."""


class Namespaces:
    """A network and, unless `ahead` is 0, a time namespace, which last as long as this is entered. Its CLOCK_MONOTONIC
    and CLOCK_BOOTTIME are that many seconds ahead of the machine's."""

    def __init__(self, folder, name, ahead=0):
        words = ["--time", f"--monotonic={ahead}", f"--boottime={ahead}"] if ahead else []
        self._process = Process(["unshare", "--net", *words, "sh", "-c", "echo ready; exec sleep infinity"], os.environ,
                                folder / f"{name}.log")
        self._time = bool(ahead)

    def __enter__(self):
        try:
            self._process.wait_output("ready", 10)
        except BaseException:
            self._process.stop()
            raise
        return self

    def __exit__(self, *_):
        self._process.stop()

    @property
    def pid(self):
        return self._process.pid

    def enter(self):
        """The words before a command that is to run in them."""
        where = f"/proc/{self.pid}/ns"
        return ["nsenter", f"--net={where}/net", *([f"--time={where}/time_for_children"] if self._time else [])]

    def ip(self, *words):
        run([*self.enter(), "ip", *words])

    @contextmanager
    def sockets(self):
        """What this thread opens meanwhile is in this network."""
        with open("/proc/thread-self/ns/net", "rb") as own, open(f"/proc/{self.pid}/ns/net", "rb") as other:
            _set_network(other)
            try:
                yield
            finally:
                _set_network(own)


class Network:
    """A bridge, and hosts when they are added; a context manager."""

    def __init__(self):
        self._stack = ExitStack()
        self.hosts = []

    def __enter__(self):
        with ExitStack() as stack:
            self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="scs-hosts-")))
            self.bridge = stack.enter_context(Namespaces(self.folder, "bridge"))
            self.bridge.ip("link", "set", "lo", "up")
            self.bridge.ip("link", "add", "wire", "type", "bridge", "mcast_snooping", "0")
            self.bridge.ip("address", "add", f"{_BRIDGE}/24", "dev", "wire")
            self.bridge.ip("link", "set", "wire", "up")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def add(self, ppm=0.0, ahead=0, **session):
        """A Host whose driver is that much too fast, and whose monotonic clock that many seconds ahead. `session`:
        arguments of Session."""
        number = len(self.hosts) + 1
        spaces = self._stack.enter_context(Namespaces(self.folder, f"host-{number}", ahead))
        self.connect(f"host{number}", spaces)
        address = f"{_NETWORK}.{number}"
        for words in (["link", "set", "lo", "up"], ["address", "add", f"{address}/24", "dev", "eth0"],
                      ["link", "set", "eth0", "up"], ["route", "add", "224.0.0.0/4", "dev", "eth0"]):
            spaces.ip(*words)
        host = self._stack.enter_context(Host(self, spaces, address, ppm, **session))
        self.hosts.append(host)
        return host

    def connect(self, name, spaces):
        """Lay a wire from the bridge, where its end has that name, to eth0 in namespaces."""
        self.bridge.ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(spaces.pid))
        self.bridge.ip("link", "set", name, "master", "wire", "up")

    def client(self, host):
        """A Client of a host's server, at the bridge's end of the wire."""
        with self.bridge.sockets():
            return self._stack.enter_context(Client(host.port, host.address))


class Host(Session):
    """A session in namespaces, whose driver hears clicks of `channels` channels. If `ppm` is None, it only hears, and
    something else has to drive the graph."""

    DRIVER = "driver"

    def __init__(self, network, spaces, address, ppm=0.0, channels=2, objects=(), **session):
        self.address, self.port, self.spaces = address, free_port(), spaces
        self._network, self.channels = network, channels
        self.heard = Clicks(channels)
        drives = "" if ppm is None else f"node.driver = true priority.driver = 30000 tape.ppm = {ppm} tape.quantum = {QUANTUM}"
        driver = self.heard.object(self.DRIVER, drives)
        super().__init__(**{"sinks": {}, "wireplumber": False, "objects": [driver, *objects], "enter": spaces.enter()} | session)
        self.at_close(self.heard.close)

    def start_server(self, links=True, **settings):
        """Its node, linked to the driver, and `client`, a Client of it."""
        settings = {"osc.bind": self.address, "allow": "any"} | settings
        NodeServer.create(self, self.port, settings)
        self.wait_node(NODE)
        self.client = self._network.client(self)
        self.client.wait_ready()
        if links:
            for channel in range(1, self.channels + 1):
                self.link(f"{NODE}:out_{channel}", f"{self.DRIVER}:in_{channel}")
            wait_for(self.heard.cycles, "cycles of the driver")


def play_clicks(hosts, count, seed, gaps=(0.02, 0.05), lead=0.25):
    """Has all hosts play one score of clicks, whose moments are anywhere between frames, and `gaps` seconds apart, at
    least and at most; it is sent `lead` seconds ahead. (times in ns since 1970, [Clicks of each host])."""
    before = [host.heard.count() for host in hosts]
    times = send_clicks(hosts, count, seed, gaps, lead)
    return times, [wait_clicks(host, old, count) for host, old in zip(hosts, before)]


def send_clicks(hosts, count, seed, gaps, lead=0.25):
    """The same, but waits only until all have been sent, and returns the times alone."""
    times = time.time() + 2 * lead + np.cumsum(np.random.default_rng(seed).uniform(*gaps, count))
    for moment in times:
        time.sleep(max(0, moment - lead - time.time()))
        for host in hosts:
            host.client.send_at(moment, ("/s_new", "test_impulse", -1, 0, 0))
    return (times * 1e9).astype(np.int64)


def wait_clicks(host, before, count):
    """The clicks that a host heard after its first `before`, when there are `count` of them. Lost if there aren't."""
    try:
        wait_for(lambda: host.heard.count() >= before + count, f"{count} clicks", 3)
    except WaitError as error:
        raise Lost(f"{error}\n{host.logs()}") from None
    return host.heard.since(before)


def whole(take, attempts=5):
    """What take() returns for a number from 0 on, once nothing was lost: a busy machine loses cycles."""
    for attempt in range(attempts - 1):
        try:
            return take(attempt)
        except Lost as error:
            print(error)
    return take(attempts - 1)


def run(command):
    """Run a program to its end, which has to be good."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")


def _set_network(file):
    if _LIBC.setns(file.fileno(), _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"setns: {os.strerror(ctypes.get_errno())}")
