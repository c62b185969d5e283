# SPDX-License-Identifier: GPL-3.0-or-later
"""An offline rendering that is over at once costs at most a fifth of the instructions that it costs scsynth: nothing is
prepared that the score doesn't ask for, such as FFTW's plans. By callgrind.

    /usr/bin/python3 -m tests.instructions.test_start_instructions    prints the instructions of both"""
import sys
import tempfile
from pathlib import Path

from bench.offline_costs import Offline
from tests.instructions.test_instructions import here
from tests.instructions.test_stream_instructions import NAME, SCSYNTH, both

MOST = 0.2
SECONDS = 0.01


def instructions(contender):
    with tempfile.TemporaryDirectory() as folder:
        return Offline(Path(folder)).instructions(contender, [], SECONDS)


def test_fewer_than_scsynth():
    theirs, ours = (instructions(contender) for contender in both())
    assert ours <= MOST * theirs, f"{ours} instructions, {ours / theirs:.2f} of scsynth's {theirs}"


def main():
    for contender in SCSYNTH, here()[NAME]:
        print(contender.name, instructions(contender), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
