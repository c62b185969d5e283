# SPDX-License-Identifier: GPL-3.0-or-later
"""How long nothing was heard. A node inside the daemon (tests/tape) notes it, in a file that outlives the daemon, so that
the time without one is a silence, too."""
import mmap
import os
import tempfile

from tests.lib.recording import LIBRARY

NODE = "ear"
PORT = f"{NODE}:in_1"
_HEARD, _FRAMES, _COUNT, _FIRST = range(4)  # words of 8 bytes, as in tests/tape/silences.hpp
_ROOM = 1024


class Silences:
    """The node's file. All times are in seconds of time.monotonic()."""

    def __init__(self):
        file, self.path = tempfile.mkstemp(prefix="scs-silences-", dir="/dev/shm")
        size = 8 * (_FIRST + 2 * _ROOM)
        os.truncate(file, size)
        self._words = memoryview(mmap.mmap(file, size)).cast("Q")
        os.close(file)

    def close(self):
        os.unlink(self.path)

    def object(self):
        """The node, for context.objects of a daemon. What is linked to PORT is what it hears."""
        return (f"{{ factory = spa-node-factory args = {{ factory.name = test.tape library.name = {LIBRARY} "
                f"node.name = {NODE} tape.file = {self.path} tape.channels = 1 tape.silences = true }} }}")

    def heard(self):
        """When something was heard last."""
        return self._words[_HEARD] / 1e9

    def quantum(self):
        """Of the last cycle, in frames."""
        return self._words[_FRAMES]

    def longest(self, since):
        """The longest silence, in seconds, of those that ended after that moment, or 0."""
        count = self._words[_COUNT]
        longest = 0
        for number in range(count - 1, max(count - _ROOM, 0) - 1, -1):
            at = _FIRST + 2 * (number % _ROOM)
            if self._words[at] / 1e9 < since:
                break
            longest = max(longest, self._words[at + 1])
        return longest / 1e9
