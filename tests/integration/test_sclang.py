# SPDX-License-Identifier: GPL-3.0-or-later
"""Stock sclang as the client of the running server."""
from pathlib import Path

import numpy as np
import pytest

from tests.lib import audio, sclang

SCRIPT = Path(__file__).with_name("client.scd")
RATE = 48000


def seconds_with(hz, signal):
    """How long a sine of that frequency sounds, in steps of a tenth of a second."""
    size = RATE // 10
    turns = np.exp(-2j * np.pi * hz * np.arange(size) / RATE)
    levels = [2 * abs(np.dot(signal[i:i + size], turns)) / size
              for i in range(0, len(signal) - size, size)]
    return sum(level > 0.1 for level in levels) / 10


@pytest.fixture(scope="module")
def sound_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("sounds") / "sine330.wav"
    audio.write_wav(path, 0.3 * np.sin(2 * np.pi * 330 * np.arange(RATE) / RATE), RATE)
    return path


@pytest.fixture(scope="module")
def lesson(playing, sound_file, tmp_path_factory):
    """The script's steps, its whole output, and a recording of the sink."""
    from tests.lib.recording import Recording
    folder = tmp_path_factory.mktemp("sclang")
    with Recording(playing.session, folder / "heard.wav") as recording:
        output = sclang.run(SCRIPT, playing.port, sound_file, folder=folder,
                            env=playing.session.env)
        recording.wait(0.2)
    heard, rate = audio.read_wav(recording.path)
    assert rate == RATE
    return sclang.steps(output), output, heard[:, 0]


def test_logs_in(lesson):
    assert lesson[0]["login"] in "0123"


def test_a_function_plays(lesson):
    assert lesson[0]["function"] == "done"
    assert 1.0 <= seconds_with(440, lesson[2]) <= 1.6


def test_its_node_is_in_the_tree(lesson):
    assert lesson[0]["nodes"] == "true"


def test_a_pattern_plays(lesson):
    assert int(lesson[0]["pattern"]) in range(14, 19)
    assert "FAILURE" not in lesson[1]
    # The first note of the scale, C, comes every half second and rings on for a while.
    assert audio.rms(lesson[2]) > 0.01


def test_a_sound_file_is_read_and_played(lesson):
    frames, channels, rate = lesson[0]["buffer"].split()
    assert (int(frames), int(channels), float(rate)) == (RATE, 1, RATE)
    assert 1.0 <= seconds_with(330, lesson[2]) <= 1.6
