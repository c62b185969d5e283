# SPDX-License-Identifier: GPL-3.0-or-later
"""Every unit of SuperCollider's own plugins sounds as in scsynth, to the bit.

ugens.scd makes the SynthDefs (tools/build-synthdefs runs it), ugens.py the scores. Exceptions are
listed with their reason; docs/ugens.md has them too."""
from fnmatch import fnmatchcase

import pytest

from tests.lib import supercollider
from tests.oracle import compare, native, ugens

UNSET = "starts from memory it never set: scsynth's result changes with what was there before"
BEHIND = "reads beyond the end of its memory, whatever is there"
# SynthDef: why it may differ. All others are equal.
DIFFERENT = {
    "Convolution3.kr": BEHIND,
    "DecodeB2.kr": UNSET,
    "DelTapWr.ar": BEHIND,
    "DelTapWr.kr": BEHIND,
    "Dxrand.ar": UNSET,
    "Dxrand.kr": UNSET,
    "FreqShift.phase": UNSET,
    "StereoConvolution2L.ar": UNSET,
    "Vibrato.ar": UNSET,
    "Vibrato.kr": UNSET,
}
LACKING = "sclang 3.13's SynthDefs lack an input: scsynth 3.14 takes what comes after the others, here it is sclang 3.14's default"
if supercollider.since_3_14():
    DIFFERENT |= dict.fromkeys(("Delay1.ar", "Delay1.kr", "Delay2.ar", "Delay2.kr"), LACKING)
# With native units: how far a SynthDef may be from scsynth, in dB, and why some may be further.
NATIVE_LIMIT = -100
LINE = "scsynth adds a control's line up in single precision, and what jumps or divides makes more of it"
NEGATIVE = "scsynth's logarithms of what is negative are arbitrary numbers"
BESIDE_NATIVE = {
    "*N.modar": (-65, "goes for the nearest sample, and so jumps with the last bit of the sine that moves its delay"),
    "BinaryOpUGen.*.ak": (-60, LINE),
    "BufWr.loop": (-20, "goes to the nearest sample, and so jumps with the last bit of the sine that moves its phase"),
    "BinaryOpUGen.pow.aa": (-68, "raises what is next to zero to what is large"),
    "DelTapWr.short": (-15, "in a block that begins before the buffer does, scsynth's tap is a frame shorter"),
    "HPZ2.ar": (-95, "a difference of neighbours, small beside the last bits of the sine that it is taken of"),
    "Hasher.ar": (1, "of a sine: another last bit is another number"),
    "LF[CP]*[br].kr": (1, "scsynth's phase runs away from a frequency above the control rate"),
    "OscN.*": (-65, "goes for the nearest sample, and so jumps with the last bit of what moves its phase"),
    "PV_Div.*": (-82, "divides by bins that are nearly empty"),
    "PV_MagShift.*": (-88, "moves bins by rounded distances"),
    "PanAz.modar": (-92, "jumps with the last bit of the position"),
    "Ramp.mod": (1, "where a period ends with a block scsynth goes for what lies after its input"),
    "UnaryOpUGen.reciprocal.ar": (-70, "of a sine next to zero: its last bits count"),
    **{f"UnaryOpUGen.{name}.ar": (1, NEGATIVE) for name in ("log", "log2", "log10", "ratiomidi")},
}
if supercollider.since_3_14():  # oscillators begin a sample earlier, so that others meet what jumps
    BESIDE_NATIVE = {
        "BinaryOpUGen.div.ak": (-38, LINE),
        "BinaryOpUGen.pow.ka": (-85, LINE),
        "Ball.ar": (-94, "chaotic: what falls and bounces makes more of its input's last bits"),
        "PV_BinWipe.polar": (-75, "what is left of a spectrum without its loud bins: the input's last bits count"),
        **dict.fromkeys(("PV_MagBelow.*", "PV_MagClip.*"), (-93, "the same")),
    } | BESIDE_NATIVE
# SynthDefs whose right result is silence.
SILENT = {"BinaryOpUGen.==.ai", "BinaryOpUGen.==.ia", "UnaryOpUGen.not.ir", "UnaryOpUGen.floor.ir",
          "UnaryOpUGen.coin.ir"}
# Units without a SynthDef.
UNCOVERED = {
    "Dstutter": "its class in the language makes a Ddup",
    "Flip": "no class in the language",
    "GrainTap": "no class in the language",
    "ScopeOut2": "scsynth -N crashes on it",
    "Unwrap": "no class in the language",
}
UNITS = 384  # of the core's plugins without UIUGens (of ours) and DemoUGens

FILES = sorted(ugens.FOLDER.glob("*.scsyndef"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_plugin(path, tmp_path):
    events, end, slots = ugens.score(path, tmp_path)
    pair = compare.render(events, end, tmp_path)
    assert pair.reference.shape == pair.ours.shape
    wrong, silent = [], set()
    for name, (start, stop) in slots.items():
        part = pair.part(int(start * compare.RATE) - compare.BLOCK,
                         int(stop * compare.RATE) + compare.BLOCK)
        report = part.report()
        if report and name in DIFFERENT:
            print(f"{name}: {part.decibels():.1f} dB, {DIFFERENT[name]}")
        elif report:
            wrong.append(f"{name}: {report}")
        if part.silent():
            silent.add(name)
    assert not wrong, "\n".join(wrong)
    assert silent == SILENT & set(slots)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_beside_native_units(path, tmp_path):
    """The same with native units, the default: the sound is as in scsynth, and a unit is silent or has ended only if it
    is in scsynth."""
    events, end, slots = ugens.score(path, tmp_path)
    pair = compare.render(events, end, tmp_path, settings=native.NATIVE)
    assert pair.reference.shape == pair.ours.shape
    assert "FAILURE" not in pair.said, pair.said
    wrong = []
    for name, (start, stop) in slots.items():
        frames = int(start * compare.RATE) - compare.BLOCK, int(stop * compare.RATE) + compare.BLOCK
        result = native.judge(name, native.Voice("the synth", *frames, 0, compare.CHANNELS), pair.reference, pair.ours)
        pattern, (limit, reason) = next((entry for entry in BESIDE_NATIVE.items() if fnmatchcase(name, entry[0])),
                                        (None, (NATIVE_LIMIT, "")))
        if name not in DIFFERENT and (result.bad or result.decibels > limit):
            wrong.append(result.text)
        elif pattern:
            print(f"{result.text}, {reason}")
    assert not wrong, "\n".join(wrong)


def test_every_unit_is_covered():
    units = set()
    for path in FILES:
        for _, used in ugens.synthdefs(path.read_bytes()):
            units |= used
    installed = set(ugens.installed_units())
    assert len(installed) == UNITS
    missing = installed - units
    print(f"{len(installed - missing)} of {len(installed)} units are covered")
    assert missing == set(UNCOVERED)
