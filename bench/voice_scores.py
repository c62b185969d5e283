# SPDX-License-Identifier: GPL-3.0-or-later
"""Scores of bench/voices.py: steady voices, short notes, and pieces. Events are (seconds, message…)."""
import random
import re
from itertools import count

from bench.offline import Score
from bench.stands import SYNTHDEFS
from examples import piece
from tests.oracle.own_rate import with_rate

RATE, BLOCK = 48000, 64
AMP = 0.001
_AT_ONCE = 200
_FIRST = 1000
_NOTES_A_BLOCK = 8
# Folders of the corpus that hold instruments and effects; the others hold what clients send at their start.
_CORPUS = ("overtone", "sonic-pi", "superdirt")
# Effects read a silent bus: what they cost is the same, and nothing feeds back.
_BUSES = ("out_bus", 0, "in_bus", 16, "dryBus", 16, "effectBus", 16, "in", 16)


def steady(name, voices):
    """That many synths from the beginning on, each of another frequency."""
    span = 1000.0 if name.startswith("default") else 80.0  # 128 partials stay below half the rate
    messages = [("/s_new", name, _FIRST + i, 0, 0, "freq", 100.0 + span * i / voices, "amp", AMP)
                for i in range(voices)]
    return [(0, _definition(name)),
            *((0, *messages[i:i + _AT_ONCE]) for i in range(0, voices, _AT_ONCE))]


def notes(number, blocks):
    """That many notes of the default synth, eight a block, each freed after some blocks."""
    events = [(0, _definition("default"))]
    for first in range(0, number, _NOTES_A_BLOCK):
        start = 1 + first // _NOTES_A_BLOCK
        numbers = range(_FIRST + first, _FIRST + min(number, first + _NOTES_A_BLOCK))
        events += [(_at(start), *(("/s_new", "default", i, 0, 0, "freq", 100.0 + i % 1000, "amp", AMP)
                                  for i in numbers)),
                   (_at(start + blocks), ("/n_free", *numbers))]
    return events


def notes_seconds(number, blocks):
    """The length of that score."""
    return _at(number // _NOTES_A_BLOCK + 2 + blocks)


def example(seconds):
    """The piece of examples/piece.py, again and again; a voice of one repeat overlaps the next."""
    start = _Collected()
    piece.prepare(start)
    events, number = [(0, message) for message in start.messages], count(piece.FIRST_VOICE)
    length = piece.BARS * 4 * piece.BEAT
    for repeat in range(int(seconds / length) + 1):
        events += [(0.1 + repeat * length + beat * piece.BEAT, (
            "/s_new", name, next(number), 0, piece.SOURCES,
            *(value for pair in controls.items() for value in pair))) for beat, name, controls in piece.notes()]
    return [event for event in events if event[0] < seconds]


def swarm(seconds, folder):
    """The piece of bench/offline.py: some 150 voices at once, most of them the default synth."""
    return Score(seconds, folder).events


def corpus_synthdefs(folder):
    """The files of a corpus that hold instruments and effects."""
    paths = [path for name in _CORPUS for path in sorted((folder / name).glob("*.scsyndef"))]
    if not paths:
        raise ValueError(f"{folder} holds none of {' '.join(_CORPUS)}")
    return paths


def corpus(paths, seconds, a_second=60):
    """These SynthDefs played over each other: some notes a second, of 2 s each. As SuperDirt does, its notes have
    groups of their own, which its SynthDefs free."""
    events = [(0, ("/d_recv", path.read_bytes())) for path in paths]
    chance = random.Random(1)
    for index in range(int(a_second * seconds)):
        at, number, path, note = index / a_second, _FIRST + 2 * index, chance.choice(paths), chance.randint(40, 76)
        group, outer = (0, number) if path.parent.name != "superdirt" else (number + 1, number + 1)
        if group:
            events.append((at, ("/g_new", group, 0, 0)))
        events.append((at, ("/s_new", path.stem, number, 0, group, "note", float(note),
                            "freq", piece.hz(note), "amp", 0.02, *_BUSES)))
        events.append((at + 2, ("/n_free", outer)))
    return [event for event in events if event[0] < seconds]


def repeated(path, voices, seconds):
    """Voices of a SynthDef, which start anew twice a second, each with a pitch of its own. Buffer 0 is silent."""
    events = [(0, ("/d_recv", path.read_bytes()), ("/b_alloc", 0, RATE, 1))]
    for turn in range(int(2 * seconds)):
        at = 0.01 + turn / 2
        events += [(at, ("/g_freeAll", 0), *(
            ("/s_new", path.stem, _FIRST + turn * voices + voice, 0, 0, "note", 50.0 + voice, "freq", piece.hz(50 + voice),
             "amp", 0.02, *_BUSES) for voice in range(voices)))]
    return events


class _Collected:
    """Takes what a client would send."""

    def __init__(self):
        self.messages = []

    def send(self, *message):
        self.messages.append(message)

    command = send

    def sync(self):
        """Nothing to wait for: a score is done in its order."""


def _definition(name):
    """`name`: of a file; or one with a factor, as default_2x, whose synths have so many times the server's rate."""
    times = re.fullmatch(r"(.+)_(\d+)x", name)
    if not times:
        return "/d_recv", (SYNTHDEFS / f"{name}.scsyndef").read_bytes()
    plain = (SYNTHDEFS / f"{times[1]}.scsyndef").read_bytes()
    renamed = plain.replace(bytes([len(times[1])]) + times[1].encode(), bytes([len(name)]) + name.encode(), 1)
    return "/d_recv", with_rate(renamed, factor=float(times[2]))


def _at(block):
    """A little after the beginning of a block, that rounding doesn't move it into the one before."""
    return (block + 0.01) * BLOCK / RATE
