# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways by which sound goes from one host to another, as conf/several-machines has them, between two hosts of
tests/lib/hosts.py: a click of each server at the same time tag, both heard at the first host."""
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.lib import hosts, pipewire
from tests.lib.build import ROOT
from tests.lib.server import NODE

FOLDER = ROOT / "conf/several-machines"


@dataclass(frozen=True)
class Way:
    """`receiver` and `sender`: the drop-ins; `source` and `sink`: texts in the names of their nodes; `drives`: whether a
    host's driver of ours drives the receiver's graph, and the sender's; `since` and `before`: versions of PipeWire."""
    folder: str
    receiver: str = "receiver.conf"
    sender: str = "sender.conf"
    source: str = "from-machine-2"
    sink: str = "to-studio"
    drives: tuple = (True, True)
    since: tuple = (0, 3, 68)
    before: tuple = (9,)

    def why_not(self):
        """Why this PipeWire can't do that, or None."""
        version = pipewire.version()
        if self.since <= version < self.before:
            return None
        wanted = ".".join(map(str, self.since)) + (f" to before {'.'.join(map(str, self.before))}" if self.before < (9,) else " on")
        return f"{self.folder}: PipeWire is {'.'.join(map(str, version))}, it takes {wanted}"

    def drop_in(self, name):
        # No card here has a PTP clock. The system's is the same one for all hosts, as if PTP had no error.
        return Path(FOLDER / self.folder / name).read_text().replace('clock.interface = "eth0"', "clock.id = tai")


WAYS = {
    "rtp-0.3": Way("rtp-0.3", source="machine-2", since=(0, 3, 60), before=(0, 3, 68)),
    "rtp": Way("rtp"),
    "rtp-ptp": Way("rtp-ptp", drives=(False, False), since=(1, 4, 0)),
    "netjack2": Way("netjack2", "manager.conf", "follower.conf", "", "", drives=(True, False), since=(0, 3, 72)),
}


@dataclass
class Passage:
    """`own` and `came`: the clicks of the first host's server and of the second's, as the first heard them."""
    times: np.ndarray
    own: list
    came: list

    def latencies(self):
        """Frames, for each click: from when the first host plays it to when it hears the second's."""
        return np.array([there.position - here.position for here, there in zip(self.own, self.came)])


class Pair:
    """A network of two hosts, of which the second sends to the first; a context manager. `ppm` of both drivers."""

    def __init__(self, way, ppm=(0, 0)):
        self._way, self._ppm = way, ppm
        self._network = hosts.Network()

    def __enter__(self):
        self._network.__enter__()
        try:
            self._start()
        except BaseException:
            self._network.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._network.__exit__()

    def _start(self):
        way = self._way
        files = (way.receiver, way.sender)
        self.hosts = [self._network.add(ppm=ppm if drives else None, ahead=ahead, wireplumber=True,
                                        fragments={"50-way.conf": way.drop_in(file)})
                      for file, drives, ppm, ahead in zip(files, way.drives, self._ppm, (1000, 0))]
        receiver, sender = self.hosts
        for host in self.hosts:
            host.start_server(links=False)
            host.client.command("/d_loadDir", str(hosts.SYNTHDEFS))
        receiver.link(f"{NODE}:out_1", f"{receiver.DRIVER}:in_1")
        sender.link(f"{NODE}:out_1", f"{sender.DRIVER}:in_1")
        sender.link(f"{NODE}:out_1", port_of(sender, "in", way.sink))
        receiver.link(port_of(receiver, "out", way.source), f"{receiver.DRIVER}:in_2")

    def play(self, count, seed=1, gaps=(0.05, 0.1)):
        """The Passage of that many clicks. One that came in parts, or not at all, is an error."""
        receiver, sender = self.hosts
        before = [host.heard.count() for host in self.hosts]
        times = hosts.send_clicks(self.hosts, count, seed, gaps)
        clicks = hosts.wait_clicks(receiver, before[0], 2 * count)
        own, came = ([click for click in clicks if click.channel == channel] for channel in (0, 1))
        if len(own) != count or len(came) != count:
            raise hosts.Lost(f"{len(own)} and {len(came)} clicks of {count}")
        return Passage(times, own, came)


def port_of(host, direction, text):
    """"node:port" of the first port of a sink or source that isn't the server's or the driver's, and has that text in its
    name. It waits for it: a sender may have to be announced first."""
    def found():
        for item in host.objects("Node"):
            name = item["info"]["props"].get("node.name", "")
            if text in name and name not in (NODE, host.DRIVER) and "Driver" not in name:
                if ports := [port for port in host.ports(name, direction) if "monitor" not in port]:
                    return f"{name}:{ports[0]}"
        return None
    return host.wait_until(found, f"a port of {text or 'any other node'}", 20)
