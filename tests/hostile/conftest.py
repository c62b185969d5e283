# SPDX-License-Identifier: GPL-3.0-or-later
"""A server in a private daemon, linked to a null sink, that must live through every test. The daemon runs as a
desktop's does, where the machine allows it, and another program plays to the same sink."""
import os

import numpy as np
import pytest

from tests.lib import audio, desktop, server as servers
from tests.lib.daemon import ROOT, Session
from tests.lib.osc import Client, Message, OscError
from tests.lib.ports import free_port
from tests.lib.process import wait_for

SINE = ROOT / "tests/integration/synthdefs/test_sine.scsyndef"
BUFFERS = 256
TRIES = 10
TONE_RATE, TONE_SECONDS, TONE_LEVEL = 8000, 60, 0.001


def pytest_collection_modifyitems(items):
    if os.environ.get("SCS_LONG") == "1":
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="long: runs with SCS_LONG=1"))


class Victim:
    """The server, its daemon and a client."""
    UNREADABLE = "unreadable"  # the address of an answer that can't be decoded

    def __init__(self, session, server, client, folder, sent_before):
        self.session, self.server, self.client, self.folder = session, server, client, folder
        self._sent_before = sent_before
        self.tone = start_tone(session, folder)

    @property
    def sent(self):
        """Packets sent to the server by all clients."""
        return VictimClient.sent - self._sent_before

    def new_client(self):
        return VictimClient(self.server.port)

    def counters(self):
        props = self.session.node(self.server.node_name)["info"]["props"]
        names = ["received", "decoded", "rejected", "refused", "kernel-dropped"]
        return {name: int(props[f"scsynth.packets.{name}"]) for name in names} | {
            name: int(props[f"scsynth.{name}"]) for name in ("overruns", "cuts")}

    def refused(self):
        """Packets and connections that were not obeyed."""
        return self.counters()["refused"]

    def assert_in_time(self, act):
        """While act() runs, no cycle of the node goes on beyond its end. It is called again if one did, as something
        else on the machine may have been the reason: an engine that takes too long does so each time."""
        if not isinstance(self.session, desktop.Desktop):
            act()
            return
        before = self.settled_counters()["overruns"]
        for _ in range(TRIES):
            act()
            after = self.settled_counters()["overruns"]
            if after == before:
                return
            print(f"{after - before} cycles ended too late")
            before = after
        raise AssertionError(f"{TRIES} times out of {TRIES}, cycles ended too late")

    def settled_counters(self):
        """The counters, once every packet has been counted as fetched or as dropped by the kernel."""
        extra = 1 + 10  # the start asks for the status, perhaps repeatedly
        self.client.wait_ready(timeout=20)  # the kernel reports dropped packets with the next one

        def added_up():
            seen = self.counters()
            arrived = seen["received"] + seen["refused"] + seen["kernel-dropped"]
            return self.sent <= arrived <= self.sent + extra and seen

        seen = wait_for(added_up, f"counters that add up to {self.sent}")
        print(f"sent {self.sent}: {seen}")
        assert seen["received"] == seen["decoded"] + seen["rejected"]
        return seen

    def reset(self):
        """Free all nodes, buffers and definitions, and load the sine again."""
        client = self.client
        client.send("/error", 1)
        client.send("/notify", 1)  # a changed packet may have become /quit, which logs everyone out
        client.send("/dumpOSC", 0)
        client.send("/clearSched")
        client.send("/g_freeAll", 0)
        client.send("/n_run", 0, 1)
        client.send("/d_freeAll")
        client.send_at(None, *[("/b_free", buffer) for buffer in range(BUFFERS)])
        client.sync(timeout=20)
        client.command("/d_recv", SINE.read_bytes())

    def assert_alive(self):
        """The daemon runs and answers, the server answers, and a synth of the sine runs."""
        assert self.session.daemon.running(), self.session.logs()
        assert self.tone.running(), self.tone.output()
        assert "PipeWire:Interface:Core" in self.session.pw_cli("info", "0")
        client = self.client
        client.sync(timeout=20)
        client.send("/s_new", "test_sine", 999999, 0, 0)
        client.sync()
        client.wait_playing()
        client.send("/n_free", 999999)
        client.sync()


class VictimClient(Client):
    """Counts what it sends. An answer that quotes invalid text becomes a message "unreadable"."""
    sent = 0

    def send_bytes(self, data):
        super().send_bytes(data)
        VictimClient.sent += 1

    def _receive(self, timeout):
        try:
            return super()._receive(timeout)
        except OscError:
            return [Message(Victim.UNREADABLE)]

    def wait_any(self, addresses):
        """The first message with one of these addresses."""
        return self._next(lambda message: message.address in addresses, " or ".join(addresses), None)

    def collect_into_inbox(self, seconds):
        """Everything that arrives within that time."""
        self.inbox.extend(self.collect(seconds))

    def wait_playing(self):
        """The sine's synth is there and its units compute."""
        info = self.request("/n_query", 999999, reply="/n_info",
                            where=lambda values: values[:1] == [999999])
        assert info.args[4] == 0
        assert self.status()[1] >= 3


def start_tone(session, folder):
    """Another program that plays all the time."""
    path = folder.parent / f"{folder.name}-tone.wav"
    frames = np.arange(TONE_RATE * TONE_SECONDS)
    tone = TONE_LEVEL * np.sin(2 * np.pi * 440 / TONE_RATE * frames)
    audio.write_wav(path, tone[:, np.newaxis].astype(np.float32), TONE_RATE)
    return session.start(["sh", "-c", f"while pw-play --target test-sink {path}; do :; done"], "tone")


def victim_session():
    """As on a desktop if that can be."""
    if lacking := desktop.lacking():
        print(f"not as on a desktop, and the length of cycles isn't looked at: {lacking}")
        return Session()
    return desktop.Desktop()


@pytest.fixture(scope="module")
def victim_settings():
    """Settings of the module's victim beyond the usual ones."""
    return {}


@pytest.fixture(scope="module")
def victim(tmp_path_factory, victim_settings):
    if servers.is_stock():
        pytest.skip("stock scsynth would not survive this")
    folder = tmp_path_factory.mktemp("files")
    (folder / "sine.scsyndef").write_bytes(SINE.read_bytes())
    with victim_session() as session:
        session.force_quantum(256)
        settings = {"restricted-path": folder, "allow-quit": "false", "buffers": BUFFERS,
                    "load-synthdefs": "false"} | victim_settings
        sent_before = VictimClient.sent
        server = servers.NodeServer(session, free_port(), settings)
        session.connect(server.node_name, "test-sink")
        with VictimClient(server.port) as client:
            client.command("/notify", 1)
            yield Victim(session, server, client, folder, sent_before)
        assert session.daemon.running(), session.logs()
        server.stop()


@pytest.fixture
def survived(victim):
    """The server is empty before and after the test, and the victim lives after it."""
    victim.reset()
    yield
    victim.reset()
    victim.assert_alive()
