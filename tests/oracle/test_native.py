# SPDX-License-Identifier: GPL-3.0-or-later
"""Native units sound as in scsynth: each alone, at all its rates and combinations of input rates, with its parameters
swept and with extreme ones; five voices side by side and five on one bus.

native.scd makes the SynthDefs (tools/build-synthdefs runs it), native.py the scores. One unit: `-k SinOsc`; one family:
`-k filters`; how far each is apart: `python3 -m tests.oracle.native LPF`."""
import math
from fnmatch import fnmatchcase

import numpy as np
import pytest

from tests.lib import supercollider, tables
from tests.oracle import compare, native

LIMIT = -120  # dB
# A limit: only what isn't finite is wrong here; test_references.py and test_reported.py know the right numbers.
REFERENCE = math.inf
# Patterns of cases, or of a case and the label of one of its voices: another limit, in dB, and why.
DIFFERENT = {
    "div.op.a[km]": (REFERENCE, "with a divisor that stays scsynth computes the first frame, the others are what was there"),
    "LinExp.ar.*.extreme hi = nan": (-114, "scsynth raises to powers in single precision"),
    **dict.fromkeys(("LinExp.ar.*", "LinExp.kr.*"),
                    (-112, "scsynth takes quick reciprocals, which are a bit or two off, otherwise on each maker's CPUs")),
    "Ramp.ar.a[ak]": (REFERENCE, "where a period ends with a block scsynth goes for what lies after its input"),
    **dict.fromkeys(("Pan2.ar.aaa", "LinPan2.ar.aaa", "Balance2.ar.aaaa", "XFade2.ar.aaaa"),
                    (-114, "scsynth adds the level's line up in single precision")),
    "Ramp.ar.*.extreme": (REFERENCE, "where a period ends with a block scsynth goes for what lies after its input"),
    **{f"gcd.op.*.extreme right = {value}":
       (REFERENCE, "scsynth's of the lowest integer, which has no absolute value, have any sign")
       for value in ("nan", "inf", "-inf")},
    "pow.op.aa.extreme left = nan": (-8, "what is no number is the largest one here, half as much again in scsynth"),
    **{f"{name}.ar.a[ik]k.extreme": (1, "scsynth adds the bounds' lines up: they miss, and never leave what is no number")
       for name in ("Fold", "Wrap")},
    **{f"{name}.op.a.extreme in = *e+0[89]": (REFERENCE, "scsynth's are no sines for what is far from zero")
       for name in ("sin", "cos", "tan")},
    **dict.fromkeys(("cos.op.a.extreme in = 24000", "tan.op.a.extreme in = 24000"),
                    (-117, "scsynth's lose digits in what is not near zero")),
    **{f"{name}.op.a.extreme in = -*": (REFERENCE, "of what is negative scsynth's logarithms are arbitrary numbers")
       for name in ("log", "log2", "log10", "ratiomidi")},
    **{f"{name}.*.extreme in freq rq = *e+0[89]": (11, "only C knows the tangents of widths beyond 2^40 radians")
       for name in ("BPF", "BRF")},
    **{f"{name}.*.extreme": (REFERENCE, "scsynth's phase runs away from frequencies and phases beyond a cycle")
       for name in ("LFSaw", "LFTri", "LFPar", "LFCub", "LFPulse", "SyncSaw", "IEnvGen", "SinOsc_vibrato")},
    "Delay[NL].*.extreme in time = *inf": (math.nan, "what isn't finite comes without a delay"),
    "Delay[NL].*.extreme": (REFERENCE, "scsynth's delay is never below a frame"),
    **{f"{name}.*.extreme": (REFERENCE, "what scsynth's gain is off by huge samples make loud")
       for name in ("Limiter", "Normalizer")},
    **{f"{name}.ar.aa": (REFERENCE, "scsynth takes the time from the block's first frame") for name in ("Trig", "Trig1", "TDelay")},
    "Phasor.ar.[cikm]a*": (REFERENCE, "scsynth takes the rate from the block's first frame"),
    **{f"{name}.*.extreme *freq* = *": (REFERENCE, "scsynth's filter is unstable below 0 Hz and above half the sample rate")
       for name in ("LPF", "HPF", "RLPF", "RHPF", "BLowPass", "BHiPass", "BBandPass", "BPeakEQ", "BLowShelf", "BHiShelf")},
    **{f"PanAz_*.extreme *{name} = -*": (REFERENCE, "until 3.13 scsynth's width has to be above 0")
       for name in ("width", "position level width orientation")},
    "Klang_*.extreme": (-92, "what C's functions for single precision are off by goes on in the partials' recursions"),
    "Klang_*": (-108, "as above"),
    "Klank_*.extreme": (-98, "as above"),
    "Klank_*": (-115, "as above"),
    "CrossoverDistortion.ar.*": (-112, "scsynth adds the lines up in single precision"),
    "Dxrand.*": (REFERENCE, "scsynth's first choice depends on an uninitialised index"),
    **{f"{name}.*.extreme*value = nan": (REFERENCE, "a bound or step that is no number stays as it was: in scsynth uninitialised")
       for name in ("Dbrown", "Dibrown", "Diwhite", "Duty_timed")},
    **{f"DemandEnvGen.*.extreme *{name}* = nan":
       (REFERENCE, "a first shape or curve that is no number stays as it was: in scsynth uninitialised") for name in ("shape", "curve")},
    "UnaryOpUGen_demand.*.extreme reset = nan": (REFERENCE, "scsynth's Dseries begins with its third value"),
    "VarSaw.ar.[cik]?a": (-112, "a slope of two frames, at a width of 0.999: phases have 24 bits there, scsynth's have 53"),
    "VarSaw.*.extreme": (5, "scsynth's phase isn't brought back into its cycle from below 0 or from far above: its "
                            "samples run away, to 10^9 and more, where ours stay within -1 to 1"),
}
# The same for SuperCollider 3.14 alone; these come first.
DIFFERENT_SINCE_3_14 = {
    **{f"{name}.op.[ik].extreme in = 1e-40": (math.nan, "a newer C library knows logarithms of denormals, which count as 0")
       for name in ("ampdb", "log10")},
    "VarSaw.kr.*.extreme freq phase width = -*": (7, "scsynth's phase runs away, as above"),
}
# These must have the same bits except for denormals: they are used as frequencies, and oscillators would sum up the
# difference.
EXACT = ("SinOsc_vibrato.ar.k", "midicps.op.i", "Line.ar.*", "XLine.ar.*", "EnvGen_exp.ar.*")
# Cases without extremes whose right result is silence.
SILENT = ("Dseq_empty.*", "<.op.cc", "<.op.i[ci]", "<=.op.cc", "<=.op.i[ci]", "rightShift.op.[ci][ci]", "not.op.i", "silence.op.*")
WANTED = """SinOsc FSinOsc Osc VarSaw LFSaw LFTri LFPulse LFPar LFCub Saw Pulse Impulse Blip SyncSaw LFNoise0 LFNoise1
    LFNoise2 WhiteNoise PinkNoise BrownNoise Dust Dust2 Crackle LPF HPF BPF BRF RLPF RHPF Resonz Ringz OnePole OneZero
    LeakDC Lag Lag2 Lag3 LagUD VarLag Decay Decay2 Integrator Slew Formlet MoogFF EnvGen Linen Line XLine UnaryOpUGen
    BinaryOpUGen MulAdd Sum3 Sum4 Select K2A A2K Pan2 LinPan2 Balance2 XFade2 Out OffsetOut ReplaceOut XOut In InFeedback
    LocalIn LocalOut Clip Wrap Fold Latch Gate Trig Trig1 ToggleFF PulseCount Phasor Sweep Timer DelayN DelayL DelayC
    CombN CombL CombC AllpassN AllpassL AllpassC PlayBuf BufRd Rand ExpRand TRand Compander Limiter FreeVerb HPZ1
    IEnvGen FreeSelf PauseSelf Done FreeSelfWhenDone PauseSelfWhenDone PeakFollower MostChange LeastChange LastValue
    Control TrigControl LagControl AudioControl CheckBadValues Sanitize PanAz Vibrato T2A T2K Decimator FM7
    SawDPW SwitchDelay SendTrig SendReply Poll Demand Duty TDuty Dbrown Dconst Ddup Dgeom Dibrown Diwhite Drand Dreset Dseq
    Dser Dseries Dshuf Dswitch Dswitch1 Dwhite Dwrand Dxrand Klang Klank LFGauss GrainSin GrainFM GrainIn
    GrainBuf CrossoverDistortion Formant""".split()
# Cases without a row of their own: sclang makes Changed of HPZ1, abs and >; the others stay the plugins' so far.
WITHOUT_ROW = {"Changed", "Rotate2"}
CASES = [(family, unit) for family in native.families()
         for unit in dict.fromkeys(map(native.unit_of, native.cases(family)))]


def limit(result):
    """(decibels, reason) of a voice's result."""
    names = result.case, f"{result.case} {result.voice}"
    entries = (DIFFERENT_SINCE_3_14 if supercollider.since_3_14() else {}) | DIFFERENT
    return next((entry for pattern, entry in entries.items() if any(fnmatchcase(name, pattern) for name in names)),
                (LIMIT, ""))


@pytest.mark.parametrize("family, unit", CASES, ids=[f"{family}-{unit}" for family, unit in CASES])
def test_unit(family, unit):
    results = [result for result in native.rendered(family).results if native.unit_of(result.case) == unit]
    wrong = []
    for result in results:
        allowed, reason = limit(result)
        if any(fnmatchcase(result.case, pattern) for pattern in EXACT):
            allowed = -300
        if not np.isnan(allowed) and (result.bad or result.decibels > allowed):
            wrong.append(result.text)
        elif reason and result.text:
            print(f"{result.text}, {reason}")
    assert not wrong, "\n".join([f"{len(wrong)} of {len(results)} voices are apart, the worst first:", *wrong])


@pytest.mark.parametrize("family", [family for family in native.families() if not family.endswith(native.EXTREME)])
def test_steps_and_sound(family):
    """Outputs of steps have these in the same frames, and only listed cases are silent."""
    outcome = native.rendered(family)
    assert not outcome.moved, "\n".join(outcome.moved)
    assert outcome.silent == {result.case for result in outcome.results
                              if any(fnmatchcase(result.case, pattern) for pattern in SILENT)}


def test_every_unit_is_covered():
    """Every unit that has to be native has cases; native.scd plays every operator that sclang has."""
    units = {unit for family in native.families() for one in native.defs(family) for unit in one.units}
    assert not set(WANTED) - units


def test_every_case_is_of_a_native_unit():
    """The unit's name is in a row of the kernels' sources, or else the plugin's unit is compared with itself."""
    units = {unit.partition("_")[0] for _, unit in CASES if unit[0].isupper()}  # the others are operators
    assert units - tables.native_units() == WITHOUT_ROW


def test_report():
    """How far apart the cases are, for `pytest -rP`."""
    results = native.worst_of_cases(result for family in native.families()
                                    for result in native.rendered(family).results)
    worst = [result for result in results if result.text]
    print(f"{len(results)} cases, {len(worst)} of them with other bits, the worst first:")
    print("\n".join(result.text for result in worst[:40]))
    assert len(results) > 4000


@pytest.mark.parametrize("change, bad", [
    (lambda voice: np.roll(voice, 1), False),
    (lambda voice: voice * (1 + 2e-6), False),
    (lambda voice: voice + np.where(np.arange(len(voice)) == 500, 1e-2, 0), False),
    (lambda voice: np.where(np.arange(len(voice)) == 500, np.nan, voice), True),
])
def test_what_is_found(change, bad):
    """A voice a frame late, one too loud by 2e-6, a click and a NaN are found."""
    reference = np.sin(np.arange(2000) / 7)[:, None]
    voice = native.Voice("voice 0", 0, 2000, 0, 1)
    result = native.judge("a", voice, reference, change(reference[:, 0])[:, None])
    assert result.bad == bad
    assert result.decibels > LIMIT
    assert "voice 0" in result.text
    assert native.judge("a", voice, reference, reference).decibels == native.NOTHING


def test_plain_numbers():
    """A ramp over a block between two of them is exact in single precision, by sums or by products."""
    values = np.array([native.plain(1.7 * voice * factor) for voice in (1, 1.031, 1.124) for factor in native.FACTORS])
    assert np.allclose(values[:len(native.FACTORS)], 1.7 * np.array(native.FACTORS), rtol=1 / 256)
    for start in np.float32(values):
        slopes = (np.float32(values) - start) / np.float32(compare.BLOCK)
        exact = start + (values - start) / compare.BLOCK * np.arange(compare.BLOCK + 1)[:, None]
        sums = np.cumsum(np.vstack([np.full(len(values), start), np.tile(slopes, (compare.BLOCK, 1))]), axis=0,
                         dtype=np.float32)
        assert (sums == exact).all()
        assert (start + slopes * np.float32(np.arange(compare.BLOCK + 1))[:, None] == exact).all()


def test_better_than_the_reference():
    """With extreme parameters ours may stay finite where scsynth doesn't, but not the other way round."""
    fine = np.sin(np.arange(2000) / 7)[:, None]
    ended = np.where(np.arange(2000)[:, None] < 900, fine, np.nan)
    voice = native.Voice("voice 0", 0, 2000, 0, 1)
    assert native.judge("a.extreme", voice, ended, fine).decibels == native.NOTHING
    assert native.judge("a.extreme", voice, fine, ended).bad
    assert native.judge("a", voice, ended, fine).decibels > LIMIT
    wrong_before = np.where(np.arange(2000)[:, None] < 800, fine, 2 * fine)
    assert native.judge("a.extreme", voice, ended, wrong_before).decibels > LIMIT
