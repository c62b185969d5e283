# SPDX-License-Identifier: GPL-3.0-or-later
"""Buffer and Bus of stock sclang: each method has the expected result."""
from pathlib import Path

import numpy as np
import pytest

from tests.lib import audio, sclang

SCRIPT = Path(__file__).with_name("buffers.scd")
RATE, FRAMES = 44100, 20000
TURN = 2 * np.pi * np.arange(64) / 64


@pytest.fixture(scope="module")
def sound():
    """Two channels whose samples are all different, and exact in 32 bits."""
    frames = np.arange(FRAMES)
    return np.column_stack([frames / 2**15, -frames / 2**16])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("buffers")


@pytest.fixture(scope="module")
def found(playing, sound, folder):
    """{name: values} of the script's steps: numbers where they are numbers, else strings."""
    audio.write_wav(folder / "sound.wav", sound, RATE)
    output = sclang.run(SCRIPT, playing.port, folder / "sound.wav", folder, folder=folder / "home",
                        env=playing.session.env)
    return {name: _numbers(text.split()) for name, text in sclang.steps(output).items()}


def _numbers(words):
    try:
        return np.array([float(word) for word in words])
    except ValueError:
        return words


def same(values, expected, within=0.0):
    expected = np.asarray(expected, dtype=float).flatten()
    assert len(values) == len(expected)
    assert np.max(np.abs(values - expected), initial=0) <= within, (values, expected)


def float32(values):
    return np.asarray(values, dtype=np.float32).astype(float)


def wavetable(signal):
    """The pairs of a wavetable, from one period and the sample after it."""
    now, then = signal[:-1], signal[1:]
    return np.column_stack([2 * now - then, then - now]).flatten()


def test_alloc(found):
    number, *info = found["alloc"]
    assert info == [number, 100, 2, 48000]
    same(found["consecutive"], [0, 1, 2])
    same(found["consecutiveInfo"], [[64, 1, 48000]] * 3)
    same(found["completion"], [0.5, 1.5, 2.5])
    same(found["next"], [1])


def test_set_and_get(found):
    same(found["set"], [0.25, -0.5, 0])
    same(found["setn"], float32([0.1, 0.2, 0.3, 0.25, 0, 0, 0, -0.5, 0, 0, 1, 2, 3, 0]), 1e-9)
    same(found["fill"], [0, .75, .75, .75, .75, 0, 0, 0, 0, 0, 0, -1, -1, 0])
    same(found["zero"], [0])
    same(found["long"], [0, 0, .5, .5, .5])


def test_read(found, sound):
    same(found["read"], [50, 2, RATE, *sound[1000:1050].flatten()], 1e-9)
    assert found["path"] == ["true"]
    same(found["readChannel"], [50, 1, RATE, *sound[2000:2050, 1]], 1e-9)
    expected = np.zeros((100, 2))
    expected[30:40] = sound[500:510]
    same(found["readInto"], expected, 1e-9)
    expected = np.zeros(20)
    expected[5:15] = sound[700:710, 1]
    same(found["readChannelInto"], expected, 1e-9)
    assert found["noUpdate"] == ["true"]
    same(found["updateInfo"], [25, 2, RATE])


def test_stream_and_write(found, folder, sound):
    assert found
    streamed, rate = audio.read_wav(folder / "streamed.wav")
    assert rate == 48000
    same(streamed.flatten(), sound[300:12300])
    for name, step in (("part.wav", 2**-15), ("part24.wav", 2**-23)):
        part, _ = audio.read_wav(folder / name)
        same(part.flatten(), sound[350:450], step)
    aiff = (folder / "part.aiff").read_bytes()
    assert aiff[:4] == b"FORM" and sound[350:450].astype(">f4").tobytes() in aiff


def test_collections(found):
    data = float32(np.arange(10000) * 0.001 - 5)
    same(found["loadCollection"], [5000, 2, *data[9990:]], 1e-6)
    same(found["loadToFloatArray"], data[200:240], 1e-6)
    same(found["loadCollectionInto"], [*data[18:20], 7, 8, 9, 10, *data[24:26]], 1e-6)
    same(found["getToFloatArray"], data, 1e-6)
    same(found["sendCollectionInto"], [*data[2:4], 1, 2, 3, data[7]], 1e-6)


def test_generators(found):
    three = sum(amp * np.sin(n * TURN) for n, amp in ((1, 1), (2, .5), (3, .25)))
    same(found["sine1"], three / np.max(np.abs(three)), 1e-6)
    turn = 2 * np.pi * np.arange(33) / 32
    period = sum(amp * np.sin(n * turn) for n, amp in ((1, 1), (2, .5), (3, .25)))
    table = wavetable(period / np.max(np.abs(period)))
    same(found["sine1Wavetable"], table, 1e-6)
    same(found["sine1Added"], table + 0.5 * np.sin(TURN), 1e-6)
    same(found["sine2"], np.sin(TURN) + 0.5 * np.sin(3.5 * TURN), 1e-6)
    same(found["sine3"], np.sin(TURN) + 0.5 * np.sin(3 * TURN + 1), 1e-6)
    x = np.arange(64) / 32 - 1
    shaper = x + 0.5 * (4 * x**3 - 3 * x)
    same(found["cheby"], shaper / np.max(np.abs(shaper)), 1e-5)


def test_copy_and_normalize(found):
    two = np.sin(TURN) + np.sin(2 * TURN)
    two /= np.max(np.abs(two))
    same(found["gen"], two, 1e-6)
    same(found["copyData"], [*np.zeros(10), *two[4:24], *np.zeros(34)], 1e-6)
    same(found["normalize"], two / 2, 1e-6)
    same(found["wnormalize"], wavetable(0.5 * np.sin(2 * np.pi * np.arange(33) / 32)), 1e-6)


def test_free_and_the_cache(found):
    assert found["cached"] == ["true"]
    # a, b, c, the three consecutive ones, and the one made to see which number is next.
    same(found["cachedCount"], [7])
    same(found["free"][1:3], [0, 0])
    assert found["again"] == ["true"]
    same(found["freeAll"], [0, 0, 0])


def test_control_buses(found):
    same(found["busIndex"], [4])
    same(found["busSet"], [1, 2, 3, 4])
    same(found["busPairs"], [-1, -2, 0.25, 9])
    same(found["busSetn"], [5, 6, 0.25])
    same(found["busFill"], [0.5, 0.5, 0.5, 9])
    same(found["busSetAll"], [0.125] * 4)
    same(found["busValue"], [0.375])
    same(found["busGet"], [0.75])
    assert found["busAgain"] == ["true"]


def test_control_buses_without_messages(found):
    same(found["busSynchronous"], [0.375, 0.375, 0.375, 0.75])
    same(found["busSetSynchronous"], [11, 12, 0.375, 0.375, 13])


def test_buses_in_synths(found):
    assert found["audioBus"] >= 4
    same(found["busMap"], [0.75])
    assert found["asMap"] == ["true", "true"]
