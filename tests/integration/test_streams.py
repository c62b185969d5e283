# SPDX-License-Identifier: GPL-3.0-or-later
"""What units send and receive through other threads while they play: sound files, messages, text."""
import numpy as np
import pytest

from tests.lib import audio
from tests.lib.process import wait_for
from tests.lib.recording import Recording

RATE = 48000
BUFFER = 0
BUFFER_FRAMES = 65536  # half of it is what a file's thread has to read or write in time: 0.7 s


def hear(client, playing, path, synth, *controls):
    """The server's left output while a synth streams a file, from the first sample that isn't 0."""
    client.command("/b_alloc", BUFFER, BUFFER_FRAMES, 1)
    client.command("/b_read", BUFFER, str(path), 0, BUFFER_FRAMES, 0, 1)
    with Recording(playing.session, path.with_suffix(".heard.wav"), node=playing.node_name) as recording:
        client.request("/s_new", synth, 1000, 0, 0, "buf", BUFFER, *controls, reply="/n_go")
        recording.wait(2)
    client.request("/n_free", 1000, reply="/n_end")
    client.command("/b_close", BUFFER)
    client.command("/b_free", BUFFER)
    left = audio.read_wav(recording.path)[0][:, 0]
    return left[np.flatnonzero(left)[0]:]


def test_disk_out_records_what_sounds_without_a_gap(client, tmp_path):
    path = tmp_path / "recorded.wav"
    client.request("/s_new", "test_sine", 1000, 0, 0, "freq", 441.0, "amp", 0.2, reply="/n_go")
    client.command("/b_alloc", BUFFER, BUFFER_FRAMES, 2)
    client.command("/b_write", BUFFER, str(path), "wav", "float", 0, 0, 1)
    client.request("/s_new", "test_disk_out", 1001, 1, 0, "buf", BUFFER, reply="/n_go")
    wait_for(lambda: path.stat().st_size > 2 * RATE * 2 * 4, "two seconds in the file")
    client.request("/n_free", 1001, reply="/n_end")
    client.command("/b_close", BUFFER)
    client.command("/b_free", BUFFER)

    samples, rate = audio.read_wav(path)
    assert rate == RATE
    assert len(samples) > 2 * RATE
    frames, sine = samples.T
    assert np.array_equal(frames, np.arange(len(frames)))
    assert audio.frequency(sine, RATE) == pytest.approx(441, abs=0.1)
    assert audio.peak(sine) == pytest.approx(0.2, rel=0.01)
    assert audio.clicks(sine) == []


def test_disk_in_plays_each_sample_of_the_file(client, playing, tmp_path):
    path, step = tmp_path / "ramp.wav", 2.0**-20  # each sample is exact as a float
    audio.write_wav(path, step * np.arange(1, 4 * RATE), RATE)
    heard = hear(client, playing, path, "test_disk_in")
    assert len(heard) > 1.9 * RATE
    assert np.array_equal(heard, step * np.arange(1, len(heard) + 1))


@pytest.mark.parametrize("rate, frequency", [(0.5, 300), (1.5, 900)])
def test_vdisk_in_plays_at_its_rate(client, playing, tmp_path, rate, frequency):
    path = tmp_path / "sine.wav"
    audio.write_wav(path, 0.2 * np.sin(2 * np.pi * 600 / RATE * np.arange(6 * RATE)), RATE)
    heard = hear(client, playing, path, "test_vdisk_in", "rate", rate)
    assert len(heard) > 1.9 * RATE
    assert audio.frequency(heard, RATE) == pytest.approx(frequency, abs=0.1)
    assert audio.rms(heard) == pytest.approx(0.2 / np.sqrt(2), rel=0.01)
    assert audio.clicks(heard[4:]) == []  # the first ones are interpolated with the silence before them


def test_a_short_loop_has_no_gap(ours, client, playing, tmp_path):
    path = tmp_path / "loop.wav"
    audio.write_wav(path, np.arange(1, 1001) / 1024, RATE)
    heard = hear(client, playing, path, "test_disk_in", "loop", 1)
    assert len(heard) > 1.9 * RATE
    assert np.array_equal(heard, (np.arange(len(heard)) % 1000 + 1) / 1024)


def test_vdisk_in_tells_how_far_it_is(client, tmp_path):
    """It says how many frames have been asked for; the first block moves it by one frame less."""
    path, half = tmp_path / "long.wav", 8192
    audio.write_wav(path, np.zeros(4 * RATE), RATE)
    client.command("/b_alloc", BUFFER, 2 * half, 1)
    client.command("/b_read", BUFFER, str(path), 0, 2 * half, 0, 1)
    client.send("/s_new", "test_vdisk_in", 1000, 0, 0, "buf", BUFFER, "id", 7)
    told = [client.wait("/diskin").args for _ in range(4)]
    assert [args[:2] for args in told] == [[1000, 7]] * 4
    assert [args[2] for args in told] == [2 * half + 63, 2 * half + 63, 4 * half + 63, 4 * half + 63]
    client.request("/n_free", 1000, reply="/n_end")


def test_nothing_came_too_late(ours, playing):
    """In all that streamed before."""
    properties = playing.session.node(playing.node_name)["info"]["props"]
    assert [int(properties[f"scsynth.streams.{what}"]) for what in ("silent", "dropped")] == [0, 0]


def test_units_tell_the_clients(client):
    client.send("/s_new", "test_tell", 1000, 0, 0, "value", 1.5)
    told = [client.wait("/tr").args, client.wait("/told").args, client.wait("/tr").args]
    assert told == [[1000, 3, 1.5], [1000, 4, 1.5, 3.0], [1000, 5, 1.5]]


def test_poll_prints_into_the_log(ours, client, playing):
    client.send("/s_new", "test_tell", 1000, 0, 0, "value", 42.25)
    wait_for(lambda: "test_tell: 42.25" in playing.session.daemon.output(), "what Poll prints")
