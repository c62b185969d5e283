# SPDX-License-Identifier: GPL-3.0-or-later
"""What voices cost doesn't grow unnoticed: instructions of a voice and block by callgrind, and those of a note beyond its
blocks, at most what bounds.txt says. They repeat to a few in a thousand on a busy machine, where times don't; they are
those of what ./check builds, as another compiler or build type makes others.

    /usr/bin/python3 -m tests.instructions.test_instructions    prints bounds.txt as this build would have it

A change that makes voices dearer on purpose, or cheaper, brings its new bounds."""
import math
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from bench.contenders import contenders, cpu_flags, instruction_sets
from bench.offline_costs import Offline
from tests.lib.build import BUILD

HERE = Path(__file__).parent
ROOM = 1.03
VOICES, SECONDS = 64, 0.2
NOTES, NOTE_BLOCKS = 200, 4
# Only the data loop is counted. What runs before it varies by some hundred thousand between runs; so do, by some ten
# thousand, the jobs of commands, which offline run amid it: the second pattern switches counting off for them.
DATA_LOOP = ("scs::Engine::process*", "scs::osc::OscJob::work()")


def bounds():
    """{(measure, contender): instructions} of bounds.txt."""
    rows = (line.rsplit(None, 3) for line in (HERE / "bounds.txt").read_text().splitlines()
            if line and not line.startswith("#"))
    return {(measure, f"{mode} {simd}"): int(bound) for measure, mode, simd, bound in rows}


def verdict(found, bound):
    """An empty string if that many instructions are within the bound, otherwise what is wrong."""
    if found > bound:
        return f"{found:.0f} instructions, {100 * (found / bound - 1):.1f} % more than the bound of {bound}"
    if not found > bound / 2:
        return f"{found:.0f} instructions, not half of the bound of {bound}: does it play at all?"
    return ""


def measured(offline, measure, contender):
    if measure == "note":
        return offline.note_instructions(contender, NOTES, NOTE_BLOCKS, DATA_LOOP)[0]
    if measure == "s_new":
        return offline.new_synth_instructions(contender, NOTES)
    return offline.voice_instructions(contender, measure, VOICES, SECONDS)


def here():
    """{name: contender} of those that callgrind can run on this processor."""
    sets = [name for name in instruction_sets(cpu_flags()) if name != "avx512"]
    return {contender.name: contender for contender in contenders(BUILD, sets)[0] if contender.ours}


@pytest.fixture(scope="module")
def offline():
    with tempfile.TemporaryDirectory() as folder:
        yield Offline(Path(folder))


@pytest.mark.parametrize("measure, name", bounds(), ids=[f"{measure}-{name}" for measure, name in bounds()])
def test_no_dearer(offline, measure, name):
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    if name not in (found := here()):
        pytest.skip(f"this processor hasn't {name.split()[1]}, or this build: ./check full has all")
    problem = verdict(measured(offline, measure, found[name]), bounds()[measure, name])
    assert not problem, f"{measure}, {name}: {problem}"


@pytest.mark.parametrize("found, bad", [(1000, False), (970, False), (1001, True), (500, True), (0, True),
                                        (math.nan, True)])
def test_what_is_found(found, bad):
    assert bool(verdict(found, 1000)) == bad


def main():
    with tempfile.TemporaryDirectory() as folder:
        run, found = Offline(Path(folder)), here()
        for measure, name in bounds():
            if name in found:
                bound = math.ceil(ROOM * measured(run, measure, found[name]))
                print(f"{measure} {name} {bound}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
