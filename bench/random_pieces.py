# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces of music from a seed: instruments and effects that lie in a corpus of SynthDefs, played in the groups that Sonic Pi
makes. The same seed and corpus give the same piece. Events are (seconds, message…)."""
import random
import re
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np

from bench.voice_scores import RATE
from examples.piece import hz
from tests.lib.audio import write_wav

MOST_PARTS, MOST_EFFECTS = 8, 3
SYNTHS, MIXERS, RUN = 2, 3, 4  # groups
MAIN_MIXER, RUN_MIXER = 5, 6
_FIRST_FX, _FIRST_NOTE = 10, 1000
_MAIN_BUS, _RUN_BUS, _FX_BUS = 16, 18, 20  # stereo
_NOISE, _MONO, _STEREO = 0, 1, 2  # buffers; many SynthDefs read random numbers from the first
_BEHIND, _HEAD, _TAIL = 3, 0, 1  # add actions
_SCALE = (0, 3, 5, 7, 10)
_MIXERS = "sonic-pi-mixer", "sonic-pi-basic_mixer"
# What isn't played in a piece: mixers, inputs, recorders, scopes, and fx_record, which needs a buffer of its own.
_OF_SERVERS = re.compile(r"sonic-pi-(amp_stereo_monitor|(basic_)?mixer|live_audio.*|recorder|scope|server-info|sound_in.*"
                         r"|fx_(record|scope_out|sound_out.*))")
_DIRT = re.compile(r"super\w+|sos\w+|cyclo|dirac|gabor|imp|psin")


@dataclass(frozen=True)
class Part:
    """An instrument and how it is played."""
    path: Path
    effects: int    # the innermost effect that it plays into is that many deep in the chain; 0: none
    step: float     # s between two notes
    chance: float   # that there is one
    length: float   # s
    chord: int      # notes at once
    octave: int

    def ending(self):
        """How its notes end: by a gate, by being freed, or by themselves."""
        if self.path.stem.endswith("_gated"):
            return "gate"
        return "self" if self.path.stem.startswith("sonic-pi") else "free"


@dataclass(frozen=True)
class Piece:
    seed: int
    parts: tuple
    effects: tuple  # paths, the outermost first: its sound goes to the mixers
    mixers: tuple

    def __str__(self):
        names = ", ".join(_short(part.path) + ("" if part.chord == 1 else f" ×{part.chord}") for part in self.parts)
        return f"{self.seed}: {names}" + "".join(f" → {_short(path)}" for path in reversed(self.effects))

    def synthdefs(self):
        """The files, each once."""
        return list(dict.fromkeys([*self.mixers, *self.effects, *(part.path for part in self.parts)]))

    def without(self, refused):
        """The piece without these SynthDefs."""
        kept = [index for index, path in enumerate(self.effects) if path not in refused]
        return replace(self, effects=tuple(self.effects[index] for index in kept), parts=tuple(
            replace(part, effects=sum(index < part.effects for index in kept))
            for part in self.parts if part.path not in refused))

    def events(self, seconds, folder):
        """Its score; the folder gets a sound file."""
        chance = random.Random(self.seed + 0.5)
        found = [(0, *self._begin(chance, folder))]
        numbers, root = count(_FIRST_NOTE), chance.randint(40, 52)
        for part in self.parts:
            for turn in range(int(seconds / part.step)):
                if chance.random() < part.chance:
                    found += self._note(part, 0.05 + turn * part.step, root, chance, numbers)
        return [event for event in found if event[0] < seconds]

    def _begin(self, chance, folder):
        yield "/error", 0  # some notes end before they are freed
        yield from (("/d_recv", path.read_bytes()) for path in self.synthdefs())
        yield from _buffers(folder)
        yield "/g_new", SYNTHS, _HEAD, 0, MIXERS, _BEHIND, SYNTHS, RUN, _TAIL, SYNTHS
        main, run = (path.stem for path in self.mixers)
        yield "/s_new", main, MAIN_MIXER, _TAIL, MIXERS, "in_bus", _MAIN_BUS, "out_bus", 0
        yield "/s_new", run, RUN_MIXER, _HEAD, MIXERS, "in_bus", _RUN_BUS, "out_bus", _MAIN_BUS
        for depth, path in enumerate(self.effects, 1):
            outer, group, synth = _group(depth - 1), _group(depth), _group(depth) + 2
            yield "/g_new", group + 1, _TAIL, outer, group, _HEAD, group + 1
            yield ("/s_new", path.stem, synth, _TAIL, group + 1, "in_bus", _bus(depth), "out_bus", _bus(depth - 1),
                   "mix", chance.uniform(0.3, 1.0))

    def _note(self, part, at, root, chance, numbers):
        first, pan = chance.randrange(len(_SCALE)), chance.uniform(-1, 1)
        for voice in range(part.chord):
            octave, step = divmod(first + 2 * voice, len(_SCALE))
            note, number = float(root + 12 * (part.octave + octave) + _SCALE[step]), next(numbers)
            sustain = part.length if part.ending() != "self" else 0.6 * part.length
            yield at, ("/s_new", part.path.stem, number, _TAIL, _group(part.effects), "note", note, "freq", hz(note),
                       "amp", 0.3 / part.chord, "pan", pan, "attack", 0.01, "sustain", sustain,
                       "release", 0.4 * part.length, "buf", _STEREO if "stereo" in part.path.stem else _MONO,
                       "out_bus", _bus(part.effects), "out", _bus(part.effects))
            if part.ending() == "gate":
                yield at + part.length, ("/n_set", number, "gate", 0)
            elif part.ending() == "free":
                yield at + part.length, ("/n_free", number)


def piece(seed, corpus):
    """That of a seed, out of the folders of a corpus. ValueError if these hold no mixers, instruments and effects."""
    chance = random.Random(seed)
    instruments, effects = pools(corpus)
    mixers = tuple(Path(corpus, "sonic-pi", f"{name}.scsyndef") for name in _MIXERS)
    if len(instruments) < MOST_PARTS or len(effects) < MOST_EFFECTS or not all(path.exists() for path in mixers):
        raise ValueError(f"{corpus} holds too little in its folders sonic-pi, sonic-pi-gated, superdirt, overtone")
    chain = tuple(chance.sample(effects, chance.randint(0, MOST_EFFECTS)))
    parts = []
    for path in chance.sample(instruments, chance.randint(2, MOST_PARTS)):
        step = chance.choice((0.125, 0.25, 0.25, 0.5, 1.0))
        parts.append(Part(path, chance.randint(0, len(chain)), step, chance.uniform(0.4, 1.0),
                          min(4.0, max(0.1, step * chance.choice((0.5, 1, 2, 4)))), chance.choice((1, 1, 3, 4)),
                          chance.randint(0, 2)))
    return Piece(seed, tuple(parts), chain, mixers)


def pools(corpus):
    """(files of instruments, files of effects) in a corpus."""
    found = [path for folder in ("sonic-pi", "sonic-pi-gated", "overtone", "superdirt")
             for path in sorted(Path(corpus, folder).glob("*.scsyndef")) if not _OF_SERVERS.fullmatch(path.stem)]
    effects = [path for path in found if path.stem.startswith("sonic-pi-fx_")]
    return [path for path in found if path not in effects and (
        path.parent.name != "superdirt" or _DIRT.fullmatch(path.stem))], effects


def _short(path):
    return re.sub(r"^sonic-pi-(fx_)?", "", path.stem)


def _group(depth):
    """Where what plays into the effect that is so deep is; its container's number is one more, the effect's two."""
    return RUN if depth == 0 else _FIRST_FX * depth


def _bus(depth):
    return _RUN_BUS if depth == 0 else _FX_BUS + 2 * depth


def _buffers(folder):
    sound = folder / "sound.wav"
    if not sound.exists():
        turns = 2 * np.pi * np.arange(2 * RATE) / RATE
        write_wav(sound, 0.5 * np.stack([np.sin(200 * turns * (1 + turns)), np.sin(330 * turns)], axis=1), RATE)
    yield "/b_alloc", _NOISE, 1 << 14, 1
    yield "/b_gen", _NOISE, "sine2", 1 | 4, 4099.3, 1.0, 1733.7, 0.9, 811.1, 0.8
    yield "/b_allocReadChannel", _MONO, str(sound), 0, 0, 0
    yield "/b_allocRead", _STEREO, str(sound), 0, 0
