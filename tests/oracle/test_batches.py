# SPDX-License-Identifier: GPL-3.0-or-later
"""Random scores, and those of every native unit, give the same bytes whether voices are computed alone or in batches,
with each instruction set that this machine has, by one thread or several. batches.py and native.py make the scores.

`-k 'seed-7'` or `-k filters` runs one of them."""
from pathlib import Path

import numpy as np
import pytest

from tests.lib import supercollider
from tests.lib.build import BUILD
from tests.oracle import compare, native
from tests.oracle.batches import Score
from tests.oracle.same_bytes import difference, different_voices, render, render_events, samples

# Without 2, which is silent for a while, and 13, in which scsynth's units, too, reach infinity.
SEEDS = (1, *range(3, 13), 14)
SECONDS = 4.0
NEEDS = {"sse2": {"sse2"}, "avx2": {"avx2", "fma"}, "avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl"}}
PART = 0.5  # seconds that are never silent


def instruction_sets():
    """Those that this processor and the build have."""
    flags = next((set(line.split()) for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("flags")), set())
    built = {path.stem.removeprefix("libugens-") for path in (BUILD / "src/engine/ugens").glob("libugens-*.a")}
    return [name for name, needed in NEEDS.items() if needed <= flags and name in (built or NEEDS)] or ["auto"]


SETS = instruction_sets()
ALONE = {"native-ugens": "true", "batching": "false", "simd": SETS[0]}
OTHERS = [{"native-ugens": "true", "batching": batching, "simd": name}
          for name in SETS for batching in ("true", "false") if (name, batching) != (SETS[0], "false")]
HELPED = [{"native-ugens": "true", "batching": "true", "simd": simd, "threads": threads}
          for simd, threads in ((SETS[-1], "2"), (SETS[0], "3"))]
OTHERS += HELPED
RELEASES = ("3.13", "3.14")  # whichever plugins there are
# For each unit, lone voices are compared only with the widest instruction set.
FEWER = [settings for settings in OTHERS if settings not in HELPED[1:] and
         (settings["batching"] == "true" or settings["simd"] == SETS[-1])]


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"seed-{seed}")
def test_same_bytes(seed, tmp_path):
    score = Score(seed, SECONDS, tmp_path)
    alone = render(score, tmp_path, ALONE)
    sound = samples(alone)
    assert np.isfinite(sound).all()
    for start in range(0, len(sound) - int(PART * compare.RATE), int(PART * compare.RATE)):
        part = sound[start:start + int(PART * compare.RATE)]
        assert np.sqrt(np.mean(np.square(part))) > 1e-3, f"seed {seed} is silent at {start / compare.RATE} s"
    wrong = []
    for settings in OTHERS:
        if found := difference(score, alone, render(score, tmp_path, settings)):
            wrong.append(f"seed {seed}, {settings}, from {ALONE}: {found}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("family", native.families())
def test_every_unit(family, release, tmp_path):
    """The score of test_native.py. NaNs may have different bits."""
    chosen = {"supercollider": release}
    channels = native.CHANNELS[family.endswith(native.EXTREME)]
    events, end, played = native.score(family, tmp_path)
    alone = samples(render_events(events, end, tmp_path, ALONE | chosen, channels), channels)
    wrong = []
    for settings in FEWER:
        other = samples(render_events(events, end, tmp_path, settings | chosen, channels), channels)
        assert alone.shape == other.shape
        if found := different_voices(played, alone, other):
            wrong += [f"{settings}, from {ALONE}:", *found]
    assert not wrong, "\n".join(wrong)


def test_this_machine_has():
    """Prints which instruction sets are compared."""
    print(f"{' '.join(SETS)}; not here: {' '.join(sorted(set(NEEDS) - set(SETS))) or 'none'}")
    assert OTHERS


def test_a_difference_is_found(tmp_path):
    """Another value of one voice's control gives other bytes, and the message says where."""
    score = Score(SEEDS[0], 0.5, tmp_path)
    alone = render(score, tmp_path, ALONE)
    assert difference(score, alone, render(score, tmp_path, ALONE)) == ""
    changed = Score(SEEDS[0], 0.5, tmp_path)
    changed.events.append((0.25, ("/s_new", "perc", 5000, 1, 0, "out", 3.0, "amp", 0.001)))
    found = difference(score, alone, render(changed, tmp_path, ALONE))
    first = int(0.25 * compare.RATE) + supercollider.since_3_14()  # since then it begins with a 0
    assert f"the first is {first} " in found and "in channel 3" in found
