# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that stream through buffers sound as in scsynth, to the bit, but for loops that are shorter than the buffer."""
from pathlib import Path

import numpy as np
import pytest

from tests.lib.audio import read_wav, write_wav
from tests.lib.scsynth import score_bytes
from tests.oracle import compare, native

SYNTHDEFS = Path(__file__).parent / "synthdefs"
FRAMES = 1024  # of the buffers: halves of eight blocks
HEAD = 0
LENGTHS = [0, 1, 100, 511, 512, 513, 1000, 1023, 1024, 1025, 1472, 1500, 1536, 1537, 2048, 2100, 5000]
BLOCK = compare.BLOCK / compare.RATE
START = 2.5 * BLOCK  # in the third block, which begins at
FIRST = 2 * compare.BLOCK
UNITS = {"stream_in": {}, "stream_plain": {}, "stream_varied": {"rate": 1.0}, "stream_varied slow": {"rate": 0.37},
         "stream_varied fast": {"rate": 2.9}}


@pytest.fixture(params=[compare.BINARIES, native.NATIVE], ids=["binaries", "native"])
def settings(request):
    return request.param


def sound(length):
    """Two channels, no two frames alike, none of them silent."""
    frame = np.arange(1, length + 1)
    return np.stack([frame / 8192, -frame / 16384], axis=1)


def cue(folder, length, buffer=0, start=0):
    """Messages that make a buffer and open a file of that many frames for it."""
    path = folder / f"{length}.wav"
    write_wav(path, sound(length), compare.RATE)
    return ("/b_alloc", buffer, FRAMES, 2), ("/b_read", buffer, str(path), start, -1, 0, 1)


def synth(unit, node, buffer=0, **controls):
    controls |= {"buf": buffer, **UNITS[unit]}
    return ("/s_new", unit.split()[0], node, HEAD, 0, *(word for pair in controls.items() for word in pair))


def render(events, end, folder, settings):
    return compare.render([(0, ("/d_loadDir", str(SYNTHDEFS))), *events], end, folder, settings=settings)


def same(events, end, folder, settings):
    pair = render(events, end, folder, settings)
    assert pair.reference.shape == pair.ours.shape
    assert not pair.report()
    assert "FAILURE" not in pair.said, pair.said
    return pair


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("length", LENGTHS)
def test_files_of_all_lengths(tmp_path, settings, unit, length):
    pair = same([(0, *cue(tmp_path, length)), (START, synth(unit, 1))], 0.2, tmp_path, settings)
    assert pair.silent() == (length == 0 and not np.any(pair.ours[:, 2]))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("length", [length for length in LENGTHS if length >= FRAMES])
def test_loops(tmp_path, settings, unit, length):
    same([(0, *cue(tmp_path, length)), (START, synth(unit, 1, loop=1))], 0.3, tmp_path, settings)


@pytest.mark.parametrize("unit", ["stream_in", "stream_plain"])
@pytest.mark.parametrize("length", [length for length in LENGTHS if length < FRAMES])
def test_short_loops(tmp_path, unit, length):
    """These are exact; scsynth plays what else is in the buffer first, and repeats the wrong pieces then."""
    score = tmp_path / "short.score"
    score.write_bytes(score_bytes([(0, ("/d_loadDir", str(SYNTHDEFS))), (0, *cue(tmp_path, length)),
                                   (START, synth(unit, 1, loop=1))], 0.2))
    output, _ = compare.offline_ours(score, tmp_path / "short.wav", settings=compare.BINARIES)
    ours = read_wav(output)[0][FIRST:, :3]
    expected = np.zeros_like(ours)
    if length:
        expected[:, :2] = sound(length)[np.arange(len(ours)) % length]
    else:
        ours, expected = ours[compare.BLOCK:], expected[compare.BLOCK:]  # after a block it is done
        expected[:, 2] = 1
    assert np.array_equal(ours, expected.astype(np.float32))


def test_what_happens_while_files_stream(tmp_path, settings):
    """The loop switched on and off, the rate changed, the buffer's number, the file closed, another one opened."""
    same([(0, *cue(tmp_path, 5000), *cue(tmp_path, 3000, 1), *cue(tmp_path, 2000, 2), *cue(tmp_path, 4000, 3)),
          (START, synth("stream_in", 1, 0, out=0)),
          (0.0113, synth("stream_varied", 2, 1, out=3)),
          (0.03, ("/n_set", 2, "rate", 1.7)), (0.04, ("/n_set", 2, "loop", 1)), (0.05, ("/n_set", 2, "rate", 0.2)),
          (0.06, ("/n_set", 1, "loop", 1)), (0.13, ("/n_set", 1, "loop", 0)), (0.15, ("/n_set", 2, "rate", 0.0)),
          (0.16, ("/n_set", 2, "rate", 1.0)),
          (0.17, cue(tmp_path, 4100)[1]), (0.2, ("/b_close", 0)), (0.27, ("/n_free", 1)),
          (0.28, ("/s_new", "stream_in", 3, HEAD, 0, "buf", 2)), (0.31, ("/n_set", 3, "buf", 3)),
          (0.33, ("/n_run", 3, 0)), (0.34, ("/n_run", 3, 1))], 0.4, tmp_path, settings)


def test_readers_of_one_buffer(tmp_path, settings):
    """They share the file's position: each half that one asks for is missing for the other."""
    same([(0, *cue(tmp_path, 20000)), (START, synth("stream_in", 1)), (0.011, synth("stream_in", 2, out=3)),
          (0.05, synth("stream_plain", 3, out=5)), (0.1, ("/n_free", 1))], 0.3, tmp_path, settings)


@pytest.mark.parametrize("unit", UNITS)
def test_a_buffer_without_a_file(tmp_path, settings, unit):
    """It plays once."""
    same([(0, ("/b_alloc", 0, FRAMES, 2), ("/b_gen", 0, "sine1", 7, 1.0, 0.3)), (START, synth(unit, 1))], 0.2,
         tmp_path, settings)


@pytest.mark.parametrize("frames, channels", [(1000, 2), (FRAMES, 1), (64, 2)])
def test_buffers_that_do_not_fit(tmp_path, settings, frames, channels):
    pair = same([(0, ("/b_alloc", 0, frames, channels), ("/b_fill", 0, 0, frames * channels, 0.5)),
                 (START, *(synth(unit, number + 1) for number, unit in enumerate(UNITS)))], 0.1, tmp_path, settings)
    assert pair.silent()


@pytest.mark.parametrize("blocks", [1, 7, 8, 9, 16, 100])
def test_recording(tmp_path, blocks):
    """The file has each frame that was recorded. In scsynth -N it hasn't: there a thread writes what it comes to."""
    path = tmp_path / "recorded.wav"
    pair = same([(0, ("/b_alloc", 0, FRAMES, 2), ("/b_write", 0, str(path), "wav", "float", 0, 0, 1)),
                 (START, ("/s_new", "stream_out", 1, HEAD, 0)), (START + blocks * BLOCK, ("/n_free", 1)),
                 (START + (blocks + 1) * BLOCK, ("/b_close", 0))], 0.3, tmp_path, compare.BINARIES)
    recorded = read_wav(path)[0]
    assert len(recorded) == blocks * compare.BLOCK
    assert np.array_equal(recorded, pair.ours[FIRST:FIRST + len(recorded), :2])
