# SPDX-License-Identifier: GPL-3.0-or-later
"""Synths with blocks or a sample rate of their own. What they sound like is known without a server that has them: units
whose sound doesn't depend on the block sound as without, others as numpy computes them, and a higher rate as the same
SynthDef on a server at that rate whose sound is then filtered."""
import numpy as np
import pytest

from tests.oracle import own_rate
from tests.oracle.own_rate import BLOCK, DELAYS, RATE, play, with_rate
from tests.oracle.references import Def

BLOCKS = (1, 2, 4, 8, 16, 32, 64)
FACTORS = (2, 4, 8, 16)
SCALAR, CONTROL, AUDIO = range(3)
ADD, MULTIPLY = 0, 2  # operators
CONTROLS = {"out": 0.0, "block": 0.0, "factor": 0.0}
FREE = 2  # done action


def dB(ratio):
    return 20 * np.log10(max(float(ratio), 1e-30))


def started(name="a"):
    """A SynthDef with the usual controls, and what its `out` is."""
    made = Def(name)
    made.controls = list(CONTROLS.items())
    made.unit(CONTROL, "Control", outputs=3)
    return made, (0, 0)


def by_control(made):
    return with_rate(made.bytes(), block_control=1, factor_control=2)


def rated(made, block, factor, control):
    """Its synths have these blocks and this rate: said by constants, so that they are voices where they can be, or by
    controls, so that they are unit graphs."""
    if not control:
        return with_rate(made.bytes(), block, factor)
    first = len(made.controls)
    made.controls += [("itsBlock", float(block)), ("itsFactor", factor)]
    return with_rate(made.bytes(), block_control=first, factor_control=first + 1)


BOTH_FORMS = pytest.mark.parametrize("control", [False, True], ids=["constants", "controls"])


def signals_of(made, rate):
    """Line.kr is a step ahead until 3.13, whatever its rate."""
    first = made.unit(rate, "Line", 0.0, 1.0, 1.0, 0.0) if rate == AUDIO else made.unit(rate, "SinOsc", 220.0, 0.0)
    return [first, made.unit(rate, "SinOsc", 440.0, 0.0)]


def plain_out(unit, first=()):
    def make(made, out, rate):
        signals = signals_of(made, rate)
        made.unit(rate, unit, out, *first, *signals, outputs=0)
        if unit in ("Out", "OffsetOut"):
            made.unit(rate, unit, out, *signals, outputs=0)
    return make


def listening(unit, *rest):
    """Two channels of the buses from 16 on, where another synth plays."""
    def make(made, out, rate):
        index, _ = made.unit(rate, unit, 16.0, *rest, outputs=2)
        made.unit(rate, "ReplaceOut", out, (index, 0), (index, 1), outputs=0)
    return make


def controlled(unit, *inputs, count=2):
    def make(made, out, rate):
        made.controls += [("ctl", 0.5)] + [(f"ctl{i}", i - 0.5) for i in range(2, count + 1)]
        index, _ = made.unit(rate, unit, *inputs, outputs=count, operator=3)
        made.unit(rate, "ReplaceOut", out, (index, 0), (index, count - 1), outputs=0)
    return make


def local_buses(made, out, rate):
    signals = [made.unit(rate, "SinOsc", frequency, 0.0) for frequency in (220.0, 440.0)]
    for _ in range(2):
        made.unit(rate, "LocalOut", *signals, outputs=0)
    index, _ = made.unit(rate, "LocalIn", 0.0, 0.0, outputs=2)
    made.unit(rate, "Out", out, (index, 0), (index, 1), outputs=0)


# What sounds alike in blocks of one frame, whatever its rate; and which bus a control is mapped to, if it is.
ALIKE = {
    "Out.ar": (AUDIO, plain_out("Out"), ()), "Out.kr": (CONTROL, plain_out("Out"), ()),
    "ReplaceOut.ar": (AUDIO, plain_out("ReplaceOut"), ()), "ReplaceOut.kr": (CONTROL, plain_out("ReplaceOut"), ()),
    "OffsetOut.ar": (AUDIO, plain_out("OffsetOut"), ()),
    "XOut.ar": (AUDIO, plain_out("XOut", (0.5,)), ()), "XOut.kr": (CONTROL, plain_out("XOut", (0.5,)), ()),
    "In.ar": (AUDIO, listening("In"), ()), "In.kr": (CONTROL, listening("In"), ()),
    "InFeedback.ar": (AUDIO, listening("InFeedback"), ()), "LagIn.kr": (CONTROL, listening("LagIn", 0.1), ()),
    "InTrig.kr": (CONTROL, listening("InTrig"), ()),
    "Control": (CONTROL, controlled("Control"), ()), "mapped": (CONTROL, controlled("Control"), ("/n_map",)),
    "AudioControl": (AUDIO, controlled("AudioControl"), ()),
    "AudioControl, 40": (AUDIO, controlled("AudioControl", count=40), ()),
    "AudioControl of audio": (AUDIO, controlled("AudioControl"), ("/n_mapa",)),
    "AudioControl of control": (AUDIO, controlled("AudioControl"), ("/n_map",)),
    "LagControl": (CONTROL, controlled("LagControl", 0.1, 0.1), ()),
    "LagControl of control": (CONTROL, controlled("LagControl", 0.1, 0.1), ("/n_map",)),
    "TrigControl": (CONTROL, controlled("TrigControl"), ()),
    "LocalIn.ar": (AUDIO, local_buses, ()), "LocalIn.kr": (CONTROL, local_buses, ()),
}


@pytest.mark.parametrize("case", ALIKE)
@pytest.mark.parametrize("rates", [(1, 0), (8, 0), (64, 0), (0, 1)], ids=str)
def test_buses_and_controls_sound_alike_in_other_blocks(case, rates, tmp_path):
    rate, make, mapped = ALIKE[case]
    made, out = started()
    make(made, out, rate)
    player = Def("player")  # writes the buses that others read
    for unit_rate in (AUDIO, CONTROL):
        player.unit(unit_rate, "Out", 16.0, *(player.unit(unit_rate, "SinOsc", frequency, 0.0)
                                              for frequency in (220.0, 440.0)), outputs=0)
    heard = Def("heard")  # control buses on the server's outputs
    if rate == CONTROL:
        index, _ = heard.kr("In", 0.0, outputs=4)
        heard.out(*(heard.ar("K2A", (index, channel)) for channel in range(4)))
    else:
        heard.out(heard.ar("DC", 0.0))
    block, factor = (float(each) for each in rates)
    synths = [(9, "player", ()), (1, "a", ("out", 0.0, "block", block, "factor", factor)), (2, "a", ("out", 2.0)),
              (10, "heard", ())]
    maps = [(0, *((address, node, "ctl", 16, "ctl2", 17) for node in (1, 2) for address in mapped))] if mapped else []
    sound = play(tmp_path, ("a", by_control(made)), ("player", player.bytes()), ("heard", heard.bytes()), synths=synths,
                 events=maps, channels=4)
    assert np.abs(sound[:, :2]).max() > 0.05
    assert np.abs(sound[:, :2] - sound[:, 2:]).max() < (3e-4 if rate == CONTROL else 1e-6)  # SinOsc.kr's phase is rounded


# ---- what a synth is told of its blocks and its rate

def told(folder, block=0, factor=0.0, control=False):
    """(BlockSize, SampleRate, ControlRate)."""
    made, _ = started()
    made.unit(CONTROL, "Out", 0.0, *(made.unit(SCALAR, name) for name in ("BlockSize", "SampleRate", "ControlRate")),
              outputs=0)
    heard = Def("heard")
    index, _ = heard.kr("In", 0.0, outputs=3)
    heard.out(*(heard.ar("K2A", (index, channel)) for channel in range(3)))
    data = by_control(made) if control else with_rate(made.bytes(), block, factor)
    synths = [(1, "a", ("block", float(block), "factor", float(factor)) if control else ()), (2, "heard", ())]
    sound = play(folder, ("a", data), ("heard", heard.bytes()), synths=synths, channels=3, settings=("-V", "-1"))
    return tuple(sound[-1])


@BOTH_FORMS
def test_a_synth_is_told_of_its_own(control, tmp_path):
    for block in (0, *BLOCKS):
        assert told(tmp_path, block, 0.0, control) == (block or BLOCK, RATE, RATE / (block or BLOCK))
    for factor in (0, 1, *FACTORS):
        assert told(tmp_path, 0, float(factor), control) == (BLOCK, RATE * max(factor, 1), RATE * max(factor, 1) / BLOCK)
    assert told(tmp_path, 256, 4.0, control) == (256, RATE * 4, RATE * 4 / 256)


@BOTH_FORMS
def test_what_is_wrong_falls_back(control, tmp_path):
    for block in (3, 7, 100):
        assert told(tmp_path, block, 0.0, control)[0] == BLOCK
    assert told(tmp_path, 512, 4.0, control)[0] == 256  # the longest that there is
    for factor in (0.5, 0.9, 3.0, 7.0, 32.0):
        assert told(tmp_path, 0, factor, control)[1] == RATE
    if control:
        assert told(tmp_path, -1, -1.0, control) == (BLOCK, RATE, RATE / BLOCK)


# ---- feedback within a block

@pytest.mark.parametrize("block", BLOCKS)
def test_feedback_of_a_block(block, tmp_path):
    """A string whose delay is a block: of one frame, a one-pole filter."""
    factor = float(np.float32(0.97))
    made = Def("string")
    hit = made.ar("Impulse", 500.0, 0.0)
    back = made.ar("BinaryOpUGen", made.ar("LocalIn", 0.0), factor, operator=MULTIPLY)
    together = made.ar("BinaryOpUGen", hit, back, operator=ADD)
    made.ar("LocalOut", together, outputs=0)
    made.out(together, hit)
    sound = play(tmp_path, ("string", with_rate(made.bytes(), block)))
    right = sound[:, 1].copy()
    for frame in range(block, len(right)):
        right[frame] += np.float32(factor * right[frame - block])
    assert np.abs(right).max() >= 1
    assert dB(np.abs(sound[:, 0] - right).max()) < -120


def test_a_filter_by_hand(tmp_path):
    """Two poles, from two samples ago: a delay of a sample in a loop of one."""
    made = Def("poles")
    hit = made.ar("Impulse", 300.0, 0.0)
    index, _ = made.ar("LocalIn", 0.0, 0.0, outputs=2)
    gains = (float(np.float32(1.6)), float(np.float32(-0.8)))
    sums = [made.ar("BinaryOpUGen", (index, channel), gain, operator=MULTIPLY) for channel, gain in enumerate(gains)]
    out = made.ar("BinaryOpUGen", hit, made.ar("BinaryOpUGen", *sums, operator=ADD), operator=ADD)
    made.ar("LocalOut", out, (index, 0), outputs=0)
    made.out(out, hit)
    sound = play(tmp_path, ("poles", with_rate(made.bytes(), 1)))
    right = np.zeros(len(sound))
    for frame, value in enumerate(sound[:, 1]):
        right[frame] = value + gains[0] * right[frame - 1] * (frame > 0) + gains[1] * right[frame - 2] * (frame > 1)
    assert dB(np.abs(sound[:, 0] - right).max() / np.abs(right).max()) < -120


# ---- other rates

def saw(unit="Saw"):
    made = Def("saw")
    return made.out(made.ar(unit, 5000.0, *((0.0,) if unit == "LFSaw" else ())))


def spectrum(sound):
    turns = np.arange(len(sound)) / len(sound) * 2 * np.pi
    weights = (1, -1.93, 1.29, -0.388, 0.028)  # a flat top window, whose side lobes are low
    return np.fft.rfft(sound * sum(weight * np.cos(n * turns) for n, weight in enumerate(weights))) / len(sound)


@BOTH_FORMS
@pytest.mark.parametrize("unit", ["Saw", "LFSaw"])
@pytest.mark.parametrize("factor", FACTORS)
def test_aliasing_is_below_the_stopband(factor, unit, control, tmp_path, monkeypatch):
    """Below 20 kHz there is what a server at that rate has there; what lies above doesn't fold."""
    seconds, begin = 0.6, RATE // 10
    sound = play(tmp_path, ("saw", rated(saw(unit), 0, float(factor), control)), seconds=seconds)[begin:, 0]
    monkeypatch.setattr(own_rate, "RATE", RATE * factor)
    fine = play(tmp_path, ("saw", saw(unit).bytes()), seconds=seconds)[begin * factor:, 0]
    frames = min(len(sound), len(fine) // factor) // 480 * 480
    sound, fine = spectrum(sound[:frames]), spectrum(fine[:frames * factor])
    band = slice(10, int(20000 * frames / RATE))
    assert np.abs(fine[band]).max() > 0.05
    assert dB(np.abs(sound[band] - fine[band]).max() / np.abs(fine[band]).max()) < -100


@BOTH_FORMS
@pytest.mark.parametrize("block", [0, 1, 4, 64, 256])
@pytest.mark.parametrize("factor", FACTORS)
def test_a_synth_that_only_writes_is_in_time(factor, block, control, tmp_path):
    """An impulse at its first sample is heard in the first frame, and then the others where they belong."""
    made = Def("hits")
    made.out(made.ar("Impulse", 1500.0, 0.0))
    block = min(block, BLOCK * factor)
    sound = play(tmp_path, ("hits", rated(made, block, float(factor), control)))[:, 0] * factor
    places = np.arange(0, len(sound), 32)
    assert np.allclose(sound[places], 1, atol=0.05)
    peaks = np.flatnonzero(sound > 0.9)
    assert (peaks == places).all()


@pytest.mark.parametrize("servers", [1, 2, 16, 128, 1024])
def test_other_blocks_of_the_server(servers, tmp_path):
    made = Def("hits")
    made.out(made.ar("Impulse", 750.0, 0.0))
    settings = ("-z", str(servers))
    right = np.flatnonzero(play(tmp_path, ("hits", made.bytes()), settings=settings)[:8192, 0] > 0.5)
    assert len(right) == 8192 / 64
    for block, factor in ((1, 1), (4, 1), (1, 4), (0, 16), (16 * servers, 16)):
        sound = play(tmp_path, ("hits", with_rate(made.bytes(), block, float(factor))), settings=settings)[:8192, 0]
        assert (np.flatnonzero(sound * factor > 0.5) == right).all(), (block, factor)


@BOTH_FORMS
@pytest.mark.parametrize("block", [0, 1, 8])
@pytest.mark.parametrize("factor", FACTORS)
def test_what_is_read_and_written_is_late_by_both_filters(factor, block, control, tmp_path):
    source = Def("source")
    tone = source.ar("SinOsc", 750.0, 0.0)
    source.ar("Out", 16.0, tone, outputs=0)
    source.out(tone)
    through = Def("through")
    through.ar("Out", 1.0, through.ar("In", 16.0), outputs=0)
    sound = play(tmp_path, ("source", source.bytes()), ("through", rated(through, block, float(factor), control)))
    delay = 2 * DELAYS[factor]
    assert dB(np.abs(sound[300:, 1] - sound[300 - delay:-delay, 0]).max()) < -90


def test_the_end_of_a_synth_is_heard(tmp_path):
    """What is still in the filters when a synth ends comes in the block after that."""
    made = Def("ends")
    made.out(made.ar("BinaryOpUGen", made.ar("DC", 1.0), made.kr("Line", 1.0, 1.0, 0.02, float(FREE)),
                     operator=MULTIPLY))
    plain = np.count_nonzero(play(tmp_path, ("ends", made.bytes()))[:, 0] > 0.5)
    for block, factor in ((0, 2), (0, 4), (256, 4), (1, 4), (0, 16)):
        sound = play(tmp_path, ("ends", with_rate(made.bytes(), block, float(factor))))[:, 0]
        assert abs(np.count_nonzero(sound > 0.5) - plain) <= BLOCK, (block, factor)


# ---- the same as without

PLAIN = {
    "sine": lambda made: made.ar("SinOsc", made.kr("SinOsc", 5.0, 0.0), 0.0),
    "saw": lambda made: made.ar("RLPF", made.ar("Saw", 220.0), 900.0, 0.3),
    "envelope": lambda made: made.ar("EnvGen", 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 2.0, -99.0, -99.0, 1.0, 0.01, 5.0, -4.0,
                                     0.0, 0.1, 5.0, -4.0),
    "delay": lambda made: made.ar("CombC", made.ar("Impulse", 3.0, 0.0), 0.1, 0.013, 1.0),
}


@pytest.mark.parametrize("case", PLAIN)
@pytest.mark.parametrize("plugins", [False, True], ids=["native", "plugins"])
def test_the_servers_own_rate_has_the_bits_of_none(case, plugins, tmp_path):
    made, out = started()
    made.ar("Out", out, PLAIN[case](made), outputs=0)
    settings = ("--set", "native-ugens=false") if plugins else ()
    without, constants, controls = (
        play(tmp_path, ("a", data), synths=[(1, "a", ("out", 0.0, *rates))], settings=settings)
        for data, rates in ((made.bytes(), ()), (with_rate(made.bytes(), BLOCK, 1.0), ()),
                            (by_control(made), ("block", float(BLOCK), "factor", 1.0))))
    assert np.abs(without).max() > 0.01
    assert (without == constants).all()
    assert (without == controls).all()


@pytest.mark.parametrize("plugins", [False, True], ids=["native", "plugins"])
def test_several_threads_give_the_same(plugins, tmp_path):
    """Voices, synths with rates of their own on the same buses, and what reads those."""
    voice, fast, effect = Def("voice"), Def("fast"), Def("effect")
    voice.ar("Out", 16.0, voice.ar("SinOsc", voice.control("freq", 300.0), 0.0), outputs=0)
    fast.ar("Out", 16.0, fast.ar("LFSaw", fast.control("freq", 200.0), 0.0), outputs=0)
    heard = effect.ar("In", 16.0)
    effect.ar("ReplaceOut", 16.0, effect.ar("BinaryOpUGen", heard, 0.5, operator=MULTIPLY), outputs=0)
    effect.out(heard)
    defs = (("voice", voice.bytes()), ("fast", with_rate(fast.bytes(), 16, 4.0)), ("small", with_rate(
        fast.bytes().replace(b"\x04fast", b"\x05small"), 1)), ("twice", with_rate(
        fast.bytes().replace(b"\x04fast", b"\x05twice"), 0, 2.0)), ("effect", with_rate(effect.bytes(), 0, 2.0)))
    names = ("voice", "fast", "voice", "twice", "twice", "twice", "twice", "small", "effect") * 6
    synths = [(index + 1, name, () if name == "effect" else ("freq", 100.0 + index))
              for index, name in enumerate(names)]
    settings = ("--set", "native-ugens=false") if plugins else ()
    one, three = (play(tmp_path, *defs, synths=synths, settings=(*settings, "-T", str(threads))) for threads in (1, 3))
    assert np.abs(one).max() > 0.1
    assert (one == three).all()
