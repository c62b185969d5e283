# SPDX-License-Identifier: GPL-3.0-or-later
import struct

import numpy as np
import pytest

from tests.lib import audio

RATE = 48000


def sine(hz, seconds=1.0, level=0.2, phase=0.3):
    return level * np.sin(2 * np.pi * hz * np.arange(int(RATE * seconds)) / RATE + phase)


@pytest.mark.parametrize("hz", [20.3, 439.95, 440, 440.05, 1234.567, 15000.1])
def test_frequency_of_a_sine(hz):
    assert audio.frequency(sine(hz), RATE) == pytest.approx(hz, abs=0.005)


def test_frequency_in_noise():
    noise = np.random.default_rng(1).normal(0, 0.02, RATE)
    assert audio.frequency(sine(440.2) + noise, RATE) == pytest.approx(440.2, abs=0.02)


def test_frequency_of_too_little():
    with pytest.raises(ValueError):
        audio.frequency(sine(440)[:100], RATE)


def test_levels():
    assert audio.peak(sine(440)) == pytest.approx(0.2, abs=1e-3)
    assert audio.rms(sine(440)) == pytest.approx(0.2 / np.sqrt(2), abs=1e-4)
    assert audio.peak([]) == audio.rms([]) == 0


def test_trim_keeps_only_sound():
    assert list(audio.trim(np.array([0, 0, .5, 0, .1, 0]))) == [.5, 0, .1]
    assert len(audio.trim(np.zeros(5))) == 0


def test_a_clean_sine_has_no_clicks():
    assert audio.clicks(sine(440)) == []


def test_a_gap_a_repeat_and_a_lost_block_are_clicks():
    clean = sine(441.7)
    gap = clean.copy()
    gap[10000:10064] = 0
    assert audio.clicks(gap)[0] == pytest.approx(10000, abs=2)
    assert audio.clicks(np.concatenate([clean[:20000], clean[19744:]])) == [20000 - 1]
    assert audio.clicks(np.delete(clean, slice(30000, 30064)))[0] == pytest.approx(30000, abs=2)


def test_impulses():
    signal = np.zeros(1000)
    signal[[10, 11, 100, 500]] = 0.5
    signal[300] = 0.1
    assert audio.impulses(signal, 0.2) == [10, 100, 500]


def test_wav_round_trip(tmp_path):
    samples = np.stack([sine(440), sine(220)], axis=1)
    audio.write_wav(tmp_path / "x.wav", samples, RATE)
    read, rate = audio.read_wav(tmp_path / "x.wav")
    assert rate == RATE and read.shape == samples.shape
    assert np.max(np.abs(read - samples)) < 1e-7


@pytest.mark.parametrize("bits, raw", [(16, struct.pack("<hh", 16384, -32768)),
                                       (24, bytes([0, 0, 0x40, 0, 0, 0x80])),
                                       (32, struct.pack("<ii", 1 << 30, -1 << 31))])
def test_pcm(tmp_path, bits, raw):
    fmt = struct.pack("<HHIIHH", 1, 1, RATE, RATE * bits // 8, bits // 8, bits)
    body = b"fmt " + struct.pack("<I", 16) + fmt + b"data" + struct.pack("<I", len(raw)) + raw
    (tmp_path / "x.wav").write_bytes(b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body)
    read, _ = audio.read_wav(tmp_path / "x.wav")
    assert read[:, 0].tolist() == [0.5, -1.0]


def test_not_a_wav_file(tmp_path):
    (tmp_path / "x.wav").write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError):
        audio.read_wav(tmp_path / "x.wav")
