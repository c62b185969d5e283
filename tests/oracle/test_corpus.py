# SPDX-License-Identifier: GPL-3.0-or-later
"""SynthDefs as people write them, each played alone with its default controls: as in scsynth, to
the bit. What scsynth itself renders differently each time (its random generators are seeded by the
time) only has to sound. With native units, and the random generators set before each, they are as good as the same.

tests/corpus has our own, one folder a manner. Those of well-known projects, one folder a project, are compared where they
are: in the folder that the environment's SCS_CORPUS names, or in ../shared/corpus beside the repository."""
import os
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.lib import supercollider
from tests.lib.build import ROOT
from tests.oracle import batches, compare, native, ugens
from tests.oracle.same_bytes import render_events, samples

TAIL = 1
SLOT = 0.5
GAP = 0.0107
# They are only loaded: stock scsynth -N crashes on ScopeOut2, which needs a shared memory.
NOT_OFFLINE = {"sonic-pi-fx_scope_out", "sonic-pi-scope", "system_freqScope0_magresponse_shm",
               "system_freqScope0_shm", "system_freqScope1_magresponse_shm", "system_freqScope1_shm"}
NATIVE_LIMIT = -100  # dB
# SynthDefs that draw random numbers in an order that depends on the data, so that other numbers are as valid. They only
# have to sound. SynthDef: its units that draw.
ANOTHER_ORDER = {
}
# SynthDefs whose result is less exact in scsynth than in ours. They only have to sound. SynthDefs: why.
BETTER = {
    "imp superhoover": "scsynth's reciprocals are estimates, whose last bits depend on the processor, and frequencies "
                       "come from its LinExp: in imp 439.9998 Hz instead of 440",
    "studio_string": "the same estimates: here of a delay in a loop",
    "supermandolin": "scsynth's estimate of 1/0 is no number, nor is what its CombL makes of it, at a frequency of 0",
    "pmsin": "scsynth's MouseX and MouseY start from memory that nobody has set: where that is no number, about once in a "
             "hundred starts, they begin at 0 instead of at the pointer's place",
    "dirt_supersaw": "its saws' initial phases are up to 2, with which scsynth's first samples are above 1",
    "spectral-delay2": "its delays are below a frame at times, and a frame in scsynth",
    "superhammond superzow": "frequencies and delays are products with a ramp, which scsynth adds up in single "
                             "precision: a block's mean is off by 400 times as much as here",
}
if supercollider.since_3_14():
    BETTER["sonic-pi-winwood_lead sonic-pi-winwood_lead_gated"] = (
        "their vibrato is an LFTri.kr whose initial phase is just below 0: scsynth's first sample of it is -2, so that the "
        "oscillators play other frequencies for a block and have other phases from then on")
EXCEPTIONS = {*ANOTHER_ORDER, *" ".join(BETTER).split()}
FED = 40  # the audio bus that effects read
INPUTS = ("in", "inbus", "inBus", "in_bus", "dryBus")
# Controls that are 0 by default in some SynthDefs, which then do nothing.
AWAKE = {"freq": 220.0, "accelerate": 0.1, "distort": 0.4, "krush": 3.0, "kcutoff": 2000.0, "octer": 0.4,
         "octersub": 0.3, "octersubsub": 0.2, "room": 0.4, "ring": 0.4, "ringf": 200.0, "ringdf": 50.0, "shape": 0.4}
OWN = ROOT / "tests/corpus"
WILD = Path(os.environ.get("SCS_CORPUS", ROOT.parent / "shared/corpus"))


def folders(corpus):
    return [pytest.param(folder, id=folder.name) for folder in sorted(corpus.glob("*")) if folder.is_dir()]


NONE = pytest.param(None, id="projects", marks=pytest.mark.skip(
    reason=f"there are no projects' SynthDefs at {WILD}; SCS_CORPUS may name their folder"))
each_folder = pytest.mark.parametrize("folder", folders(OWN) + (folders(WILD) or [NONE]))


@each_folder
def test_project(folder, tmp_path):
    events, end, slots = score(folder, tmp_path)
    first, second = (compare.render(events, end, tmp_path) for _ in range(2))
    assert first.reference.shape == first.ours.shape
    wrong, random = [], []
    for name, slot in slots.items():
        once, again = part(first, slot), part(second, slot)
        if compare.Pair(once.reference, again.reference, "").report():
            random.append(name)
            if not once.ours.any():
                wrong.append(f"{name} is silent")
        elif report := once.report():
            wrong.append(f"{name}: {report}")
    print(f"{len(slots)} SynthDefs, {len(random)} random: {' '.join(random)}")
    assert "FAILURE" not in first.said, first.said
    assert not wrong, "\n".join(wrong)


@each_folder
@pytest.mark.parametrize("fed", [False, True], ids=["alone", "fed"])
def test_native_units(folder, fed, tmp_path):
    """Each alone, and with a sound on the buses that it may read."""
    events, end, slots = score(folder, tmp_path, fed)
    events.append((0, *(("/d_load", str(batches.SYNTHDEFS / f"{name}.scsyndef")) for name in ("seed", "feed"))))
    for start, _ in slots.values():
        before = [("/s_new", "seed", 900, 0, 0)]
        if fed:
            before += [("/s_new", "feed", 901 + bus, 0, 0, "out", bus) for bus in (0, FED)]
        events.append((start - compare.BLOCK / compare.RATE, *before))
    pair = compare.render(events, end, tmp_path, settings=native.NATIVE)
    assert pair.reference.shape == pair.ours.shape
    found = []
    for name, slot in slots.items():
        voice = native.Voice("the synth", *frames(slot), 0, compare.CHANNELS)
        found.append(native.judge(name, voice, pair.reference, pair.ours))
    found.sort(key=native.Result.badness, reverse=True)
    silent = sum(part(pair, slot).silent() for slot in slots.values())
    print(f"{len(slots)} SynthDefs, {silent} silent")
    print("\n".join(result.text for result in found if result.text))
    wrong = [result.text for result in found
             if result.bad or result.decibels > NATIVE_LIMIT and result.case not in EXCEPTIONS]
    wrong += [f"{name} is silent" for name in slots if name in EXCEPTIONS and not part(pair, slots[name]).silent()
              and not part(pair, slots[name]).ours.any()]
    assert not wrong, "\n".join(wrong)


@each_folder
def test_what_is_at_rest(folder, tmp_path):
    """Units at control rate aren't computed while their inputs and states stay. Where a control is set, those that read it
    are, so setting one in each block to the value that it has mustn't change a bit. Meanwhile other controls change, at the
    same times in both."""
    events, end, slots = score(folder, tmp_path)
    events.append((0, ("/d_load", str(batches.SYNTHDEFS / "seed.scsyndef"))))
    synths = {name: (number, dict(parameters)) for number, name, parameters in numbered(folder)}
    chance, woken = Random(7), []
    for name, (start, stop) in slots.items():
        events.append((start - compare.BLOCK / compare.RATE, ("/s_new", "seed", 900, 0, 0)))
        number, parameters = synths[name]
        plain = sorted(control for control in parameters if not control.startswith(("t_", "gate")))
        same, *others = chance.sample(plain, min(3, len(plain))) or [None]
        for control in others:
            events.append((chance.uniform(start, stop), ("/n_set", number, control, parameters[control] * 1.3 + 0.1)))
        block = compare.BLOCK / compare.RATE
        woken += [(start + turn * block, ("/n_set", number, same, parameters[same]))
                  for turn in range(1, int(SLOT / block)) if same]
    def render(more):
        return samples(render_events(sorted(events + more, key=lambda event: event[0]), end, tmp_path, native.NATIVE,
                                     compare.CHANNELS), compare.CHANNELS)
    rested, computed = render([]), render(woken)
    differs = (rested.view(np.uint32) != computed.view(np.uint32)) & ~(np.isnan(rested) & np.isnan(computed))
    wrong = [name for name, slot in slots.items() if differs[slice(*frames(slot))].any()]
    assert not wrong and not differs.any(), f"other bits: {' '.join(wrong)}"


def frames(slot):
    """The frames in which a SynthDef sounds, and a block more on each side."""
    return int(slot[0] * compare.RATE) - compare.BLOCK, int(slot[1] * compare.RATE) + compare.BLOCK


def part(pair, slot):
    return pair.part(*frames(slot))


def score(folder, scratch, fed=False):
    events = [(0, *ugens.buffers(scratch))]
    slots = {}
    time = 0.0123
    for index, path in enumerate(sorted(folder.rglob("*.scsyndef"))):
        for name, parameters in contents(path):
            events.append((time - GAP / 2, ("/d_load", str(path))))
            if name in NOT_OFFLINE:
                continue
            controls = awake(parameters) if fed else []
            events.append((time, ("/s_new", name, 1000 + index, TAIL, 0, *controls)))
            events.append((time + SLOT, ("/g_freeAll", 0)))
            slots[name] = (time, time + SLOT)
            time += SLOT + GAP
    return events, time, slots


def contents(path):
    """(name, parameters) of a file's SynthDefs. Of a file of version 1 the name is its own, as writeDefFile has it."""
    try:
        return [(one.name, one.parameters) for one in ugens.read(path.read_bytes())]
    except ValueError:
        return [(path.stem, {})]


def numbered(folder):
    """(node ID, name, parameters) of the synths of score()."""
    for index, path in enumerate(sorted(folder.rglob("*.scsyndef"))):
        for name, parameters in contents(path):
            yield 1000 + index, name, parameters


def awake(parameters):
    """Controls with which an effect reads what it is fed, and does something with it."""
    controls = []
    for name, value in parameters.items():
        if name in INPUTS:
            controls += [name, float(FED)]
        elif name in AWAKE and value == 0:
            controls += [name, AWAKE[name]]
    return controls
