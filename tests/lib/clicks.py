# SPDX-License-Identifier: GPL-3.0-or-later
"""When clicks were heard, by the driver's clock. A node inside the daemon (tests/tape) notes it, which may also drive the
graph, with a clock that is off."""
import mmap
import os
import struct
import tempfile
from dataclasses import dataclass

from tests.lib.recording import LIBRARY

_HEAD, _CLICK = struct.Struct("<3Q"), struct.Struct("<qdQ")  # as in tests/tape/clicks.hpp
_ROOM = 65536


@dataclass
class Click:
    wall: int        # ns since 1970
    position: float  # frames of the driver's clock
    channel: int


class Clicks:
    """The node's file."""

    def __init__(self, channels=1):
        self.channels = channels
        file, self._path = tempfile.mkstemp(prefix="scs-clicks-", dir="/dev/shm")
        size = _HEAD.size + _ROOM * _CLICK.size
        os.truncate(file, size)
        self._memory = mmap.mmap(file, size)
        os.close(file)

    def close(self):
        os.unlink(self._path)

    def object(self, name, more=""):
        """The node, for context.objects of a daemon; `more` are further properties."""
        return (f"{{ factory = spa-node-factory args = {{ factory.name = test.tape library.name = {LIBRARY} "
                f"node.name = {name} tape.file = {self._path} tape.channels = {self.channels} tape.clicks = true {more} }} }}")

    def cycles(self):
        return self._head()[0]

    def leaps(self):
        """Cycles that were lost before others."""
        return self._head()[1]

    def count(self):
        return self._head()[2]

    def since(self, count):
        """The clicks after the first `count`, in order; no more than the last 65536."""
        end = self.count()
        return [Click(*_CLICK.unpack_from(self._memory, _HEAD.size + number % _ROOM * _CLICK.size))
                for number in range(max(count, end - _ROOM), end)]

    def _head(self):
        return _HEAD.unpack_from(self._memory)
