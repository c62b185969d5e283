# SPDX-License-Identifier: GPL-3.0-or-later
"""SynthDefs as people write them in a running server: each loads, plays alone for a moment with its default controls,
has finite output, is released, and ends. tests/oracle/test_corpus.py says which, and compares their sound with
scsynth's."""

import numpy as np
import pytest

from tests.lib import audio
from tests.lib import server as servers
from tests.lib.daemon import Session
from tests.lib.osc import Client, NoReply
from tests.lib.ports import free_port
from tests.lib.recording import Recording
from tests.lib.scsynth import StockServer
from tests.oracle import test_corpus, ugens

MOMENT = 0.05
SAID = ("freq", 440.0)  # SuperDirt always sets it: with their default, 0, some of its synths divide by zero
SETTINGS = {"max-nodes": 8192, "wire-buffers": 2048, "rt-memory": 65536, "buffers": 4096}
STOCK_OPTIONS = ("-n", 8192, "-w", 2048, "-m", 65536, "-b", 4096, "-D", 0)


@pytest.fixture(scope="module")
def server():
    with Session() as session:
        session.force_quantum(1024)
        server = (StockServer(session, free_port(), STOCK_OPTIONS) if servers.is_stock()
                  else servers.NodeServer(session, free_port(), SETTINGS))
        if not session.links():
            session.connect(server.node_name, "test-sink")
        yield server
        assert session.daemon.running(), session.logs()


@test_corpus.each_folder
def test_project(folder, server, tmp_path):
    with Client(server.port) as client:
        client.command("/notify", 1)
        client.send_at(None, *ugens.buffers(tmp_path))
        client.sync()
        names = [name for path in sorted(folder.rglob("*.scsyndef")) for name in load(client, path)]
        synths = client.status()[2]
        with Recording(server.session, tmp_path / "played.wav", server.node_name) as recording:
            slots = {name: play(client, recording, name, 1000 + index) for index, name in enumerate(names)}
        assert client.status()[2] == synths
        client.command("/notify", 0)
    samples, _ = audio.read_wav(recording.path)
    wrong = [name for name, (start, end) in slots.items() if not np.isfinite(samples[start:end]).all()]
    heard = [name for name, (start, end) in slots.items() if samples[start:end].any()]
    print(f"{len(names)} SynthDefs, {len(heard)} of them heard")
    assert heard
    assert not wrong, f"not finite: {wrong}"


def load(client, path):
    """The names of the file's SynthDefs; Failed if the server refuses one."""
    client.command("/d_recv", path.read_bytes())
    return [name for name, _ in test_corpus.contents(path)]


def play(client, recording, name, number):
    """Play a synth, release it, and free it if that doesn't end it. Returns its first and last frame."""
    start = recording.frames()
    try:
        client.request("/s_new", name, number, 0, 0, *SAID, reply="/n_go", where=lambda args: args[0] == number)
        recording.wait(MOMENT)
        client.send("/n_set", number, "gate", 0.0)
        recording.wait(MOMENT)
        client.send("/n_free", number)
        client.wait("/n_end", where=lambda args: args[0] == number)
    except NoReply as error:
        raise AssertionError(f"{name}: {error}") from None
    return start, recording.frames()
