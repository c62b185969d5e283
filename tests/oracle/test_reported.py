# SPDX-License-Identifier: GPL-3.0-or-later
"""What scsynth does wrong by public reports (docs/ugens.md lists them) ours does right, as computed with numpy; and with
the plugins' own units it is as wrong as scsynth."""
import math

import numpy as np
import pytest

from tests.lib import scsynth, supercollider
from tests.lib.audio import read_wav, write_wav
from tests.oracle import compare, held, ugens
from tests.oracle.compare import BINARIES, BLOCK, RATE
from tests.oracle.native import apart
from tests.oracle.references import Def

LIMIT = -120  # dB
OURS = {"native-ugens": "true"}
NODE = 1000
FIRST = 0 if supercollider.since_3_14() else 1  # the first frame that is heard of what is computed at the start
MULTIPLY, ADD = 2, 0  # operators
FREE, PAUSE = 2, 1  # done actions


def score(definition, *arguments, seconds=0.1, before=(), after=()):
    """A score that plays one synth. `before`: messages; `after`: those that follow /s_new at the same time."""
    new = ("/s_new", definition.name, NODE, 0, 0, *arguments)
    return [(0, *before, ("/d_recv", definition.bytes()), new, *after)], seconds


def ours(events, end, folder, settings=None):
    file = folder / "a.score"
    file.write_bytes(scsynth.score_bytes(events, end))
    sound, said = compare.offline_ours(file, folder / "ours.wav", settings=settings or OURS)
    assert "FAILURE" not in said, said
    return read_wav(sound)[0]


def as_scsynth(events, end, folder):
    """With the plugins' units, ours has scsynth's bits."""
    report = compare.render(events, end, folder, settings=BINARIES).report()
    assert not report, report


def frames(count):
    return FIRST + np.arange(count)


# ---- inputs at a lower rate (#6803, #4261, #5547, #5917, #4727, #2705, #1065; sc3-plugins #68)

# Draw random numbers, one synth after the other; writes a buffer of which the other synth hears some.
INCOMPARABLE = {"TRand", "TExpRand", "TIRand", "CoinGate", "DelTapWr", "StereoConvolution2L"}


@pytest.mark.parametrize("path", [path for path in sorted(ugens.FOLDER.glob("*.scsyndef")) if path.stem not in ugens.SHORT],
                         ids=lambda path: path.stem)
def test_inputs_at_control_rate(path, tmp_path):
    """As with the same value at audio rate."""
    cases = [case for case in held.cases(path, held.rows())
             if not INCOMPARABLE & {case[0], *(unit[0] for unit in case[2].units)}]
    if not cases:
        return
    sound, gap = 24 * BLOCK, 4 * BLOCK
    events, time, places = [(0, *ugens.buffers(tmp_path))], 40 * BLOCK, []
    for number, (unit, index, *pair) in enumerate(cases):
        for audio, one in enumerate(pair):
            one.name = f"{number} {audio}"
            events += [(1e-4 + 1e-6 * number, ("/d_recv", one.bytes())),
                       (time / RATE, ("/s_new", one.name, NODE + 2 * number + audio, 0, 0)),
                       ((time + sound) / RATE, ("/g_freeAll", 0), *(("/b_zero", number) for number in ugens.WORK))]
            places.append(time)
            time += sound + gap
    signal = ours(events, time / RATE, tmp_path)
    wrong = []
    for (unit, index, *_), control, audio in zip(cases, places[::2], places[1::2]):
        decibels = apart(signal[audio:audio + sound], signal[control:control + sound])
        if decibels > LIMIT + 15:  # a few units compute in another order if all inputs are at audio rate
            wrong.append(f"input {index} of {unit}: {decibels:.1f} dB")
    assert not wrong, "\n".join(wrong)


def test_input_that_changes(tmp_path):
    """It is held from block to block, in units of plugins and in native ones."""
    one = Def()
    line = one.kr("Line", 0.1, 5.0, 0.05, 0.0)
    one.out(one.ar("Fold", line, -1.0, 1.0), one.ar("Latch", line, one.ar("DC", 0.0)),
            one.ar("EnvDetect", line, 0.0, 0.0), one.ar("K2A", line))
    signal = ours(*score(one), tmp_path)
    levels = signal[BLOCK::BLOCK, 3][:30]  # where an interpolation ends: the value of the block before
    folded = np.abs((levels + 1) % 4 - 2) - 1
    blocks = signal[:len(levels) * BLOCK, 0].reshape(-1, BLOCK)
    assert np.abs(blocks + folded[:, None]).max() < 1e-5
    assert np.abs(signal[:len(levels) * BLOCK, 2].reshape(-1, BLOCK)[:, -1] - levels).max() < 0.2
    assert np.abs(signal).max() < 6


# ---- oscillators at any frequency (#4118, #5857)

def wave(name, phase):
    if name == "LFSaw":
        return (phase + 1) % 2 - 1
    if name == "LFPulse":
        return np.where(phase % 1 < 0.4, 1.0, 0.0)
    if name == "LFCub":
        z = (phase + 0.5) % 2
        z = np.where(z > 1, 2 - z, z)
        return z * z * (6 - 4 * z) - 1
    turn = (phase + 1) % 4 - 1
    if name == "LFTri":
        return np.where(turn > 1, 2 - turn, turn)
    return np.where(turn < 1, 1 - turn ** 2, (turn - 2) ** 2 - 1)


@pytest.mark.parametrize("audio", [False, True], ids=["held", "audio"])
@pytest.mark.parametrize("frequency", [-440.3, 61000.7, -130000.9, 3e6])
@pytest.mark.parametrize("name, cycle", [("LFTri", 4), ("LFPar", 4), ("LFCub", 2), ("LFSaw", 2), ("LFPulse", 1)])
def test_oscillators(name, cycle, frequency, audio, tmp_path):
    one = Def()
    source = one.ar("DC", frequency) if audio else frequency
    one.out(one.ar(name, source, 0.1, *([0.4] if name == "LFPulse" else [])))
    events, end = score(one)
    signal = ours(events, end, tmp_path)[:, 0]
    step = np.float64(np.float32(frequency) * np.float32(cycle / RATE))
    right = wave(name, np.float64(np.float32(0.1)) + step * frames(len(signal)))
    jumps = name in ("LFSaw", "LFPulse")  # may come a frame earlier or later
    off = np.abs(signal - right) > 2e-6
    assert off.sum() <= (2 if jumps else 0), (off.sum(), signal[:5], right[:5])
    assert np.abs(signal).max() <= 1
    as_scsynth(events, end, tmp_path)


@pytest.mark.parametrize("phase", [-0.3, -1.2, -2.6, 1.6, 2.7, 3.6, 7.1])
@pytest.mark.parametrize("name, cycle", [("LFTri", 4), ("LFPar", 4), ("LFCub", 2), ("LFSaw", 2)])
def test_initial_phases(name, cycle, phase, tmp_path):
    """The first sample is the wave's, too, at both rates."""
    one = Def()
    one.out(one.ar(name, 440.0, phase), one.ar("K2A", one.kr(name, 0.0, phase)))
    events, end = score(one)
    signal = ours(events, end, tmp_path)
    begins = np.float64(np.float32(phase))
    right = wave(name, begins + np.float64(np.float32(440) * np.float32(cycle / RATE)) * frames(len(signal)))
    assert (np.abs(signal[:, 0] - right) > 2e-6).sum() <= (2 if name == "LFSaw" else 0), (signal[:5, 0], right[:5])
    assert np.abs(signal[:, 1] - wave(name, begins)).max() < 2e-6
    as_scsynth(events, end, tmp_path)


@pytest.mark.parametrize("frequency", [-50000.0, 200000.0])
def test_synced_saw(frequency, tmp_path):
    one = Def()
    one.out(one.ar("SyncSaw", 100.0, frequency), one.ar("SyncSaw", frequency, 100.0))
    assert np.abs(ours(*score(one), tmp_path)).max() <= 1


def test_frequency_that_returns(tmp_path):
    """After a block far above the sample rate the wave is as ever."""
    for name in ("LFTri", "LFPar", "LFCub", "LFSaw"):
        one = Def()
        one.out(one.ar(name, one.control("freq", 440.0), 0.0))
        events, end = score(one)
        events += [(0.02, ("/n_set", NODE, "freq", 9e9)), (0.03, ("/n_set", NODE, "freq", -440.0)),
                   (0.05, ("/n_set", NODE, "freq", 440.0))]
        signal = ours(events, end, tmp_path)[:, 0]
        assert 0.9 < np.abs(signal[round(0.06 * RATE):]).max() <= 1, name


# ---- envelopes

def envelope(one, rate, gate, levels, times, shape=1.0, release=-99.0, action=0.0):
    segments = [number for level, time in zip(levels[1:], times) for number in (level, time, shape, 0.0)]
    return one.unit(rate, "EnvGen", gate, 1.0, 0.0, 1.0, action, levels[0], float(len(times)), release, -99.0, *segments)


def life(signal):
    """How many frames a constant is heard."""
    return int(np.count_nonzero(signal))


@pytest.mark.parametrize("settings", [{}, {"supercollider": "3.13"}, {"supercollider": "3.14"}], ids=["auto", "3.13", "3.14"])
@pytest.mark.parametrize("hosted", [False, True], ids=["voice", "graph"])
@pytest.mark.parametrize("kind", ["asr ar", "asr kr", "perc ar", "perc kr", "linen"])
def test_gate_closed_in_the_same_bundle(kind, hosted, settings, tmp_path):
    """The envelope opens, closes and ends (#1063, #2189, #4207, #4781)."""
    one = Def()
    gate = one.control("gate", 1.0)
    rate = 2 if kind.endswith("ar") else 1
    if kind == "linen":
        one.kr("Linen", gate, 0.01, 1.0, 0.01, float(FREE))
        longest = 0.02
    else:
        release = 1.0 if kind.startswith("asr") else -99.0
        envelope(one, rate, gate, (0.0, 1.0, 0.0), (0.01, 0.02), release=release, action=float(FREE))
        longest = 0.02 if kind.startswith("asr") else 0.03
    constant = one.ar("DC", 0.25)
    one.out(one.ar("Hilbert", constant, outputs=2) if hosted else constant, constant)
    events, end = score(one, after=[("/n_set", NODE, "gate", 0.0), ("/n_set", NODE, "gate", 0.0)])
    lasts = life(ours(events, end, tmp_path, OURS | settings)[:, 1])
    assert 0.3 * longest * RATE < lasts <= longest * RATE + 3 * BLOCK
    as_scsynth(events, end, tmp_path)  # where it never ends
    # What was closed from the start waits; and so does what is opened again.
    waiting = score(one, "gate", 0.0, after=[("/n_set", NODE, "gate", 0.0)])
    assert life(ours(*waiting, tmp_path, OURS | settings)[:, 1]) >= end * RATE
    if kind.startswith("asr"):
        reopened = score(one, after=[("/n_set", NODE, "gate", 0.0), ("/n_set", NODE, "gate", 1.0)])
        assert life(ours(*reopened, tmp_path, OURS | settings)[:, 1]) >= end * RATE


@pytest.mark.parametrize("hosted", [False, True], ids=["voice", "graph"])
def test_closed_gate_and_done_action(hosted, tmp_path):
    """With a gate that hasn't opened yet nothing is done (#334, #4738): here the node in front would be freed."""
    front, one = Def("front"), Def()
    front.out(front.ar("DC", 0.5))
    ending = envelope(one, 1, one.control("gate", 0.0), (0.3, 1.0, 0.0), (0.01, 0.02), release=1.0, action=3.0)
    done = one.kr("Done", ending)
    one.out(0.0, one.ar("K2A", done), *([one.ar("Hilbert", one.ar("DC", 0.0), outputs=2)] if hosted else []))
    events, end = score(one)
    events[0] = (0, ("/d_recv", front.bytes()), ("/s_new", "front", 999, 0, 0), *events[0][1:-1],
                 ("/s_new", one.name, NODE, 3, 999))
    signal = ours(events, end, tmp_path)
    assert life(signal[:, 0]) >= end * RATE
    if not hosted:  # there Done is the plugins'
        assert not signal[:, 1].any()


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("rate", [1, 2], ids=["kr", "ar"])
def test_first_level_from_demand(rate, scaled, tmp_path):
    """An exponential segment from a Demand's value (#7454)."""
    one = Def()
    trigger = one.kr("Impulse", 0.0, 0.0)
    first = one.kr("Demand", trigger, 0.0, one.unit(3, "Dseq", math.inf, 1.5, 1.25))
    if scaled:
        first = one.kr("BinaryOpUGen", first, 2.0, operator=MULTIPLY)
    level = envelope(one, rate, trigger, (first, 4.0, 1.0), (0.032, 0.032), shape=2.0)
    one.out(level if rate == 2 else one.ar("K2A", level))
    events, end = score(one)
    signal = ours(events, end, tmp_path)[:, 0]
    begin = 3.0 if scaled else 1.5
    if rate == 1:  # a block's value is heard at the end of the next one's line
        signal = signal[BLOCK::BLOCK]
    count = round(0.032 * RATE / (BLOCK if rate == 1 else 1))
    way = np.arange(count) / count
    right = np.concatenate([begin * (4 / begin) ** way, 4 * 0.25 ** way, np.ones(count)])[:len(signal)]
    off = np.abs(signal[:len(right)] - right)
    assert np.all(off < 1e-4)


@pytest.mark.parametrize("times", [(0.05,), (0.02, 0.03, 0.05) * 3, (0.0031,) * 20], ids=["one", "nine", "twenty"])
def test_durations_at_control_rate(times, tmp_path):
    """As since 3.14: a segment takes along what is left of the one before it (#6180); by its name, 3.13 is as ever. When
    it is done, the last one has reached its level (#7293)."""
    one = Def()
    level = envelope(one, 1, 1.0, (0.0, *np.resize([1.0, 0.3], len(times))), times, action=float(FREE))
    one.out(one.ar("DC", 0.25))
    one.kr("Out", 7.0, level, outputs=0)
    last = Def("last")  # what the bus is left with
    last.out(0.0, last.ar("K2A", last.kr("In", 7.0)))
    events, end = score(one, seconds=1.0)
    lasts = life(ours(events, end, tmp_path)[:, 0])
    heard = [(0, ("/d_recv", last.bytes()), *events[0][1:], ("/s_new", "last", NODE + 1, 1, 0))]
    assert ours(heard, end, tmp_path)[-1, 1] == np.float32(1.0 if len(times) % 2 else 0.3)
    assert sum(times) * RATE <= lasts + BLOCK / 2 and lasts <= sum(times) * RATE + 3 * BLOCK
    assert lasts == life(ours(events, end, tmp_path, OURS | {"supercollider": "3.14"})[:, 0])
    if not supercollider.since_3_14():
        stock = compare.render(events, end, tmp_path, settings=OURS | {"supercollider": "3.13"})
        assert life(stock.reference[:, 0]) == life(stock.ours[:, 0]) < lasts
    as_scsynth(events, end, tmp_path)


# ---- triggers

@pytest.mark.parametrize("trigger", [0.0, "control"], ids=["constant", "control"])
def test_phasor_follows_its_rate(trigger, tmp_path):
    """At audio rate, with a trigger that isn't (#4399)."""
    one = Def()
    rate = one.ar("MulAdd", one.ar("SinOsc", 440.0, 0.0), 0.05, 0.05)
    one.out(one.ar("Phasor", one.control("trig", 0.0) if trigger else 0.0, rate, 0.0, 1e10, 0.0), rate)
    events, end = score(one)
    signal = ours(events, end, tmp_path)
    right = np.concatenate([[0.0], np.cumsum(np.float64(signal[:-1, 1]))])
    assert apart(right, signal[:, 0]) < LIMIT
    as_scsynth(events, end, tmp_path)


def wrapped(level, low, high):
    if low <= level < high:
        return level
    level += low - high if level >= high else high - low
    return level if low <= level < high else level - (high - low) * math.floor((level - low) / (high - low))


@pytest.mark.parametrize("trigger", ["ar", "kr"])
def test_phasor_follows_its_limits_and_reset(trigger, tmp_path):
    """At audio rate (#3825)."""
    one = Def()
    triggers = one.ar("Impulse", 217.0, 0.0) if trigger == "ar" else one.kr("Impulse", 60.0, 0.0)
    low = one.ar("MulAdd", one.ar("SinOsc", 230.0, 0.0), 3.0, 1.0)
    high = one.ar("MulAdd", one.ar("SinOsc", 170.0, 0.0), 4.0, 20.0)
    reset = one.ar("MulAdd", one.ar("SinOsc", 290.0, 0.0), 2.0, 9.0)
    one.out(one.ar("Phasor", triggers, 0.37, low, high, reset), low, high, reset,
            *([triggers] if trigger == "ar" else [one.ar("T2A", triggers, 0.0)]))
    events, end = score(one)
    signal = np.float64(ours(events, end, tmp_path))[:, :5]
    rate, level, right = np.float64(np.float32(0.37)), signal[0, 1], []
    before = signal[0, 4] if FIRST else 0
    for _, least, most, to, now in signal:
        if before <= 0 < now:
            level = to + (rate if trigger == "ar" else 0)
        if trigger == "kr":
            level = wrapped(level, least, most)
        right.append(level)
        level += rate
        if trigger == "ar":
            level = wrapped(level, least, most)
        before = now
    assert len(right) > 1000 and apart(np.array(right), signal[:, 0]) < LIMIT
    as_scsynth(events, end, tmp_path)


@pytest.mark.parametrize("rate, trigger", [("ar", "ar"), ("ar", "kr"), ("kr", "kr")])
@pytest.mark.parametrize("wrong", [math.inf, -math.inf, math.nan], ids=str)
def test_phasor_goes_on_after_an_infinite_rate(rate, trigger, wrong, tmp_path):
    """As it does where a rate is divided by the length of a buffer that isn't there yet (#1857)."""
    one = Def()
    made = getattr(one, rate)("Phasor", getattr(one, trigger)("DC", 0.0), one.control("rate", 1.0), 5.0, 1e6, 0.0)
    one.out(made if rate == "ar" else one.ar("K2A", made))
    first, end = score(one, "rate", wrong)
    blocks = 20
    events = [*first, (blocks * BLOCK / RATE, ("/n_set", NODE, "rate", 2.0))]
    signal = ours(events, end, tmp_path)[:, 0]
    assert np.all(signal[:blocks * BLOCK] == 5)
    assert np.all(np.isfinite(signal))
    steps = (len(signal) // BLOCK - blocks - 1) * (BLOCK if rate == "ar" else 1)
    assert 2 * (steps - 1) <= signal[-1] - 5 <= 2 * (steps + 2 * BLOCK)
    stock = compare.render(events, end, tmp_path, settings=BINARIES)
    assert not np.isfinite(stock.reference[-1, 0])
    assert np.array_equal(stock.reference, stock.ours, equal_nan=True)


@pytest.mark.parametrize("name", ["Trig", "Trig1", "TDelay"])
def test_time_at_audio_rate(name, tmp_path):
    """It counts in the trigger's frame (#4856)."""
    one = Def()
    times = one.ar("Line", 0.0001, 0.003, 0.1, 0.0)
    triggers = one.ar("Impulse", 217.0, 0.0)
    one.out(one.ar(name, triggers, times), times, triggers)
    events, end = score(one)
    signal = ours(events, end, tmp_path)
    right = np.zeros(len(signal))
    for at in np.flatnonzero(signal[:, 2]):
        count = max(1, int(signal[at, 1] * np.float32(RATE) + np.float32(0.5)))
        if name == "TDelay":
            right[at + count:at + count + 1] = 1
        else:
            right[at:at + count] = 1
    assert np.array_equal(right[BLOCK:-RATE // 200], signal[BLOCK:-RATE // 200, 0])
    as_scsynth(events, end, tmp_path)


# ---- delays and dynamics

@pytest.mark.parametrize("name", ["DelayN", "DelayL"])
def test_no_delay(name, tmp_path):
    """At audio or control rate (#2321), also half a frame."""
    one = Def()
    source = one.ar("SinOsc", 1234.0, 0.0)
    one.out(source, one.ar(name, source, 0.1, one.ar("DC", 0.0)), one.ar(name, source, 0.1, one.control("time", 0.0)),
            one.ar(name, source, 0.1, one.ar("DC", 0.5 / RATE)))
    events, end = score(one)
    signal = ours(events, end, tmp_path)
    assert np.array_equal(signal[1:, 0], signal[1:, 1])
    assert np.array_equal(signal[1:, 0], signal[1:, 2])
    half = (signal[1:, 0] + signal[:-1, 0]) / 2 if name == "DelayL" else signal[1:, 0]
    assert apart(half[1:], signal[2:, 3]) < LIMIT
    as_scsynth(events, end, tmp_path)


@pytest.mark.parametrize("factor", [2.0 ** 30, 1e6, 5000.0])
def test_limiter_of_huge_samples(factor, tmp_path):
    """Its output stays within the level (#5274)."""
    one = Def()
    sine = one.ar("SinOsc", 440.0, 0.0)
    one.out(one.ar("Limiter", one.ar("BinaryOpUGen", sine, one.kr("Line", 1.0, factor, 0.1, 0.0), operator=MULTIPLY), 0.9, 0.01))
    events, end = score(one, seconds=0.4)
    signal = ours(events, end, tmp_path)[:, 0]
    assert 0.89 < np.abs(signal[-RATE // 10:]).max()
    assert np.abs(signal).max() <= 0.9 * 1.002
    as_scsynth(events, end, tmp_path)


@pytest.mark.parametrize("frequency", [-100.0, 25000.0, 80000.0, 5.76e8])
@pytest.mark.parametrize("audio", [False, True], ids=["held", "audio"])
@pytest.mark.parametrize("name, more", [("LPF", ()), ("HPF", ()), ("RLPF", (0.3,)), ("RHPF", (0.3,)), ("BLowPass", (1.0,)),
                                        ("BHiPass", (1.0,))], ids=["LPF", "HPF", "RLPF", "RHPF", "BLowPass", "BHiPass"])
def test_filters_at_any_frequency(name, more, audio, frequency, tmp_path):
    """They stay stable (SuperDirt #70, #166; Sonic Pi #427): that of the frequency without its sign, at most half the
    sample rate. Resonant ones are above that as in scsynth, where they are stable."""
    one = Def()
    source = one.ar("LFSaw", 441.0, 0.0)
    right = one.ar(name, source, min(abs(frequency), 0.999 * RATE / 2), *more)
    one.out(one.ar(name, source, one.ar("DC", frequency) if audio else frequency, *more), right)
    events, end = score(one, seconds=0.3)
    signal = ours(events, end, tmp_path)
    assert np.abs(signal).max() < 5
    if frequency < 0 or not name.startswith("R"):
        assert apart(signal[:, 1], signal[:, 0]) < -80


@pytest.mark.parametrize("local", [False, True], ids=["buffer", "own buffer"])
@pytest.mark.parametrize("points", [1, 2, 4])
@pytest.mark.parametrize("kind", ["held", "audio"])
def test_delay_taps(kind, points, local, tmp_path):
    """Where the buffer ends it goes on at frame 0 (#7490)."""
    size, delay = 1000, 777.25
    one = Def()
    buffer = 0.0
    if local:
        most = one.unit(0, "MaxLocalBufs", 1.0)
        buffer = one.unit(0, "LocalBuf", 1.0, float(size), most)
    sine = one.ar("SinOsc", 110.0, 0.0)
    phase = one.ar("DelTapWr", buffer, sine)
    time = one.ar("DC", delay / RATE) if kind == "audio" else delay / RATE
    one.out(one.ar("DelTapRd", buffer, phase, time, float(points)), sine)
    events, end = score(one, before=[("/b_alloc", 0, size, 1)])
    signal = ours(events, end, tmp_path)
    delayed, source = signal[:, 0], signal[:, 1]
    frames_back = np.float64(np.float32(np.float32(delay / RATE) * np.float32(RATE)))
    begin = 2 * size
    place = np.arange(begin, len(source) - BLOCK) - frames_back
    right = np.interp(place, np.arange(len(source)), np.float64(source))
    if points == 1:
        right = source[np.int64(np.floor(place))]
    # The wave is smooth: a cubic is beside the line by less than this.
    assert np.abs(delayed[begin:len(source) - BLOCK] - right).max() < 1e-4
    if points == 4:
        assert np.abs(np.diff(delayed[begin:], 2)).max() < 1e-3


def test_negative_width(tmp_path):
    """PanAz takes it without its sign (#6012)."""
    def panned(width):
        one = Def()
        source = one.ar("SinOsc", 440.0, 0.0)
        first = one.ar("PanAz", source, 0.3, 1.0, one.control("width", width), 0.5, outputs=4)
        one.out(*((first[0], channel) for channel in range(4)))
        return ours(*score(one), tmp_path)[:, :4]
    assert np.array_equal(panned(-2.5), panned(2.5))
    assert np.any(panned(-2.5))


# ---- phases of long buffers (#3973; SuperDirt #196)

@pytest.mark.parametrize("hosted", [False, True], ids=["voice", "graph"])
@pytest.mark.parametrize("points", [1, 2, 4])
@pytest.mark.parametrize("name", ["Phasor", "Sweep", "Line", "LFSaw"])
def test_far_into_a_buffer(name, points, hosted, tmp_path):
    """Places have more digits than samples: here from frame 2^24 on, where every other one is no number of these."""
    far, rate, count = 2 ** 24, 0.3, 3000
    file = tmp_path / "long.wav"
    cycle = 97.3
    samples = np.zeros(far + 2 * count, np.float32)
    samples[far - 2 * count:] = np.sin(2 * np.pi * np.arange(-2 * count, 2 * count) / cycle)
    write_wav(file, samples, RATE)
    one = Def()
    start = {"Phasor": 0.0, "Sweep": 0.0}.get(name, float(far))
    if name == "Phasor":
        place = one.ar("Phasor", 0.0, rate, float(far), float(far + count), 0.0)
    elif name == "Sweep":
        place = one.ar("Sweep", one.ar("Impulse", 0.0, 0.0), float(far * 20))
        rate = far * 20 / RATE
    elif name == "LFSaw":  # as SuperDirt's samples
        frequency = rate * RATE / far / 4
        place = one.ar("BinaryOpUGen", one.ar("LFSaw", frequency, 0.5), 2.0 * far, operator=MULTIPLY)
    else:
        place = one.ar("Line", start, float(far + count), count / rate / RATE, 0.0)
    one.out(one.ar("BufRd", 0.0, place, 1.0, float(points)),
            *([one.ar("Hilbert", one.ar("DC", 0.0), outputs=2)] if hosted else []))
    events, end = score(one, before=[("/b_allocRead", 0, str(file), 0, 0)])
    signal = ours(events, end, tmp_path)[:, 0]
    if name == "Sweep":
        step = np.float64(np.float32(far * 20)) / RATE
        places = step * (frames(len(signal)) - (0 if FIRST else 1)) + (step if FIRST else 0)
        rising = (places > far - count) & (places < far + count)
    elif name == "LFSaw":
        step = 2 * far * np.float64(np.float32(frequency) * np.float32(2 / RATE))
        places = far + step * np.arange(len(signal))
        rising = places < far + count
    else:
        step = np.float64(np.float32(rate)) if name == "Phasor" else count / round(count / rate)
        places = far + step * np.arange(len(signal))
        rising = places < far + count - 8
    right = np.sin(2 * np.pi * (places - far) / cycle)
    rising[:2] = False
    best = min(apart(right[rising], np.roll(signal, shift)[rising]) for shift in (-1, 0, 1))
    assert best < (-25 if points == 1 else -55 if points == 2 else -80)
    as_scsynth(events, end, tmp_path)


@pytest.mark.parametrize("size", [32768, 65536, 131072, 262144])
def test_large_transforms(size, tmp_path):
    """Up to scsynth's own limit (#738)."""
    one = Def()
    buffer = one.unit(0, "LocalBuf", 1.0, float(size), one.unit(0, "MaxLocalBufs", 1.0))
    spectrum = one.kr("FFT", buffer, one.ar("SinOsc", 440.0, 0.0), 0.5, 0.0, 1.0, 0.0)
    one.out(one.ar("IFFT", spectrum, 0.0, 0.0))
    events, end = score(one, seconds=(size + 4800) / RATE)
    pair = compare.render(events, end, tmp_path, settings=BINARIES)
    assert not pair.report(), pair.report()
    assert np.abs(pair.ours).max() > 0.5


@pytest.mark.parametrize("rate", ["control", "audio"])
def test_a_buffer_played_from_its_end(rate, tmp_path):
    """Backwards from the last frame, or from beyond it, to the first one; then it is done (#2875)."""
    size = 2000
    file = tmp_path / "ramp.wav"
    ramp = np.arange(1, size + 1, dtype=np.float32) / size
    write_wav(file, np.stack([ramp, ramp], axis=1), RATE)
    for start in (size - 1, size):
        one = Def()
        step = one.ar("DC", -1.0) if rate == "audio" else -1.0
        one.out(one.ar("PlayBuf", 0.0, step, 0.0, float(start), 0.0, float(FREE), outputs=2))
        events, end = score(one, before=[("/b_allocRead", 0, str(file), 0, 0)])
        signal = ours(events, end, tmp_path)[:, 0]
        heard = np.flatnonzero(signal)
        assert np.allclose(signal[heard[0]:heard[0] + size - 1], ramp[:0:-1][:size - 1], atol=2 / size)
        assert size - 2 <= len(heard) <= size + BLOCK
        as_scsynth(events, end, tmp_path)


@pytest.mark.parametrize("step", [1.0, -1.0, 0.0])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_short_buffer_is_done(size, step, tmp_path):
    """Whatever its length, and at a standstill on its last frame."""
    one = Def()
    one.out(one.ar("PlayBuf", 0.0, step, 0.0, float(size - 1), 0.0, float(FREE)), one.ar("DC", 1.0))
    signal = ours(*score(one, before=[("/b_alloc", 0, size, 1)]), tmp_path)
    assert 0 < np.count_nonzero(signal[:, 1]) <= 2 * BLOCK
