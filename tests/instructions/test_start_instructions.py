# SPDX-License-Identifier: GPL-3.0-or-later
"""An offline rendering that is over at once costs at most a fifth of the instructions that it costs scsynth: nothing is
prepared that the score doesn't ask for, such as FFTW's plans. By callgrind.

    /usr/bin/python3 -m tests.instructions.test_start_instructions    prints the instructions of both"""
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from bench.offline_costs import Offline
from tests.instructions.test_instructions import here
from tests.instructions.test_stream_instructions import NAME, SCSYNTH

MOST = 0.2
SECONDS = 0.01


def instructions(contender):
    with tempfile.TemporaryDirectory() as folder:
        return Offline(Path(folder)).instructions(contender, [], SECONDS)


def test_fewer_than_scsynth():
    if not shutil.which("valgrind") or not shutil.which("scsynth"):
        pytest.skip("valgrind or scsynth is not installed")
    if NAME not in here():
        pytest.skip(f"this processor or build hasn't {NAME.split()[1]}")
    theirs, ours = (instructions(contender) for contender in (SCSYNTH, here()[NAME]))
    assert ours <= MOST * theirs, f"{ours} instructions, {ours / theirs:.2f} of scsynth's {theirs}"


def main():
    for contender in SCSYNTH, here()[NAME]:
        print(contender.name, instructions(contender), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
