# SPDX-License-Identifier: GPL-3.0-or-later
"""SynthDefs of well-known projects, each played alone with its default controls: as in scsynth, to
the bit. What scsynth itself renders differently each time (its random generators are seeded by the
time) only has to sound. The environment's SCS_CORPUS names their folder: one folder in it a project."""
import os
from pathlib import Path

import pytest

from tests.oracle import compare, ugens

SLOT = 0.5
GAP = 0.0107
# They are only loaded: stock scsynth -N crashes on ScopeOut2, which needs a shared memory.
NOT_OFFLINE = {"sonic-pi-fx_scope_out", "sonic-pi-scope", "system_freqScope0_magresponse_shm",
               "system_freqScope0_shm", "system_freqScope1_magresponse_shm", "system_freqScope1_shm"}
CORPUS = os.environ.get("SCS_CORPUS")
FOLDERS = sorted(folder for folder in Path(CORPUS).glob("*") if folder.is_dir()) if CORPUS else []


@pytest.mark.skipif(not FOLDERS, reason="SCS_CORPUS doesn't name a folder of projects")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_project(folder, tmp_path):
    events, end, slots = score(folder, tmp_path)
    first, second = (compare.render(events, end, tmp_path) for _ in range(2))
    assert first.reference.shape == first.ours.shape
    wrong, random = [], []
    for name, (start, stop) in slots.items():
        frames = int(start * compare.RATE) - compare.BLOCK, int(stop * compare.RATE) + compare.BLOCK
        part = first.part(*frames)
        again = second.part(*frames)
        if compare.Pair(part.reference, again.reference, "").report():
            random.append(name)
            if not part.ours.any():
                wrong.append(f"{name} is silent")
        elif report := part.report():
            wrong.append(f"{name}: {report}")
    print(f"{len(slots)} SynthDefs, {len(random)} random: {' '.join(random)}")
    assert "FAILURE" not in first.said, first.said
    assert not wrong, "\n".join(wrong)


def score(folder, scratch):
    events = [(0, *ugens.buffers(scratch))]
    slots = {}
    time = 0.0123
    for index, path in enumerate(sorted(folder.rglob("*.scsyndef"))):
        for name in names(path):
            events.append((time - GAP / 2, ("/d_load", str(path))))
            if name in NOT_OFFLINE:
                continue
            events.append((time, ("/s_new", name, 1000 + index, 0, 0)))
            events.append((time + SLOT, ("/g_freeAll", 0)))
            slots[name] = (time, time + SLOT)
            time += SLOT + GAP
    return events, time, slots


def names(path):
    """The name of a file's SynthDef is its own, as writeDefFile has it."""
    try:
        return [name for name, _ in ugens.synthdefs(path.read_bytes())]
    except ValueError:
        return [path.stem]
