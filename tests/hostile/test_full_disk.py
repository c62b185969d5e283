# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings on a disk that fills up, or by a process that may write no larger files: what was written is readable, the
client is told once, and what else plays and records is whole."""
import resource
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.lib.audio import read_wav
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.server import NodeServer, is_stock

pytestmark = pytest.mark.skipif(is_stock(), reason="it is about our node")

SYNTHDEFS = Path(__file__).parents[1] / "integration" / "synthdefs"
FRAMES = 16384   # of a buffer
ROOM = 1 << 20   # bytes
FRAME = 8        # bytes: two floats
FULL, WHOLE = (1, 2), 3  # buffers
AFTER_FULL = 1.0  # s


@pytest.fixture(scope="module")
def session():
    with Session() as session:
        session.force_quantum(1024)
        yield session
        assert session.daemon.running(), session.logs()


@pytest.fixture(params=["a full disk", "a limit of the process"])
def small(request, session, tmp_path):
    """A folder whose files get no larger than ROOM, alone or together, and what the failures say."""
    folder = tmp_path / "small"
    folder.mkdir()
    if request.param == "a full disk":
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", folder], check=False,
                              capture_output=True, text=True)
        if made.returncode != 0:
            pytest.skip(f"a small disk needs root: {made.stderr.strip()}")
        yield folder, "No space left on device"
        subprocess.run(["umount", folder], check=True)
        return
    before = resource.prlimit(session.daemon.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(session.daemon.pid, resource.RLIMIT_FSIZE, (ROOM, before[1]))
    yield folder, "File too large"
    resource.prlimit(session.daemon.pid, resource.RLIMIT_FSIZE, before)


def is_ramp(samples):
    return np.array_equal(samples, samples[0] + np.arange(len(samples)))


def collect(client, seconds):
    """The failures that come within that time."""
    failures = []
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        try:
            failures.append(client.wait("/fail", timeout=left).args)
        except TimeoutError:
            break
    return failures


def test_recordings(session, small, tmp_path):
    folder, reason = small
    server = NodeServer(session, free_port())
    session.connect(server.node_name, "test-sink")
    with Client(server.port) as client:
        client.command("/notify", 1)
        client.command("/d_loadDir", str(SYNTHDEFS))
        paths = {number: folder / f"{number}.wav" for number in FULL}
        paths[WHOLE] = tmp_path / "whole.wav"
        for number, path in paths.items():
            client.command("/b_alloc", number, FRAMES, 2)
            client.command("/b_write", number, str(path), "wav", "float", 0, 0, 1)
            if number != WHOLE:
                client.send("/s_new", "test_disk_out", 1000 + number, 1, 0, "buf", number)
        told = {}
        while len(told) < len(FULL):
            name, text, number = client.wait("/fail", timeout=20).args
            assert name == "/b_write" and number not in told
            assert text == f"File '{paths[number]}' could not be written: System error : {reason}.\n"
            told[number] = text
        # While nothing more can be written there, another recording goes on.
        client.send("/s_new", "test_disk_out", 1000 + WHOLE, 1, 0, "buf", WHOLE)
        failures = collect(client, AFTER_FULL)
        assert failures == []  # each is told once
        before = {number: read_wav(paths[number])[0] for number in FULL}  # while they are open
        for number in paths:
            client.send("/n_free", 1000 + number)
            client.command("/b_close", number)
        assert client.status()[2] == 0
    server.stop()
    assert session.daemon.running(), session.logs()
    written = 0
    for number in FULL:
        recorded = read_wav(paths[number])[0]
        assert np.array_equal(recorded, before[number])
        assert is_ramp(recorded[:, 0])
        written += len(recorded) * FRAME
        assert paths[number].stat().st_size <= ROOM
    assert written > ROOM - (64 << 10)  # all of the room was used
    whole = read_wav(paths[WHOLE])[0][:, 0]
    assert is_ramp(whole)
    assert len(whole) > (AFTER_FULL - 0.2) * 48000


def test_a_buffer_that_does_not_fit(session, small):
    folder, reason = small
    server = NodeServer(session, free_port())
    with Client(server.port) as client:
        client.command("/b_alloc", 1, ROOM, 1)
        client.send("/b_fill", 1, 0, ROOM, 0.25)
        client.sync()
        path = folder / "a.wav"
        client.send("/b_write", 1, str(path), "wav", "int16")
        assert reason in client.wait("/fail", timeout=20).args[1]
        samples = read_wav(path)[0]
        assert ROOM // 2 - (8 << 10) < len(samples) <= ROOM // 2
        assert np.all(samples == 0.25)
        client.status()
    server.stop()
