# SPDX-License-Identifier: GPL-3.0-or-later
"""Sonic Pi's own server, without its window, boots pw-scsynth as its scsynth and plays all that it has, as
with scsynth.

SCS_SONIC_PI names Sonic Pi 3.2 as Debian's sonic-pi-server installs it (/usr/lib/sonic-pi). Its ports are open to the
network while it runs, so it is only started on request."""
import os
import signal
import socket
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.clients.conftest import Heard, needs
from tests.lib import audio
from tests.lib.osc import Message, decode, encode
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.recording import Recording

PIECE = Path(__file__).with_name("sonic_pi.rb")
SERVER = "app/server/ruby/bin/sonic-pi-server.rb"
pytestmark = needs("SCS_SONIC_PI", SERVER)
NO_NETWORK = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy")} # it looks for new versions


@dataclass
class Performance:
    errors: list
    heard: Heard
    samples: np.ndarray
    status: int


def performance(session, scsynth, folder):
    """Boot, play the piece, exit."""
    ports = [free_port() for _ in range(9)]
    listen, gui, server = ports[0], ports[1], ports[2]
    window = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    window.bind(("127.0.0.1", gui))
    # scsynth's port is given twice: the one that it listens on, and the one that Sonic Pi sends to.
    words = ["-u", listen, gui, server, server, *ports[3:]]
    child = session.start(["ruby", Path(os.environ["SCS_SONIC_PI"]) / SERVER, *words], "sonic-pi",
                          PATH=scsynth.path, **NO_NETWORK)
    try:
        child.wait_output("Server successfully booted", 60)
        if not session.links():
            session.connect("SuperCollider", "test-sink")
        with Recording(session, folder / "heard.wav") as recording:
            window.sendto(encode(Message("/run-code", "test", PIECE.read_text())), ("127.0.0.1", listen))
            errors = errors_until_played(window)
            recording.wait(0.2)
        window.sendto(encode(Message("/exit", "test")), ("127.0.0.1", listen))
        status = child.wait(20)
        wait_for(scsynth.log.exists, "the end of its scsynth")
    finally:
        window.close()
        child.stop()
        end_the_rest(child.pid)
    return Performance(errors, Heard.of(scsynth), audio.read_wav(folder / "heard.wav")[0], status)


def errors_until_played(window):
    """The errors that Sonic Pi reports to its window until everything has been played."""
    errors = []
    window.settimeout(60)
    while (message := decode(window.recv(65536))).address != "/runs/all-completed":
        if "error" in message.address:
            errors.append(message.args)
    return errors


def end_the_rest(group):
    """End the Erlang that Sonic Pi leaves behind."""
    try:
        os.killpg(group, signal.SIGTERM)
    except ProcessLookupError:
        pass


@pytest.fixture(scope="module")
def played(session, listen, tmp_path_factory):
    return {kind: performance(session, listen(kind), tmp_path_factory.mktemp(kind)) for kind in ("ours", "stock")}


def test_plays_without_errors(played):
    assert played["ours"].errors == []
    assert played["ours"].status == 0


def test_nothing_fails(played):
    ours, stock = played["ours"].heard, played["stock"].heard
    assert ours.fails == []
    assert ours.sent == stock.sent
    assert ours.sent["/s_new"] > 300
    # Ours also prints the names of SynthDefs that /quit frees.
    assert {**ours.answers, "/d_removed": 0} == {**stock.answers, "/d_removed": 0}


def test_sounds_as_with_scsynth(played):
    ours, stock = (played[kind].samples for kind in ("ours", "stock"))
    assert np.isfinite(ours).all()
    assert 20 * np.log10(audio.rms(ours) / audio.rms(stock)) == pytest.approx(0, abs=0.5)
