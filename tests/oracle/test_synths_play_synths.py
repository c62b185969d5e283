# SPDX-License-Identifier: GPL-3.0-or-later
"""What synths tell starts notes by /bind_command: the samples are those of a score with the same notes."""
import numpy as np
import pytest

from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, scsynth
from tests.lib.build import PW_SCSYNTH

RATE, BLOCK = 48000, 64
NOTES = 1000
OUTPUTS = ("-i", "0", "-o", "4")  # the notes, then what test_sequence says: triggers, frequencies, amplitudes
DEFS = [("/d_recv", (SYNTHDEFS / f"{name}.scsyndef").read_bytes()) for name in ("test_sequence", "test_note")]
BINDING = ("/bind_command", 1, "reply", "path", "/note", "/s_new", "test_note", -1, 0, 0, "freq", "$1", "amp", "$2")


def render(events, seconds, path, program=PW_SCSYNTH, options=()):
    return audio.read_wav(scsynth.render(events, seconds, path, program=program, options=(*OUTPUTS, *options)))[0]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_thousand_notes_are_those_of_a_score(threads, tmp_path):
    seconds = NOTES / 37.7 + 0.2
    bound = render([(0, *DEFS, BINDING, ("/s_new", "test_sequence", 1000, 0, 0))], seconds, tmp_path / "bound.wav",
                   options=("--set", f"scsynth.threads={threads}"))
    triggers = np.flatnonzero(bound[:, 1])
    assert len(triggers) >= NOTES
    # A bundle for the first frame of a block is run in the block before, as in scsynth; one for a little later isn't.
    notes = [((frame + BLOCK + 0.25) / RATE, ("/s_new", "test_note", -1, 0, 0, "freq", float(bound[frame, 2]), "amp",
                                             float(bound[frame, 3]))) for frame in triggers]
    scored, theirs = (render([(0, *DEFS), *notes], seconds, tmp_path / f"{number}.wav", program)[:, 0]
                      for number, program in enumerate((PW_SCSYNTH, "scsynth")))
    length = min(len(scored), len(theirs), len(bound))
    assert np.ptp(scored) > 0.1
    assert np.array_equal(bound[:length, 0], scored[:length])
    assert np.allclose(scored[:length], theirs[:length], atol=1e-5)
