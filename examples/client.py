# SPDX-License-Identifier: GPL-3.0-or-later
"""A client of a SuperCollider server over UDP: send, ask, and wait for what comes back."""
import socket
import time
from collections import deque

from examples.osc import IMMEDIATELY, Bundle, Message, TimeTag, decode, encode


class NoReply(TimeoutError):
    """The awaited message did not come; the text says what came instead."""


class Failed(RuntimeError):
    """The server answered /fail; the text is what it said."""


class Client:
    """Messages that nobody awaited stay in `inbox`, in the order they came."""

    def __init__(self, port, host="127.0.0.1", timeout=5.0):
        self.timeout = timeout
        self.inbox = deque(maxlen=10000)
        self._sync_id = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._socket.connect((host, port))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._socket.close()

    def send(self, address, *args):
        self.send_packet(Message(address, *args))

    def send_packet(self, packet):
        self.send_bytes(encode(packet))

    def send_bytes(self, data):
        """One datagram; that nobody listens (yet) shows as a missing reply, not here."""
        try:
            self._socket.send(data)
        except ConnectionRefusedError:
            self._socket.send(data)

    def send_at(self, unix_time, *messages):
        """A bundle for a moment of the wall clock; each message is (address, *args)."""
        time_tag = IMMEDIATELY if unix_time is None else TimeTag.from_unix(unix_time)
        self.send_packet(Bundle(time_tag, [Message(*message) for message in messages]))

    def wait(self, address, where=None, timeout=None):
        """The first message, received already or to come, with that address whose arguments
        satisfy `where`. NoReply after `timeout` seconds."""

        def wanted(message):
            return message.address == address and (where is None or where(message.args))

        for message in self.inbox:
            if wanted(message):
                self.inbox.remove(message)
                return message
        return self._next(wanted, address, timeout)

    def request(self, address, *args, reply, where=None, timeout=None):
        """Send and wait for `reply`; a /fail for the same command raises Failed."""
        self._drain()
        self.send(address, *args)

        def failed(message):
            return message.address == "/fail" and message.args[:1] == [address]

        def wanted(message):
            return failed(message) or (
                message.address == reply and (where is None or where(message.args)))

        message = self._next(wanted, reply, timeout)
        if failed(message):
            raise Failed(" ".join(str(value) for value in message.args))
        return message

    def command(self, address, *args, timeout=None):
        """An asynchronous command: wait for its /done."""
        return self.request(address, *args, reply="/done",
                            where=lambda values: values[:1] == [address], timeout=timeout)

    def sync(self, timeout=None):
        """Return when everything sent so far has been done. Asks again once a second: a storm of
        notifications may have filled the socket, and the answer been dropped."""
        self._sync_id += 1
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        while True:
            left = deadline - time.monotonic()
            try:
                self.request("/sync", self._sync_id, reply="/synced",
                             where=lambda values: values == [self._sync_id], timeout=min(1, left))
                return
            except NoReply:
                if left <= 1:
                    raise

    def status(self, timeout=None):
        """The arguments of /status.reply: 1, ugens, synths, groups, defs, average and peak
        CPU in percent, nominal and actual sample rate."""
        return self.request("/status", reply="/status.reply", timeout=timeout).args

    def wait_ready(self, timeout=10.0):
        """Ask for the status until it is answered."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                return self.status(timeout=0.2)
            except NoReply:
                if time.monotonic() > deadline:
                    raise

    def collect(self, seconds):
        """Everything that arrives within `seconds`, after what had arrived before."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.inbox.extend(self._receive(left))
        messages = list(self.inbox)
        self.inbox.clear()
        return messages

    def _next(self, wanted, what, timeout):
        timeout = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            arrived = self._receive(left)
            found = next((message for message in arrived if wanted(message)), None)
            self.inbox.extend(message for message in arrived if message is not found)
            if found is not None:
                return found
        got = ", ".join(f"{m.address} {m.args}" for m in list(self.inbox)[-8:]) or "nothing"
        raise NoReply(f"no {what} within {timeout:g} s; received: {got}")

    def _drain(self):
        while messages := self._receive(0):
            self.inbox.extend(messages)

    def _receive(self, timeout):
        self._socket.settimeout(timeout)
        try:
            packet = decode(self._socket.recv(65536))
        except (TimeoutError, BlockingIOError, ConnectionRefusedError):
            return []
        return list(_messages(packet))


def _messages(packet):
    if isinstance(packet, Bundle):
        for element in packet.elements:
            yield from _messages(element)
    else:
        yield packet
