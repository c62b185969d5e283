# SPDX-License-Identifier: GPL-3.0-or-later
"""One score rendered by ours in several ways, and where its bytes differ."""
import numpy as np

from tests.lib import scsynth
from tests.lib.audio import wav_chunks
from tests.oracle import compare
from tests.oracle.batches import CHANNELS


def render(score, folder, settings, program=None):
    """The bytes of the samples that ours renders, or another build's program, a command; the rest of the file contains
    the time of day."""
    return render_events(score.events, score.end, folder, settings, CHANNELS, program)


def render_events(events, end, folder, settings, channels, program=None):
    path = folder / "a.score"
    path.write_bytes(scsynth.score_bytes(events, end))
    output, _ = compare.offline_ours(path, folder / "a.wav", program=program, channels=channels, settings=settings)
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


def different_voices(played, alone, other):
    """A line for each voice of each case that has different bits. NaNs may have."""
    differs = (alone.view(np.uint32) != other.view(np.uint32)) & ~(np.isnan(alone) & np.isnan(other))
    return (list(_voices(played, differs, alone, other)) or ["between the voices"]) if differs.any() else []


def _voices(played, differs, alone, other):
    for case, voices in played.items():
        for voice in voices:
            found = np.argwhere(differs[voice.start:voice.end, voice.channel:voice.channel + voice.count])
            if len(found):
                frame, channel = found[0][0], voice.channel + found[0][1]
                yield (f"{case}, {voice.label}: first in the voice's frame {frame - compare.BLOCK}: "
                       f"{alone[voice.start + frame, channel]:.9g} became {other[voice.start + frame, channel]:.9g}")
