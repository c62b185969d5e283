# SPDX-License-Identifier: GPL-3.0-or-later
"""What the server sends to the sink, recorded from the sink's monitor."""
import time

import numpy as np
import pytest

from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, server
from tests.lib.osc import Client
from tests.lib.ports import free_port

RATE = 48000
ATTEMPTS = 4


def record_second(record, name):
    """A second as recorded, without its first tenth: a recorder begins with a silent cycle."""
    with record(name) as recording:
        time.sleep(1.0)
    samples, rate = audio.read_wav(recording.path)
    assert rate == RATE and len(samples) > 0.8 * RATE, f"{len(samples)} frames recorded"
    return samples[RATE // 10:]


@pytest.fixture
def sine(client):
    client.request("/s_new", "test_sine", 1000, 0, 0, "freq", 440.0, "amp", 0.2, reply="/n_go")
    return client


def test_a_sine_has_its_frequency_and_level(sine, record):
    samples = record_second(record, "sine")
    for channel in samples.T:
        assert audio.frequency(channel, RATE) == pytest.approx(440, abs=0.1)
        assert audio.peak(channel) == pytest.approx(0.2, rel=0.01)
        assert audio.rms(channel) == pytest.approx(0.2 / np.sqrt(2), rel=0.01)


def test_silence_without_synths(client, record):
    assert audio.peak(record_second(record, "silence")) == 0


@pytest.mark.parametrize("quantum", [64, 256, 1024, 441])
def test_no_clicks_while_playing(sine, playing, record, quantum):
    """The recorder is a process that a busy machine can make miss a cycle: one clean second of
    several counts. Clicks of the server's own would be in each."""
    if server.is_stock() and quantum == 64:
        pytest.skip("a JACK client on a busy machine misses cycles of 64 frames")
    playing.session.force_quantum(quantum)
    try:
        found = []
        for attempt in range(ATTEMPTS):
            left = record_second(record, f"{quantum}-{attempt}")[:, 0]
            found.append(audio.clicks(left))
            if not found[-1]:
                assert audio.rms(left) == pytest.approx(0.2 / np.sqrt(2), rel=0.01)
                return
        pytest.fail(f"clicks at frames {found}")
    finally:
        playing.session.force_quantum(1024)


def test_no_clicks_when_the_quantum_changes(ours, sine, playing, tmp_path):
    """Heard by a second node in the daemon: a recorder outside loses, of any source, what a longer
    cycle had left when the quantum shrinks. Multiples of the block only: another quantum changes
    the delay of the ear's input, which is heard there (the dummy host proves the output's part)."""
    session, heard = playing.session, tmp_path / "heard.wav"
    ear = server.NodeServer(session, free_port(), name="ear")
    session.link("scsynth:out_1", "ear:in_1")
    try:
        with Client(ear.port) as client:
            client.command("/notify", 1)
            client.command("/d_loadDir", str(SYNTHDEFS))
            client.command("/b_alloc", 0, 3 * RATE, 1)
            client.request("/s_new", "test_record", 1000, 0, 0, reply="/n_go")
            for quantum in (64, 1024, 128, 256, 512, 64, 2048, 1024):
                session.force_quantum(quantum)
                time.sleep(0.25)
            client.wait("/n_end", timeout=10)
            client.command("/b_write", 0, str(heard), "wav", "float")
    finally:
        session.force_quantum(1024)
        ear.stop()
    samples = audio.read_wav(heard)[0][RATE // 10:, 0]
    assert audio.clicks(samples) == []
    assert audio.frequency(samples, RATE) == pytest.approx(440, abs=0.1)


def test_impulses_at_exact_distances(client, record):
    """100 bundles, each an OffsetOut impulse, an odd number of frames apart."""
    apart, count = 1009, 100
    with record("impulses") as recording:
        start = time.time() + 0.5
        for index in range(count):
            client.send_at(start + index * apart / RATE,
                           ("/s_new", "test_impulse", 2000 + index, 0, 0, "amp", 0.5))
        client.wait("/n_end", where=lambda args: args[0] == 2000 + count - 1, timeout=10)
        time.sleep(0.1)
    left = audio.read_wav(recording.path)[0][:, 0]
    frames = audio.impulses(left, 0.25)
    assert len(frames) == count
    distances = np.diff(frames)
    if server.is_stock():
        assert np.median(distances) == pytest.approx(apart, abs=32)
        return
    # Wall clock and sample clock may drift by a frame in two seconds, never jitter.
    assert np.max(np.abs(distances - apart)) <= 1, distances
    assert np.count_nonzero(distances != apart) <= 2, distances
    assert np.max(np.abs(left[frames] - 0.5)) < 1e-6
