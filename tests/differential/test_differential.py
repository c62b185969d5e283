# SPDX-License-Identifier: GPL-3.0-or-later
"""The same packets to stock scsynth and to ours give the same answers, byte for byte, except for the differences that
differences.py lists with their reasons. To those ours answers what answers.txt says."""
import socket
import struct

import pytest

from tests.differential import answers
from tests.differential.cases import PROBES, SETUP, cases
from tests.differential.differences import SINCE_3_14, reason_for
from tests.lib import scsynth, server as servers, supercollider
from tests.lib.daemon import ROOT, Session
from tests.lib.osc import Message, OscError, decode, encode
from tests.lib.ports import free_port

SINE = ROOT / "tests/integration/synthdefs/test_sine.scsyndef"
CASES = list(cases())
SETTINGS = {"buffers": 1024, "load-synthdefs": "false"}


class Server:
    """One of the two servers, and the client that sends all packets."""

    def __init__(self, port):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.connect(("127.0.0.1", port))
        self._socket.settimeout(3)
        self._sync = 1 << 20
        self.ask(Message("/notify", 1))

    def ask(self, *packets):
        """Send packets. Returns the datagrams that come back until they have been carried out."""
        self._sync += 1
        for packet in (*packets, Message("/sync", self._sync)):
            self._socket.send(encode(packet))
        end = b"/synced\0,i\0\0" + struct.pack(">i", self._sync)
        answers = []
        while (answer := self._socket.recv(65536)) != end:
            answers.append(answer)
        return answers

    def is_empty(self):
        """Whether everything could be freed. After some packets stock has nodes that it doesn't find any more."""
        status = decode(self.ask(Message("/g_freeAll", 0), Message("/status"))[-1])
        return status.args[2:4] == [0, 1]

    def run(self, group, packet):
        """The answers to `packet` and then to the probes, from the same state each time."""
        self.ask(Message("/error", 1), Message("/notify", 1))
        self.ask(Message("/clearSched"), Message("/g_freeAll", 0), Message("/n_run", 0, 1),
                 *(Message("/b_free", n) for n in range(5, 9)), Message("/c_fill", 0, 64, 0.0),
                 Message("/d_recv", SINE.read_bytes()))
        for message in SETUP[group]:  # a buffer is there before it is filled
            self.ask(message)
        self.ask()  # so that new synths have had their first block
        self.ask()
        answers = self.ask(packet)
        # One after the other: stock sends some answers itself and others by a thread of its own, in no certain order.
        return answers, [answer for probe in (Message("/error", 1), *PROBES[group]) for answer in self.ask(probe)]


class Pair:
    """Stock scsynth and ours in one daemon. Both are restarted after a packet that stock didn't survive."""

    def __init__(self, session):
        self._session = session
        self._start()

    def _start(self):
        self._node = servers.NodeServer(self._session, free_port(), SETTINGS)
        self._process = scsynth.StockServer(self._session, free_port(), ["-D", "0"])
        for server in (self._node, self._process):
            self._session.connect(server.node_name, "test-sink")
        self._ours, self._stock = Server(self._node.port), Server(self._process.port)

    def _restart(self):
        self._node.stop()
        self._process.stop()
        self._start()

    def run(self, group, packet):
        """The answers of both. Stock's are None if it doesn't answer any more."""
        ours = self._ours.run(group, packet)
        try:
            stock = self._stock.run(group, packet)
            if self._stock.is_empty():
                return stock, ours
        except (TimeoutError, ConnectionError):
            stock = None
        self._restart()
        return stock, ours


@pytest.fixture(scope="module")
def pair():
    if not scsynth.available():
        pytest.skip("needs scsynth and pw-jack")
    with Session() as session:
        session.force_quantum(64)
        yield Pair(session)


def readable(datagrams):
    """Decoded messages; malformed ones of stock stay bytes."""
    result = []
    for datagram in datagrams:
        try:
            packet = decode(datagram)
            result.append(f"{packet.address} {packet.args}" if isinstance(packet, Message) else str(packet))
        except OscError:
            result.append(str(datagram))
    return result


STATED = answers.load()


def test_all_differences_and_no_others_are_stated():
    assert list(STATED) and sorted(STATED) == sorted(name for name, *_ in answers.listed())


def test_stated_answers_are_read_as_they_are_written():
    assert answers.load(answers.as_text(STATED)) == STATED


@pytest.mark.parametrize("name, group, packet", CASES, ids=[name for name, *_ in CASES])
def test_same_answers(pair, name, group, packet):
    stock, ours = pair.run(group, packet)
    reason = reason_for(name)
    if reason:
        assert stock != ours, f"no difference any more, listed as: {reason}"
        assert tuple(map(readable, ours)) == STATED[name]
        return
    assert stock, f"stock scsynth doesn't live through this; ours answers {readable(ours[0])}"
    if supercollider.since_3_14() and SINCE_3_14.keys() & set(readable(stock[0])):
        assert readable(ours[0]) == [SINCE_3_14.get(answer, answer) for answer in readable(stock[0])]
        assert ours[1] == stock[1]
        return
    assert readable(ours[0]) == readable(stock[0])
    assert readable(ours[1]) == readable(stock[1])
    assert ours == stock
