# SPDX-License-Identifier: GPL-3.0-or-later
"""What the server sends to the sink, recorded from the sink's monitor."""
import time

import numpy as np
import pytest

from tests.lib import audio, server
from tests.lib.osc import Bundle, Message, TimeTag
from tests.lib.recording import Incomplete, Recording, whole

RATE = 48000
NOT_STOCK = {64: "a JACK client on a busy machine misses cycles of 64 frames",
             441: "scsynth leaves out what of a JACK cycle is no whole block"}


def record_second(record, name):
    def take():
        with record(name) as recording:
            recording.wait(1.0)
        return recording
    samples, rate = audio.read_wav(whole(take).path)
    assert rate == RATE
    return samples


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


def test_a_recording_that_lacks_something_is_an_error(playing, tmp_path):
    with pytest.raises(Incomplete, match="full=1"):
        with Recording(playing.session, tmp_path / "short.wav", seconds=1) as recording:
            recording.wait(2)


def test_silence_without_synths(client, record):
    assert audio.peak(record_second(record, "silence")) == 0


@pytest.mark.parametrize("quantum", [64, 256, 1024, 441])
def test_no_clicks_while_playing(sine, playing, record, quantum):
    if server.is_stock() and quantum in NOT_STOCK:
        pytest.skip(NOT_STOCK[quantum])
    playing.session.force_quantum(quantum)
    try:
        left = record_second(record, f"quantum-{quantum}")[:, 0]
    finally:
        playing.session.force_quantum(1024)
    assert audio.clicks(left) == []
    assert audio.rms(left) == pytest.approx(0.2 / np.sqrt(2), rel=0.01)


def test_no_clicks_when_the_quantum_changes(ours, sine, playing, tmp_path):
    """Recorded from the server's own ports: when the quantum shrinks, a sink's monitor loses
    what is left of a longer cycle, whatever the source."""
    session, changes = playing.session, (64, 1024, 441, 128, 256, 100, 512, 64, 2048, 1024)

    def take():
        with Recording(session, tmp_path / "heard.wav", node="scsynth") as recording:
            for quantum in changes:
                session.set_quantum(quantum)
                recording.wait(0.25)
        return recording

    session.set_quantum(1024)
    session.force_quantum(0)
    try:
        recording = whole(take)
    finally:
        session.force_quantum(1024)
    samples = audio.read_wav(recording.path)[0][:, 0]
    assert len(samples) > 0.25 * len(changes) * RATE
    assert audio.clicks(samples) == []
    assert audio.frequency(samples, RATE) == pytest.approx(440, abs=0.1)


def test_impulses_at_exact_distances(client, record):
    """100 bundles, each an OffsetOut impulse, an odd number of frames apart. An impulse due in the last
    half frame of a block sounds in its last frame, as with scsynth: a frame earlier than its neighbours' times
    suggest."""
    apart, count = 1009, 100
    with record("impulses") as recording:
        start = TimeTag.from_unix(time.time() + 0.5)
        for index in range(count):
            # Integers: a double with seconds since 1970 is only exact to a hundredth of a frame.
            due = TimeTag(start + (index * apart << 32) // RATE)
            client.send_packet(Bundle(due, [Message("/s_new", "test_impulse", 2000 + index, 0, 0, "amp", 0.5)]))
        client.wait("/n_end", where=lambda args: args[0] == 2000 + count - 1, timeout=10)
        recording.wait(0.1)
    left = audio.read_wav(recording.path)[0][:, 0]
    frames = np.array(audio.impulses(left, 0.25))
    assert len(frames) == count
    if server.is_stock():
        assert np.median(np.diff(frames)) == pytest.approx(apart, abs=32)
        return
    off_grid = frames - apart * np.arange(count)
    assert np.ptp(off_grid) <= 1, off_grid - off_grid[0]
    assert np.max(np.abs(left[frames] - 0.5)) < 1e-6
