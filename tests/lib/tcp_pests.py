# SPDX-License-Identifier: GPL-3.0-or-later
"""Badly behaved TCP clients, all at once: one sends requests and never reads, one sends half a packet and stops, one
disconnects in the middle of each packet. And a crowd of two hundred that do nothing wrong."""
import multiprocessing
import select
import socket
import struct
import time

from tests.lib.osc import Message, encode

CROWD = 200
_NAP = 0.02
_ASK_EVERY = 50  # turns; for each client of the crowd


class Pests:
    """A context manager; the clients run in a process of their own."""

    def __init__(self, port):
        context = multiprocessing.get_context("spawn")
        self._stop, self._ready = context.Event(), context.Event()
        self._counts = context.Array("q", 4)
        self._process = context.Process(target=_run, args=(port, self._stop, self._ready, self._counts), daemon=True)

    def __enter__(self):
        self._process.start()
        if not self._ready.wait(20):
            self.__exit__()
            raise RuntimeError("the TCP clients did not get their connections")
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._process.join(10)
        if self._process.is_alive():
            self._process.kill()
        assert self._process.exitcode == 0, "the TCP clients ended with an error"

    @property
    def answers(self):
        """Bytes that the crowd got."""
        return self._counts[0]

    @property
    def left(self):
        """How often a client disconnected in the middle of a packet."""
        return self._counts[1]

    @property
    def closed(self):
        """How often the server closed the connection of the one that doesn't read."""
        return self._counts[2]

    @property
    def turned_out(self):
        """Connections of the crowd, and of the one that hangs, that ended."""
        return self._counts[3]


def _frame(message):
    data = encode(message)
    return struct.pack(">i", len(data)) + data


_STATUS = _frame(Message("/status"))
_GREEDY = _frame(Message("/c_getn", 0, 8000))


def _run(port, stop, ready, counts):
    crowd = [_connect(port) for _ in range(CROWD)]
    hanging = _connect(port)
    hanging.send(_STATUS[:len(_STATUS) // 2])
    mute = _connect(port)
    for each in (*crowd, hanging):
        each.setblocking(False)
    ready.set()
    turn = 0
    while not stop.is_set():
        turn += 1
        for each in crowd[turn % _ASK_EVERY::_ASK_EVERY]:
            each.send(_STATUS)
        for each in select.select([*crowd, hanging], [], [], 0)[0]:
            got = len(each.recv(65536))
            counts[0] += got
            if not got:
                counts[3] += 1
                (crowd.remove(each) if each in crowd else None)
        with _connect(port) as leaving:
            leaving.send(_GREEDY[:turn % len(_GREEDY)])
            counts[1] += 1
        mute = _ask_without_reading(mute, port, counts)
        time.sleep(_NAP)


def _ask_without_reading(mute, port, counts):
    try:
        mute.send(_GREEDY, socket.MSG_DONTWAIT)
    except BlockingIOError:
        pass
    except ConnectionError:
        counts[2] += 1
        mute.close()
        return _connect(port)
    return mute


def _connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=5)
