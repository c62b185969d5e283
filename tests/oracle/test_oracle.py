# SPDX-License-Identifier: GPL-3.0-or-later
"""Scores sound as in stock scsynth: nodes, their order, buses, buffers and time. With SuperCollider's own units they
are the same to the bit; with native units, the default, almost."""
from pathlib import Path

import numpy as np
import pytest

from examples import piece
from tests.lib.audio import write_wav
from tests.oracle import compare, native

SYNTHDEFS = Path(__file__).parent / "synthdefs"
BLOCK = compare.BLOCK / compare.RATE
PART = 4800  # frames
NATIVE_LIMIT = -120  # dB, as for each unit alone
# PV_BrickWall removes the loud bins; compared with the rest, the input's last bits are this loud.
SPECTRAL_LIMIT = -80
HEAD, TAIL, BEFORE, AFTER, REPLACE = range(5)


def compared(pair, spectral=()):
    """Fails unless a score that both rendered is equal and not silent. `spectral` are channels with what is left of a
    spectrum, see SPECTRAL_LIMIT."""
    assert pair.reference.shape == pair.ours.shape
    assert not pair.silent()
    assert "FAILURE" not in pair.said, pair.said
    if pair.settings == compare.BINARIES:
        assert not pair.report()
        return
    frames, channels = pair.ours.shape
    wrong = []
    for channel in range(channels):
        limit = SPECTRAL_LIMIT if channel in spectral else NATIVE_LIMIT
        # In parts, so that a short difference counts in a long score.
        for start in range(0, frames, PART):
            voice = native.Voice(f"bus {channel}", start, min(start + PART, frames), channel, 1)
            result = native.judge("the score", voice, pair.reference, pair.ours)
            if result.bad or result.decibels > limit:
                wrong.append(result.text)
    assert not wrong, "\n".join(wrong)


@pytest.fixture(params=[compare.BINARIES, native.NATIVE], ids=["binaries", "default"])
def settings(request):
    """Settings of the server: all units SuperCollider's, and the defaults with the release by its name."""
    return request.param


@pytest.fixture
def same(tmp_path, settings):
    """Render a score with both; fails unless they are equal and not silent."""
    def check(events, end, spectral=(), **options):
        events = [(0, ("/d_loadDir", str(SYNTHDEFS))), *events]
        compared(compare.render(events, end, tmp_path, settings=settings, **options), spectral)
    return check


def test_voices_that_start_between_blocks(same):
    events = []
    for voice in range(12):
        start = 0.0137 + voice * 0.0531
        events += [(start, ("/s_new", "default", 1000 + voice, HEAD, 0, "freq", 110.0 + 71 * voice,
                            "pan", voice / 6 - 1)),
                   (start + 0.23, ("/n_set", 1000 + voice, "gate", 0))]
        events.append((start + 0.011, ("/s_new", "offset", -1, TAIL, 0, "freq", 900.0 + voice)))
    same(events, 1.5)


def test_times_around_block_borders(same):
    """A bundle at, just before and just after the border of a block, and at each frame of one."""
    offsets = [-2, -1, -0.5, -2**-10, 0, 2**-10, 0.25, 0.5, 1, 63.5]
    events = [((100 * (index + 1) * compare.BLOCK + offset) / compare.RATE,
               ("/s_new", "offset", -1, HEAD, 0)) for index, offset in enumerate(offsets)]
    events += [((1200 + 20 * frame) * BLOCK + frame / compare.RATE,
                ("/s_new", "offset", -1, HEAD, 0, "out", 1)) for frame in range(64)]
    same(events, 3.6)


@pytest.mark.parametrize("rate", [44100, 48000, 96000])
def test_offsets_at_other_rates(same, rate):
    same([(0.01 + 0.00937 * index, ("/s_new", "offset", -1, HEAD, 0, "freq", 1000.0 + index))
          for index in range(40)], 0.5, rate=rate)


def test_envelopes_and_done_actions(same):
    events = [(0.003, ("/g_new", 50, HEAD, 0, 51, TAIL, 0))]
    for action in range(2, 16):
        at, node = action * 0.1, 1000 + 10 * action
        events += [
            (at, ("/g_new", node + 5, TAIL, 50),
             ("/s_new", "sine", node, TAIL, 50, "freq", 300.0, "out", 1),
             ("/g_new", node + 6, TAIL, 50), ("/s_new", "sine", node + 7, TAIL, node + 6, "out", 2),
             ("/s_new", "adsr", node + 1, TAIL, 50, "action", action),
             ("/g_new", node + 8, TAIL, 50), ("/s_new", "sine", node + 9, TAIL, node + 8, "out", 3),
             ("/s_new", "sine", node + 3, TAIL, 50, "freq", 700.0, "out", 4)),
            (at + 0.03, ("/n_set", node + 1, "gate", 0)),
            (at + 0.0987, ("/g_freeAll", 0), ("/g_new", 50, HEAD, 0)),
        ]
    same(events, 1.6)


def test_order_of_execution(same):
    same([
        (0.001, ("/g_new", 1, HEAD, 0, 2, TAIL, 0, 3, AFTER, 1),
         ("/s_new", "sine", 10, HEAD, 1, "out", 0), ("/s_new", "times", 11, TAIL, 1, "by", 0.4),
         ("/s_new", "feedback", 12, HEAD, 3, "in", 0, "out", 2),
         ("/s_new", "copy", 13, HEAD, 2, "in", 2, "out", 4),
         ("/s_new", "comb", 14, TAIL, 2, "in", 0, "out", 3),
         ("/s_new", "spectrum", 15, TAIL, 2, "in", 3, "out", 5)),
        (0.0513, ("/n_before", 11, 10)), (0.1001, ("/n_after", 11, 13)),
        (0.1502, ("/g_head", 2, 10)), (0.2, ("/g_tail", 1, 10, 3, 11)),
        (0.25, ("/n_order", BEFORE, 10, 14, 13)), (0.3, ("/s_new", "sine", 16, REPLACE, 13)),
        (0.3333, ("/n_run", 12, 0)), (0.4, ("/n_run", 12, 1, 1, 0)), (0.45, ("/n_run", 1, 1)),
        (0.5, ("/n_free", 3), ("/g_deepFree", 0)),
    ], 0.55, spectral=[5])


def test_controls(same):
    """Without /n_fill: scsynth 3.13 reads its value twice and sets 0."""
    same([
        (0, ("/s_new", "arrays", 1, HEAD, 0), ("/s_new", "control", 2, HEAD, 0, "out", 20),
         ("/s_new", "control", 3, HEAD, 0, "out", 21, "freq", 7.0),
         ("/s_new", "audio", 4, TAIL, 0, "out", 5), ("/s_new", "sine", 5, HEAD, 0, "out", 12),
         ("/s_new", "trigger", 6, TAIL, 0, "out", 6), ("/s_new", "vary.high", 7, HEAD, 0, "out", 7),
         ("/s_new", "vary.low", 8, HEAD, 0, "out", 7)),
        (0.0211, ("/n_set", 1, "freqs", [100.0, 200.0, 300.0])),
        (0.0402, ("/n_setn", 1, "amps", 3, 0.2, 0.3, 0.05)),
        (0.05, ("/n_map", 1, "freqs", 20)), (0.06, ("/n_mapn", 1, "freqs", 20, 2)),
        (0.07, ("/n_mapa", 4, "freq", 12)), (0.08, ("/n_map", 4, "amp", 30), ("/c_set", 30, 0.5)),
        (0.09, ("/c_fill", 30, 2, 0.1)), (0.1, ("/c_setn", 30, 1, 0.8)),
        (0.11, ("/n_set", 6, "t_hit", 1)), (0.1303, ("/n_set", 6, "t_hit", 0.5)),
        (0.15, ("/n_map", 1, "freqs", -1)),
        (0.16, ("/n_mapa", 4, "freq", -1), ("/n_set", 4, "freq", 777.0)),
        (0.17, ("/n_mapan", 1, "freqs", 12, 2)), (0.19, ("/n_mapn", 1, "freqs", -1, 2)),
        (0.1907, ("/s_new", "arrays", 9, TAIL, 0, "freqs", "c20", "amps", [0.3, 0.1])),
        (0.22, ("/n_set", 0, "freq", 333.0)), (0.23, ("/s_noid", 9), ("/n_free", 1)),
    ], 0.3)


def test_buffers(same, tmp_path):
    time = np.arange(9000) / 44100
    sound = np.stack([np.sin(2 * np.pi * 700 * time), np.sin(2 * np.pi * 300 * time)], axis=1)
    write_wav(tmp_path / "sound.wav", sound * 0.5, 44100)
    path = str(tmp_path / "sound.wav")
    normalize, wavetable, clear = 1, 2, 4
    same([
        (0, ("/b_allocRead", 0, path), ("/b_alloc", 1, 4096, 2), ("/b_alloc", 2, 1024, 1),
         ("/b_gen", 2, "sine1", normalize | wavetable | clear, 1.0, 0.5, 0.2), ("/b_alloc", 3, 512),
         ("/b_gen", 3, "sine3", normalize | clear, 1.0, 0.5, 0.1, 3.0, 0.3, 0.7),
         ("/b_allocReadChannel", 4, path, 100, 5000, 1), ("/b_alloc", 5, 9000, 2)),
        (0.0007, ("/s_new", "play", 1, HEAD, 0), ("/s_new", "table", 2, HEAD, 0, "buf", 2, "out", 2),
         ("/s_new", "read", 3, HEAD, 0, "buf", 3, "out", 3), ("/s_new", "read", 4, HEAD, 0, "buf", 4,
          "out", 4), ("/s_new", "record", 5, TAIL, 0, "buf", 1),
         ("/s_new", "play", 6, TAIL, 0, "buf", 1, "out", 5, "rate", 0.9)),
        (0.03, ("/b_gen", 2, "cheby", normalize | wavetable | clear, 0.5, 1.0, 0.3)),
        (0.04, ("/b_set", 3, 5, 0.9, 77, -0.7), ("/b_fill", 3, 100, 50, 0.4, 300, 9, -0.2)),
        (0.05, ("/b_setn", 3, 400, 3, 0.1, -0.9, 0.3), ("/b_gen", 5, "copy", 10, 0, 20, 3000)),
        (0.06, ("/b_gen", 5, "normalize", 0.3), ("/s_new", "play", 7, TAIL, 0, "buf", 5, "out", 6)),
        (0.09, ("/b_read", 0, path, 3000, 2000, 500)), (0.1, ("/b_readChannel", 4, path, 0, 900, 7, 0, 0)),
        (0.12, ("/b_zero", 3)), (0.13, ("/n_free", 1), ("/b_free", 0)), (0.14, ("/b_close", 4)),
    ], 0.2)


def test_demand_and_spectrum(same):
    same([(0.0021, ("/s_new", "steps", 1, HEAD, 0, "out", 1),
           ("/s_new", "spectrum", 2, TAIL, 0, "in", 1, "out", 2)),
          (0.0503, ("/s_new", "spectrum", 3, TAIL, 0, "in", 1, "out", 3))], 0.3, spectral=[2, 3])


def test_input(same, tmp_path):
    time = np.arange(200 * compare.BLOCK) / compare.RATE
    write_wav(tmp_path / "input.wav", np.stack([np.sin(2 * np.pi * 300 * time), time], axis=1), 48000)
    same([(0.0101, ("/s_new", "through", 1, HEAD, 0))], 0.4, inputs=tmp_path / "input.wav")


def test_piece(tmp_path, settings):
    """examples/piece.py without its noises, which are seeded by the time."""
    class Recorder:
        def __init__(self):
            self.messages = []

        def command(self, *message):
            self.messages.append(message)
        send = command

        def sync(self):
            pass

    client = Recorder()
    piece.prepare(client)
    events = [(0, *(message for message in client.messages if message[0] != "/notify"))]
    random = {"piece_hat", "piece_pluck"}
    for index, (beat, name, controls) in enumerate(piece.notes()):
        if name not in random:
            pairs = [value for pair in controls.items() for value in pair]
            events.append((beat * piece.BEAT + 0.00371, ("/s_new", name, piece.FIRST_VOICE + index,
                                                         HEAD, piece.SOURCES, *pairs)))
    events.append((piece.SECONDS - 1.2, ("/n_set", piece.MASTER, "gate", 0)))
    compared(compare.render(events, piece.SECONDS, tmp_path, settings=settings))
