# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that end while a hundred files stream, and files that come and go meanwhile: the daemon lives."""
import os
import random
import time
from pathlib import Path

import numpy as np
import pytest

from tests.lib.audio import read_wav, write_wav
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import threads, wait_for
from tests.lib.server import NodeServer, is_stock

pytestmark = pytest.mark.skipif(is_stock(), reason="it is about our node")

SYNTHDEFS = Path(__file__).parents[1] / "integration" / "synthdefs"
RATE = 48000
STREAMS = 100
FRAMES = 8192  # of a buffer
ROUNDS = int(os.environ.get("SCS_TEST_ROUNDS", "3"))


@pytest.fixture(scope="module")
def session():
    with Session() as session:
        session.force_quantum(1024)
        yield session
        assert session.daemon.running(), session.logs()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Of all lengths, the empty one among them."""
    folder = tmp_path_factory.mktemp("streams")
    for length in (0, 1, 1000, FRAMES, 10 * RATE):
        write_wav(folder / f"{length}.wav", 0.001 * np.ones(length), RATE)
    return sorted(folder.iterdir())


def stream_all(client, files, folder):
    """A hundred buffers: of four, one records, and three play, half of them in a loop."""
    client.command("/notify", 1)
    client.command("/d_loadDir", str(SYNTHDEFS))
    for number in range(STREAMS):
        records = number % 4 == 0
        client.send("/b_alloc", number, FRAMES, 2 if records else 1)
        if records:
            client.send("/b_write", number, str(folder / f"{number}.recorded.wav"), "wav", "float", 0, 0, 1)
            client.send("/s_new", "test_disk_out", 1000 + number, 1, 0, "buf", number)
        else:
            client.send("/b_read", number, str(files[number % len(files)]), 0, -1, 0, 1)
            name = "test_vdisk_in" if number % 2 else "test_disk_in"
            client.send("/s_new", name, 1000 + number, 0, 0, "buf", number, "loop", number % 8 // 4)
    client.sync(timeout=20)
    assert client.status()[2] == STREAMS


def stream_threads(session):
    return [each["name"] for each in threads(session.daemon.pid).values()].count("scsynth-streams")


@pytest.mark.parametrize("settings", [{}, {"native-ugens": "false"}, {"block-size": 32}], ids=str)
def test_removal_while_files_stream(session, files, tmp_path, settings):
    for round_ in range(ROUNDS):
        server = NodeServer(session, free_port(), settings)
        session.connect(server.node_name, "test-sink")
        with Client(server.port) as client:
            stream_all(client, files, tmp_path)
            assert stream_threads(session) > 0
            time.sleep(0.1 * (round_ % 3))
            began = time.monotonic()
            server.stop()
            assert time.monotonic() - began < 5  # 200 ms in the daemon; the rest is the tools'
        assert session.daemon.running(), session.logs()
    wait_for(lambda: stream_threads(session) == 0, "the end of the threads")


def test_quit_while_files_stream(session, files, tmp_path):
    """What was recorded is in the files, to its last frame."""
    for _ in range(ROUNDS):
        server = NodeServer(session, free_port())
        session.connect(server.node_name, "test-sink")
        with Client(server.port) as client:
            stream_all(client, files, tmp_path)
            time.sleep(0.3)
            client.command("/quit")
        server.stop()
        lengths = set()
        for number in range(0, STREAMS, 4):
            frames = read_wav(tmp_path / f"{number}.recorded.wav")[0][:, 0]
            # It began when the file was opened, some cycles after the synth was made.
            assert np.array_equal(frames, frames[0] + np.arange(len(frames)))
            lengths.add(len(frames))
        assert min(lengths) > 0.2 * RATE
        assert max(lengths) - min(lengths) < RATE, lengths
    assert session.daemon.running(), session.logs()


def test_buffers_that_come_and_go(session, files, tmp_path):
    """All commands that open, close, fill and free buffers, on buffers that stream."""
    server = NodeServer(session, free_port())
    session.connect(server.node_name, "test-sink")
    dice = random.Random(1)
    with Client(server.port) as client:
        stream_all(client, files, tmp_path)
        for _ in range(200 * ROUNDS):
            number, path = dice.randrange(STREAMS), str(dice.choice(files))
            message = dice.choice([
                ("/b_close", number), ("/b_free", number), ("/b_zero", number),
                ("/b_alloc", number, dice.choice((FRAMES, 128, 1000, 65536)), dice.choice((1, 2))),
                ("/b_read", number, path, 0, -1, 0, 1), ("/b_read", number, path, 0, -1, 0, 1),
                ("/b_read", number, path, 7, 500, 3, 0), ("/b_allocRead", number, path),
                ("/b_write", number, str(tmp_path / f"{number}.other.wav"), "wav", "int16", 0, 0, 1),
                ("/b_gen", number, "sine1", 7, 0.001), ("/n_set", 1000 + number, "buf", dice.randrange(STREAMS + 2)),
                ("/n_set", 1000 + number, "loop", 1), ("/n_set", 1000 + number, "rate", dice.choice((0.3, 1, 7.0, 1e9))),
            ])
            client.send(*message)
        client.sync(timeout=30)
        assert client.status()[2] == STREAMS
    server.stop()
    assert "crashed" not in session.daemon.output(), session.logs()
