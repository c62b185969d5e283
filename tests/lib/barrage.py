# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten thousand messages a second in small bundles with time tags, and how many of them had their effect.

The last message of each bundle sets a control bus of its own to the number of the round through the buses. The buses
are read back, part by part, before they are set in the next round."""
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.lib.osc import Bundle, Client, Message, NoReply, TimeTag, encode

MESSAGES = 4       # in a bundle
BUNDLES = 2500     # a second
LATENCY = 0.1      # s
FIRST_VOICE = 1000
_PART = BUNDLES    # buses that are read back at once
_PARTS = 4
_SETTLED = 0.4     # s after the last bundle of a part is due
_AT_ONCE = 500     # buses in a reply
_NAP = 0.002       # s
_TIME_OFFSET = 8   # of a bundle's time tag


@dataclass
class Outcome:
    bundles: int = 0
    missing: int = 0         # bundles without effect
    kernel_dropped: int = 0  # packets that found the server's socket full
    sent_late: int = 0       # bundles that this program sent so late that the server had less than half of the time

    @property
    def lost(self):
        """Bundles that the server lost."""
        return max(0, self.missing - self.kernel_dropped)


def run(port, voices, seconds):
    """Send for whole seconds to a server on this machine with synths FIRST_VOICE … FIRST_VOICE + voices - 1 of the
    default SynthDef. The caller has to look at late bundles that the server prints or counts."""
    packets = [_packet(bus, voices) for bus in range(_PART * _PARTS)]
    dropped = kernel_drops(port)
    with Client(port) as client, Client(port) as reader, ThreadPoolExecutor(1) as pool:
        checks = []
        outcome = Outcome(bundles=BUNDLES * seconds)
        start = time.time() + 0.1
        sent = 0
        while sent < outcome.bundles:
            now = time.time()
            while sent < outcome.bundles and (nominal := start + sent / BUNDLES) <= now:
                lap, bus = divmod(sent, len(packets))
                packet = packets[bus]
                struct.pack_into(">Q", packet, _TIME_OFFSET, TimeTag.from_unix(nominal + LATENCY))
                struct.pack_into(">f", packet, len(packet) - 4, lap + 1)
                client.send_bytes(packet)
                outcome.sent_late += now - nominal > LATENCY / 2
                sent += 1
                if sent % _PART == 0:
                    settled = nominal + LATENCY + _SETTLED
                    checks.append(pool.submit(_missing, reader, bus + 1 - _PART, float(lap + 1), settled))
            time.sleep(_NAP)
        outcome.missing = sum(check.result() for check in checks)
    outcome.kernel_dropped = kernel_drops(port) - dropped
    return outcome


def kernel_drops(port):
    """Datagrams for that port of this machine that the kernel dropped."""
    rows = [row.split() for row in Path("/proc/net/udp").read_text().splitlines()[1:]]
    return sum(int(row[-1]) for row in rows if int(row[1].rpartition(":")[2], 16) == port)


def _packet(bus, voices):
    """The bundle of a bus, whose time and last argument are to be filled in."""
    messages = [Message("/n_set", FIRST_VOICE + (bus * (MESSAGES - 1) + i) % voices, "pan", (bus + i) % 21 / 10 - 1)
                for i in range(MESSAGES - 1)]
    return bytearray(encode(Bundle(0, [*messages, Message("/c_set", bus, 0.0)])))


def _missing(client, first, value, not_before):
    """How many of a part's buses have another value. Queries and answers may get lost, so they are repeated."""
    time.sleep(max(0.0, not_before - time.time()))
    found = 0
    for bus in range(first, first + _PART, _AT_ONCE):
        found += _AT_ONCE - _values(client, bus).count(value)
    return found


def _values(client, bus):
    for _ in range(10):
        try:
            return client.request("/c_getn", bus, _AT_ONCE, reply="/c_setn", timeout=0.2,
                                  where=lambda args: args[:2] == [bus, _AT_ONCE]).args[2:]
        except NoReply:
            continue
    raise NoReply(f"the server doesn't tell the buses from {bus} on")
