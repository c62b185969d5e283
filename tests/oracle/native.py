# SPDX-License-Identifier: GPL-3.0-or-later
"""Scores that play the SynthDefs of native/ one after the other, ten voices of each, and how far what two programs made
of a voice is apart.

    python3 -m tests.oracle.native [PATTERN]

prints how far each case whose name has the pattern is from scsynth, the worst first."""
import functools
import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.lib import supercollider
from tests.lib.audio import write_wav
from tests.oracle import compare, ugens

FOLDER = Path(__file__).parent / "native"
# Families whose inputs have the same bits in both servers, see native.scd; they are set to numbers of plain().
EXACT = ("arithmetic", "binary", "unary", "dynamics", "delays", "filters", "panning")
SOURCE = FOLDER / "source.scsyndef"
# With the release by its name, an EnvGen at control rate has its durations, too.
NATIVE = {"native-ugens": "true", "supercollider": "3.14" if supercollider.since_3_14() else "3.13"}
EXTREME = ".extreme"
SLOTS = {"binary": 0.0147, "unary": 0.0207, "arithmetic": 0.0207, "panning": 0.0207, "envelopes": 0.0607,
         "delays": 0.0607, "dynamics": 0.1007}
SLOT = 0.0307  # seconds; the slots of all other families
EXTREME_SLOT = 0.0127
GAP = 0.0051  # of silence between two slots: more than three blocks
VOICES = 5
STRIDE = 2  # channels from a voice's to the next one's
CHANNELS = {False: STRIDE * VOICES + STRIDE, True: 2 * STRIDE * VOICES}
FIXED = ("out", "buf", "bus")  # how parameters begin that are never changed
FACTORS = (1.0, 0.5, 1.31, 0.93, 1.9, 0.11, 1.0, -0.4)
BIPOLAR = ("in", "left", "right", "second", "position", "gain", "mul", "add")  # parameters that may be negative
EXTREMES = (0.0, -0.0, -1.0, math.nan, math.inf, -math.inf, 24000.0, 1e-40, 1e9, -0.7e9)
# Values with which stock scsynth crashes, or reads or writes outside of its memory: (unit, parameters, values).
DEADLY = (
    ("PlayBuf", ("rate", "start"), lambda value: not math.isfinite(value)),
    ("PlayBuf_stereo", ("rate",), lambda value: not math.isfinite(value)),
    *((f"BufRd_{kind}", ("speed",), lambda value: not math.isfinite(value)) for kind in (1, 2, 4)),
    *((name, ("time",), lambda value: not 0 <= value < 1e5)
      for name in ("XLine", "XLine_done", "Done_xline", "FreeSelfWhenDone_xline", "PauseSelfWhenDone_xline")),
    ("PitchShift", ("window",), lambda value: not 1e-4 < value < 100),
    *((f"GrainBuf_{kind}", ("rate", "place"), lambda value: not math.isfinite(value)) for kind in (1, 2, 4, "window")),
    *((name, (parameter,), lambda value: not math.isfinite(value))
      for name, parameter in (("BufWr", "place"), ("MaxLocalBufs", "speed"), ("PlayBuf_own", "speed"), ("Dbufrd", "value"),
                              ("Dbufrd_several", "value"))),
    ("LocalBuf_sizes", ("frames",), lambda value: not 1 <= value < 1e5),
    ("SetBuf", ("at",), lambda value: not 0 <= value < 1e6),
    ("DelTapWr", ("time",), lambda value: not 0 <= value < 0.009),
    *((f"TGrains_{kind}", ("rate", "middle", "duration", "pan"), lambda value: not math.isfinite(value)) for kind in (1, 2, 4, "around")),
    *((f"Warp1_{kind}", ("rate", "place", "window"), lambda value: not math.isfinite(value)) for kind in (2, 4, "stereo", "one", "many")),
    ("T2A", ("offset",), lambda value: not 0 <= value < 64),
    ("Vibrato", ("attack",), lambda value: not 0 <= value < 1e4),
    *((f"PanAz_{channels}", ("position", "orientation"), lambda value: 1e8 < abs(value) < math.inf) for channels in (2, 4, 5)),
    ("lcm", ("right",), lambda value: not math.isfinite(value)),
)
# Units whose output consists of steps, which must be in the same frames.
STEPS = ("LFPulse", "Impulse", "LFNoise0", "LFClipNoise", "Dust", "Dust2", "Latch", "Trig", "Trig1", "ToggleFF",
         "PulseCount", "PulseDivider", "SetResetFF", "Stepper", "Timer", "TDelay", "Schmidt", "TRand", "TIRand",
         "TExpRand", "T2A")
OTHER_STEPS = ("Trig.ar.aa", "Trig1.ar.aa", "TDelay.ar.aa")  # whose right ones scsynth hasn't
FLOOR = 1e-3  # a quieter reference counts as this loud
NOTHING = -math.inf  # decibels of no difference


@dataclass
class Voice:
    """Where a voice sounds: frames [start, end), channels [channel, channel + count)."""
    label: str
    start: int
    end: int
    channel: int
    count: int


@dataclass
class Result:
    """How far a voice of a case is from the reference. `bad`: not finite where the reference is."""
    case: str
    voice: str  # its label
    decibels: float
    bad: bool
    text: str

    def badness(self):
        return self.bad, self.decibels


@dataclass
class Outcome:
    """Of a family: each voice's result, the worst first; the cases in which scsynth is silent; and what is to be said
    of voices whose steps come in other frames."""
    results: list
    silent: set
    moved: list


def families():
    """The names of the files without ".scsyndef"."""
    return sorted(path.stem for path in FOLDER.glob("*.scsyndef") if path != SOURCE)


def defs(family):
    return list(ugens.read((FOLDER / f"{family}.scsyndef").read_bytes()))


def cases(family):
    """The names of the SynthDefs that a family's score plays: with extremes, those that have parameters."""
    return [one.name for one in defs(family) if not family.endswith(EXTREME) or _changeable(one)]


def unit_of(case):
    """What comes before the rates in a case's name: the unit, or the operator."""
    return case.split(".")[0]


def score(family, folder):
    """(events, end, {case: its voices})."""
    files = [("/d_load", str(path)) for path in (FOLDER / f"{family}.scsyndef", SOURCE)]
    events = [(0, *ugens.buffers(folder), *waves(folder), *files)]
    play = _play_extremes if family.endswith(EXTREME) else _play
    time, played = ugens.START, {}
    rounded = plain if family in EXACT else float
    for one in defs(family):
        voices, time = play(events, time, one, SLOTS.get(family, SLOT), rounded)
        if voices:
            played[one.name] = voices
    return events, time, played


def waves(folder):
    """Messages that make the buffers of native.scd's waves: 50 is a signal with jumps, 51 goes around 1; 52 and 53 are
    the same for units at control rate, in steps that plain numbers can be multiplied with and stay as plain."""
    time = np.arange(4096) / compare.RATE
    signal = 0.8 * np.sin(2 * np.pi * 331 * time) + 0.4 * (2 * (71 * time % 1) - 1)
    around = 1 + 0.3 * np.sin(2 * np.pi * 97 * time)
    messages = []
    for number, wave in enumerate((signal, around, np.round(signal * 32) / 32, np.round(around * 32) / 32), start=50):
        path = folder / f"wave{number}.wav"
        write_wav(path, wave, compare.RATE)
        messages.append(("/b_allocRead", number, str(path), 0, 0))
    return messages


def plain(value):
    """The nearest number with eight binary digits. A 64th of the difference of two such numbers, and sums of it, are
    exact in single precision, so it doesn't matter how a server computes a ramp over a block."""
    fraction, exponent = math.frexp(value)
    return math.ldexp(round(fraction * 256), exponent - 8)


def apart(reference, ours):
    """The level of the difference of two signals in dB, relative to the first. Frames in which neither is finite are
    equal."""
    finite = np.isfinite(reference) & np.isfinite(ours)
    if np.any(np.isfinite(reference) != np.isfinite(ours)):
        return math.inf
    reference, ours = np.where(finite, reference, 0), np.where(finite, ours, 0)
    difference = _rms(ours - reference)
    return 20 * math.log10(difference / max(_rms(reference), FLOOR)) if difference else NOTHING


def judge(case, voice, reference, ours):
    """The worst of a voice's channels. With an extreme parameter, ours may stay finite where the reference doesn't;
    from there on they aren't compared."""
    worst = Result(case, voice.label, NOTHING, False, "")
    for channel in range(voice.channel, voice.channel + voice.count):
        theirs, mine = (signal[voice.start:voice.end, channel] for signal in (reference, ours))
        bad = np.isfinite(theirs) & ~np.isfinite(mine)
        if case.endswith(EXTREME) and not bad.any():
            better = np.flatnonzero(~np.isfinite(theirs) & np.isfinite(mine))
            if len(better):
                theirs, mine = theirs[:better[0]], mine[:better[0]]
        decibels = apart(theirs, mine)
        if decibels > worst.decibels:
            text = _text(case, voice, channel, theirs, mine, decibels)
            worst = Result(case, voice.label, decibels, bool(bad.any()), text)
    return worst


def worst_of_cases(results):
    """The worst result of each case, the worst case first."""
    worst = {result.case: result for result in sorted(results, key=Result.badness)}
    return sorted(worst.values(), key=Result.badness, reverse=True)


def edges(signal):
    """The frames in which a signal that consists of steps changes."""
    before = np.concatenate([[0.0], signal[:-1]])
    return np.flatnonzero((signal != before) & ~(np.isnan(signal) & np.isnan(before)))


@functools.cache
def rendered(family):
    """A family's Outcome; rendered once in a process."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        events, end, played = score(family, folder)
        pair = compare.render(events, end, folder, channels=CHANNELS[family.endswith(EXTREME)], settings=NATIVE)
    if pair.reference.shape != pair.ours.shape:
        raise RuntimeError(f"{family}: {pair.reference.shape} became {pair.ours.shape}")
    outcome = Outcome([], set(), [])
    for case, voices in played.items():
        outcome.results += [judge(case, voice, pair.reference, pair.ours) for voice in voices]
        if not np.nan_to_num(pair.reference[voices[0].start:voices[0].end]).any():
            outcome.silent.add(case)
        if unit_of(case) in STEPS and case not in OTHER_STEPS and not case.endswith(EXTREME):
            outcome.moved += filter(None, (_moved(case, voice, pair) for voice in voices))
    outcome.results.sort(key=Result.badness, reverse=True)
    return outcome


def _moved(case, voice, pair):
    theirs, ours = (edges(signal[voice.start:voice.end, voice.channel]) for signal in (pair.reference, pair.ours))
    others = sorted(set(theirs) ^ set(ours))
    return others and (f"{case}, {voice.label}: {len(others)} steps in other frames, the first is the voice's "
                       f"{others[0] - compare.BLOCK}")


def _play(events, time, one, slot, rounded):
    """Five voices on buses of their own, then five on one bus, each with values of its own that change on the way."""
    changeable = [name for name in _changeable(one) if not name.startswith("gate")]
    nodes = range(1000, 1000 + 2 * VOICES)
    start = [("/s_new", "source", 999, 0, 0), ("/g_new", 1, 1, 0, 2, 1, 0)]
    voices = []
    for index, node in enumerate(nodes):
        own = index < VOICES
        channel = STRIDE * min(index, VOICES)
        values = {name: rounded(one.parameters[name] * _own_factor(index)) for name in changeable}
        start.append(("/s_new", one.name, node, 1, 1 if own else 2, "out", float(channel), *_pairs(values)))
        if own or index == VOICES:
            voices.append(Voice(f"voice {index}" if own else "five voices on a bus", _frame(time) - compare.BLOCK,
                                _frame(time + slot) + compare.BLOCK, channel, one.channels))
    events.append((time, *start))
    steps = 6
    for step in range(1, steps):
        changes = []
        for index, node in enumerate(nodes):
            values = {name: rounded(one.parameters[name] * _own_factor(index) * _factor(name, step + index + 3 * place))
                      for place, name in enumerate(changeable) if (step + index + place) % 3}
            for name in one.parameters:
                if name.startswith("gate") and (step + index) % 2:
                    values[name] = one.parameters[name] * float(step % 4 == 0)
            if values:
                changes.append(("/n_set", node, *_pairs(values)))
        events.append((time + slot * (step - 0.37) / steps, *changes))
    events.append((time + slot, ("/g_freeAll", 0)))
    return voices, time + slot + GAP


def _play_extremes(events, time, one, _slot, _rounded):
    """For each parameter a slot with ten voices, one for each extreme; from the middle on it has a usual value."""
    changeable = _changeable(one)
    voices = []
    for names in [[name] for name in changeable] + ([changeable] if len(changeable) > 1 else []):
        start, middle = [("/s_new", "source", 999, 0, 0)], []
        for index, value in enumerate(EXTREMES):
            usual = {name: one.parameters[name] for name in names}
            values = {name: -usual[name] if value == -1 else value for name in names}
            if _deadly(one.name, values):
                continue
            start.append(("/s_new", one.name, 1000 + index, 1, 0, "out", float(STRIDE * index), *_pairs(values)))
            middle.append(("/n_set", 1000 + index, *_pairs(usual)))
            voices.append(Voice(f"{' '.join(names)} = {values[names[0]]:g}", _frame(time) - compare.BLOCK,
                                _frame(time + EXTREME_SLOT) + compare.BLOCK, STRIDE * index, one.channels))
        events += [(time, *start), (time + EXTREME_SLOT / 2, *middle), (time + EXTREME_SLOT, ("/g_freeAll", 0))]
        time += EXTREME_SLOT + GAP
    return voices, time


def _changeable(one):
    return [name for name in one.parameters if not name.startswith(FIXED)]


def _deadly(case, values):
    return any(unit == unit_of(case) and name in names and kills(value)
               for unit, names, kills in DEADLY for name, value in values.items())


def _own_factor(voice):
    return 1 + 0.031 * voice


def _factor(name, number):
    factor = FACTORS[number % len(FACTORS)]
    return factor if name in BIPOLAR else abs(factor)


def _pairs(values):
    return [item for pair in values.items() for item in pair]


def _frame(time):
    return int(time * compare.RATE)


def _rms(signal):
    return math.sqrt(np.mean(np.square(signal))) if len(signal) else 0.0


def _text(case, voice, channel, reference, ours, decibels):
    with np.errstate(invalid="ignore"):
        level = max(_rms(np.nan_to_num(reference, posinf=0, neginf=0)), FLOOR)
        near = np.abs(ours - reference) <= 1e-6 * level
    wrong = np.flatnonzero(~near & ~(~np.isfinite(reference) & ~np.isfinite(ours)))
    if not len(wrong):
        return f"{case}: {decibels:.1f} dB"
    at = wrong[0]
    # The voice begins a block after the part.
    return (f"{case}: {decibels:.1f} dB, {voice.label}, channel {channel - voice.channel}: "
            f"{len(wrong)} of {len(reference)} frames, the first is the voice's {at - compare.BLOCK} "
            f"(the file's {voice.start + at}): {reference[at]:.9g} became {ours[at]:.9g}")


def main(pattern=""):
    wanted = [family for family in families() if any(pattern in case for case in cases(family))]
    found = [result for family in wanted for result in rendered(family).results if pattern in result.case]
    for result in worst_of_cases(found):
        print(result.text or f"{result.case}: the same")


if __name__ == "__main__":
    main(*sys.argv[1:])
