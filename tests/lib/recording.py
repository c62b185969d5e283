# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of what a node puts out as 32 bit float WAV; of a sink, that is what it plays.

A node inside the daemon (tests/tape) records, because it runs in each cycle; a separate program would
miss some on a busy machine. If something is missing nevertheless, that is the error Incomplete."""
import os
import struct
import tempfile
from dataclasses import dataclass
from itertools import count

import numpy as np

from tests.lib import audio, pipewire
from tests.lib.process import wait_for

LIBRARY = "tape/libspa-tape"
SECONDS = 90
_HEADER = struct.Struct("<7I")
_number = count(1)


class Incomplete(RuntimeError):
    """The recording is not all that was played; the text says why."""


@dataclass
class _Header:
    channels: int
    capacity: int
    rate: int
    frames: int
    leaps: int
    empty: int
    full: int


class Recording:
    """A context manager that records while it is entered. The file is complete after exit."""

    def __init__(self, session, path, node="test-sink", seconds=SECONDS):
        self.path = path
        self._session, self._node, self._seconds = session, node, seconds
        self._name = f"tape-{next(_number)}"

    def __enter__(self):
        # In memory, so that the data loop doesn't wait for a disk.
        file, self._tape = tempfile.mkstemp(prefix="scs-tape-", dir="/dev/shm")
        os.close(file)
        try:
            self._start()
            wait_for(lambda: self._header().frames, f"sound from {self._node}")
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind, *_):
        try:
            # Before the links go, one after the other.
            header = self._header()
            samples = np.fromfile(self._tape, "<f4", header.frames * header.channels, offset=_HEADER.size)
        finally:
            self._stop()
        audio.write_wav(self.path, samples.reshape(-1, header.channels), header.rate)
        if kind is None:
            self._check(header)

    def frames(self):
        """How many have been recorded."""
        return self._header().frames

    def wait(self, seconds):
        """Wait until that much more has been recorded, however long it takes."""
        start = self._header()
        end = start.frames + seconds * start.rate
        wait_for(lambda: self._check(self._header()).frames >= end, f"{seconds} s more of {self._node}",
                 seconds + 20)

    def _start(self):
        outputs = self._session.ports(self._node, "out")
        properties = {"factory.name": "test.tape", "library.name": LIBRARY, "object.linger": 1,
                      "node.name": self._name, "tape.file": self._tape,
                      "tape.channels": len(outputs), "tape.seconds": self._seconds}
        self._session.pw_cli("create-node", "spa-node-factory",
                             " ".join(f"{key}={value}" for key, value in properties.items()))
        self._session.wait_until(
            lambda: len(self._session.ports(self._name, "in")) == len(outputs), f"the ports of {self._name}")
        for number, output in enumerate(outputs, 1):
            self._session.link(f"{self._node}:{output}", f"{self._name}:in_{number}")

    def _check(self, header):
        if header.leaps or header.empty or header.full:
            raise Incomplete(f"the recording of {self._node} is incomplete: {header}")
        return header

    def _header(self):
        with open(self._tape, "rb") as tape:
            return _Header(*_HEADER.unpack(tape.read(_HEADER.size)))

    def _stop(self):
        try:
            node = self._session.node(self._name)
            if node:
                self._session.pw_cli("destroy", node["id"])
                self._session.wait_gone(self._name)
        finally:
            os.unlink(self._tape)


def whole(take):
    """What take() records, without a lost cycle."""
    for _ in range(pipewire.ATTEMPTS - 1):
        try:
            return take()
        except Incomplete:
            continue
    return take()
