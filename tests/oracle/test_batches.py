# SPDX-License-Identifier: GPL-3.0-or-later
"""Random scores, and those of every native unit, give the same bytes whether voices are computed alone or in batches,
with each instruction set that this machine has. batches.py and native.py make the scores.

`-k 'seed-7'` or `-k filters` runs one of them."""
from pathlib import Path

import numpy as np
import pytest

from tests.lib import scsynth
from tests.lib.audio import wav_chunks
from tests.lib.build import BUILD
from tests.oracle import compare, native
from tests.oracle.batches import CHANNELS, Score

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
# For each unit, lone voices are compared only with the widest instruction set.
FEWER = [settings for settings in OTHERS if settings["batching"] == "true" or settings["simd"] == SETS[-1]]


def render(score, folder, settings):
    """The bytes of the samples that ours renders; the rest of the file contains the time of day."""
    return render_events(score.events, score.end, folder, settings, CHANNELS)


def render_events(events, end, folder, settings, channels):
    path = folder / "a.score"
    path.write_bytes(scsynth.score_bytes(events, end))
    output, _ = compare.offline(compare.PW_SCSYNTH, path, folder / "a.wav", channels=channels, settings=settings)
    return wav_chunks(output)[b"data"]


def samples(data, channels=CHANNELS):
    return np.frombuffer(data, "<f4").reshape(-1, channels)


def difference(score, expected, got):
    """Nothing if two renderings have the same bytes, otherwise where they differ first."""
    if expected == got:
        return ""
    theirs, ours = samples(expected), samples(got)
    if theirs.shape != ours.shape:
        return f"{theirs.shape} frames and channels became {ours.shape}"
    wrong = np.argwhere(theirs.view(np.uint32) != ours.view(np.uint32))
    frame, channel = wrong[0]
    return (f"{len(set(wrong[:, 0]))} of {len(theirs)} frames differ, the first is {frame} (block "
            f"{frame // compare.BLOCK}, its frame {frame % compare.BLOCK}) in channel {channel}: "
            f"{theirs[frame, channel]:.9g} became {ours[frame, channel]:.9g}\n"
            f"before it:\n{score.before(frame / compare.RATE)}")


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


@pytest.mark.parametrize("family", native.families())
def test_every_unit(family, tmp_path):
    """The score of test_native.py. NaNs may have different bits."""
    channels = native.CHANNELS[family.endswith(native.EXTREME)]
    events, end, played = native.score(family, tmp_path)
    alone = samples(render_events(events, end, tmp_path, ALONE, channels), channels)
    wrong = []
    for settings in FEWER:
        other = samples(render_events(events, end, tmp_path, settings, channels), channels)
        assert alone.shape == other.shape
        differs = (alone.view(np.uint32) != other.view(np.uint32)) & ~(np.isnan(alone) & np.isnan(other))
        if differs.any():
            wrong += [f"{settings}, from {ALONE}:", *different_voices(played, differs, alone, other)]
    assert not wrong, "\n".join(wrong)


def different_voices(played, differs, alone, other):
    """A line for each voice of each case that has different bits."""
    for case, voices in played.items():
        for voice in voices:
            found = np.argwhere(differs[voice.start:voice.end, voice.channel:voice.channel + voice.count])
            if len(found):
                frame, channel = found[0][0], voice.channel + found[0][1]
                yield (f"{case}, {voice.label}: first in the voice's frame {frame - compare.BLOCK}: "
                       f"{alone[voice.start + frame, channel]:.9g} became {other[voice.start + frame, channel]:.9g}")


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
    assert f"the first is {int(0.25 * compare.RATE)}" in found and "in channel 3" in found
