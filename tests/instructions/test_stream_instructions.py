# SPDX-License-Identifier: GPL-3.0-or-later
"""A DiskIn of two channels costs at most 0.7 of the instructions that it costs scsynth, its graph included: eight of them,
each with a file of its own, by callgrind.

    /usr/bin/python3 -m tests.instructions.test_stream_instructions    prints the instructions of a unit and block"""
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from bench.contenders import Contender
from bench.offline_costs import Offline
from bench.stands import SYNTHDEFS
from bench.voice_scores import BLOCK, RATE
from tests.instructions.test_instructions import here
from tests.lib.audio import write_wav

UNITS = 8
MOST = 0.7
FRAMES = 1 << 18  # of a buffer: while half of it plays, 2.7 s, nothing is read
DURATIONS = 0.2, 2.6
SCSYNTH = Contender("scsynth", "scsynth")
NAME = "lone avx2"


def events(folder, units):
    """A score in which that many of eight buffers are played. All are filled, so that only playing them makes a difference."""
    path = folder / "long.wav"
    if not path.exists():
        write_wav(path, np.full((2 * FRAMES, 2), 0.001), RATE)
    found = [(0, ("/d_recv", (SYNTHDEFS / "bench_disk_in.scsyndef").read_bytes()))]
    for number in range(UNITS):
        found.append((0, ("/b_alloc", number, FRAMES, 2), ("/b_read", number, str(path), 0, -1, 0, 1)))
    return found + [(0, ("/s_new", "bench_disk_in", 1000 + number, 0, 0, "buf", number))
                    for number in range(units)]


def instructions(offline, contender):
    """Those of a unit and block."""
    found = {(units, seconds): offline.instructions(contender, events(offline.folder, units), seconds)
             for units in (0, UNITS) for seconds in DURATIONS}
    less, more = (found[units, DURATIONS[1]] - found[units, DURATIONS[0]] for units in (0, UNITS))
    return (more - less) / (UNITS * (DURATIONS[1] - DURATIONS[0]) * RATE / BLOCK)


@pytest.fixture(scope="module")
def offline():
    with tempfile.TemporaryDirectory() as folder:
        yield Offline(Path(folder))


def both():
    """scsynth and ours; skips the test if there is one of them only."""
    if not shutil.which("valgrind") or not shutil.which("scsynth"):
        pytest.skip("valgrind or scsynth is not installed")
    if NAME not in here():
        pytest.skip(f"this processor or build hasn't {NAME.split()[1]}")
    return SCSYNTH, here()[NAME]


def test_fewer_than_scsynth(offline):
    theirs, ours = (instructions(offline, contender) for contender in both())
    assert ours > 100, "does it play at all?"
    assert ours <= MOST * theirs, f"{ours:.0f} instructions, {ours / theirs:.2f} of scsynth's {theirs:.0f}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        offline = Offline(Path(folder))
        for contender in SCSYNTH, *here().values():
            print(contender.name, round(instructions(offline, contender)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
