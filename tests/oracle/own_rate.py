# SPDX-License-Identifier: GPL-3.0-or-later
"""SynthDefs that ask for blocks or a sample rate of their own, and what pw-scsynth renders of them."""
import struct

from tests.lib import scsynth
from tests.lib.audio import read_wav
from tests.lib.build import PW_SCSYNTH

BLOCK = 64  # frames of the server's
RATE = 48000
DELAYS = {1: 0, 2: 20, 4: 24, 8: 26, 16: 27}  # frames, by the factor: see docs/synth-rates.md


def with_rate(data, block=0, factor=0.0, block_control=None, factor_control=None):
    """A SynthDef file of version 2 as one of version 3, whose synths have these blocks and this rate; 0: the server's."""
    assert data[:10] == b"SCgf" + struct.pack(">ih", 2, 1)
    rates = struct.pack(">iifi", *((block, -1) if block_control is None else (-1, block_control)),
                        *((factor, -1) if factor_control is None else (-1.0, factor_control)))
    body = data[10:] + rates
    return b"SCgf" + struct.pack(">ihi", 3, 1, 4 + len(body)) + body


def play(folder, *defs, seconds=0.2, synths=None, options=(), settings=(), events=(), channels=2, program=PW_SCSYNTH):
    """The samples (frames, channels) of a score that plays one synth of each SynthDef, in order, or these /s_new's."""
    path = folder / "own-rate.wav"
    made = [(index + 1, name, ()) for index, (name, _) in enumerate(defs)] if synths is None else synths
    score = [(0, *(("/d_recv", data) for _, data in defs)),
             (0, *(("/s_new", name, node, 1, 0, *controls) for node, name, controls in made)), *events]
    scsynth.render(score, seconds, path, RATE, program, ("-o", str(channels), "-i", "0", *options, *settings))
    samples, _ = read_wav(path)
    return samples[:int(seconds * RATE) // BLOCK * BLOCK]
