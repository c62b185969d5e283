# SPDX-License-Identifier: GPL-3.0-or-later
"""The scores that play the SynthDefs of ugens/ one after the other."""
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.lib.audio import write_wav

FOLDER = Path(__file__).parent / "ugens"
SHORT = {"BinaryOpUGens", "UnaryOpUGens"}
SLOT = 0.3007  # seconds; starts fall between blocks
SHORT_SLOT = 0.0307
GAP = 0.007
WORK = (15, 16, 20, 21)  # buffers that the SynthDefs write
LISTER = Path(__file__).parent / "list_units.py"
PLUGINS = Path("/usr/lib/SuperCollider/plugins")
CORE = """BinaryOpUGens ChaosUGens DelayUGens DemandUGens DiskIO_UGens DynNoiseUGens FFT_UGens
    FilterUGens GendynUGens GrainUGens IOUGens LFUGens ML_UGens MulAddUGens NoiseUGens OscUGens
    PV_ThirdParty PanUGens PhysicalModelingUGens ReverbUGens TestUGens TriggerUGens UnaryOpUGens
    UnpackFFTUGens""".split()
START = 0.0123
AUDIO = 2  # a rate in a SynthDef file
# Units that write to buses, and how many inputs they have before the signals.
FIRST_SIGNAL = {"Out": 1, "OffsetOut": 1, "ReplaceOut": 1, "XOut": 2}


@dataclass
class SynthDef:
    """What a score needs to know of one; `channels` is how many its widest audio output unit writes."""
    name: str
    parameters: dict  # by name: the value it has by default (an array's first)
    units: set
    channels: int


def synthdefs(data):
    """(name, names of the units) of each SynthDef in the bytes of a file of version 2."""
    return ((one.name, one.units) for one in read(data))


def read(data):
    """Each SynthDef in the bytes of a file of version 2."""
    return (one for one, _ in split(data))


def split(data):
    """Each SynthDef in the bytes of a file of version 2, and the bytes of a file that has it alone."""
    reader = Reader(data)
    if reader.take("4s") != b"SCgf" or reader.take("i") != 2:
        raise ValueError("not a SynthDef file of version 2")
    for _ in range(reader.take("h")):
        begin = reader.position
        name = reader.string()
        reader.skip(4 * reader.take("i"))
        values = [reader.take("f") for _ in range(reader.take("i"))]
        parameters = {reader.string(): values[reader.take("i")] for _ in range(reader.take("i"))}
        units, channels = set(), 0
        for _ in range(reader.take("i")):
            unit, rate = reader.string(), reader.take("b")
            inputs, outputs, _ = (reader.take("i"), reader.take("i"), reader.take("h"))
            reader.skip(8 * inputs + outputs)
            units.add(unit)
            if unit in FIRST_SIGNAL and rate == AUDIO:
                channels = max(channels, inputs - FIRST_SIGNAL[unit])
        for _ in range(reader.take("h")):
            reader.string()
            reader.skip(4 * len(values))
        alone = struct.pack(">4sih", b"SCgf", 2, 1) + data[begin:reader.position]
        yield SynthDef(name, parameters, units, channels), alone


def buffers(folder):
    """Messages that make the buffers 0 to 43; sound files go to the folder."""
    sound = folder / "sound.wav"
    time = np.arange(20000) / 44100
    write_wav(sound, np.stack([np.sin(2 * np.pi * 300 * time * (1 + time)),
                               np.sin(2 * np.pi * 500 * time) * (1 - time)], axis=1) * 0.7, 44100)
    wavetable, plain = 1 | 2 | 4, 1 | 4
    messages = []
    for number, partials in enumerate([(1.0,), (1.0, 0.5), (0.5, 0.0, 1.0), (1.0, 0.5, 0.3, 0.2)]):
        messages += [("/b_alloc", number, 2048, 1),
                     ("/b_gen", number, "sine1", wavetable, *partials)]
    messages += [
        ("/b_alloc", 10, 24000, 1), ("/b_gen", 10, "sine2", plain, 100.0, 0.5, 157.0, 0.4),
        ("/b_allocRead", 11, str(sound), 0, 0),
        ("/b_alloc", 15, 8000, 2), ("/b_alloc", 16, 4096, 1),
        ("/b_alloc", 17, 512, 1), ("/b_gen", 17, "sine1", plain, 1.0, 0.3),
        ("/b_alloc", 18, 1024, 1), ("/b_gen", 18, "cheby", wavetable, 1.0, 0.0, 0.5, 0.3),
        ("/b_alloc", 19, 1024, 1), ("/b_gen", 19, "sine1", plain, 1.0, 0.5, 0.3),
        ("/b_alloc", 20, 1024, 1), ("/b_alloc", 21, 1024, 1),
        ("/b_alloc", 22, 65536, 1), ("/b_gen", 22, "PreparePartConv", 10, 512),
        ("/b_alloc", 23, 512, 1), ("/b_gen", 23, "sine1", plain, 1.0, 0.5, 0.3),
        ("/b_alloc", 30, 8, 1), ("/b_setn", 30, 0, 8, 0.0, 2.0, 3.0, 5.0, 7.0, 8.0, 9.0, 11.0),
        ("/b_alloc", 31, 1024, 1), ("/b_gen", 31, "sine1", plain, 0.3, 0.5, 1.0),
        ("/b_alloc", 40, 8192, 2), ("/b_read", 40, str(sound), 0, -1, 0, 1),
        ("/b_alloc", 41, 8192, 2), ("/b_read", 41, str(sound), 0, -1, 0, 1),
        ("/b_alloc", 42, 8192, 2),
    ]
    return messages


def score(path, folder):
    """(events, end, {name: (first frame, end)}) that play each def of the file."""
    slot = SHORT_SLOT if path.stem in SHORT else SLOT
    events = [(0, *buffers(folder), ("/d_load", str(path)))]
    slots = {}
    time = START
    for index, (name, _) in enumerate(synthdefs(path.read_bytes())):
        events.append((time, ("/s_new", name, 1000 + index, 0, 0)))
        events.append((time + slot, ("/g_freeAll", 0), *(("/b_zero", number) for number in WORK)))
        slots[name] = (time, time + slot)
        time += slot + GAP
    return events, time, slots


def installed_units():
    """The names of the units that the core's plugins define, from a process of its own: it ends
    with the plugins' threads still running."""
    listing = subprocess.run(["/usr/bin/python3", LISTER, *(PLUGINS / f"{name}.so" for name in CORE)],
                             capture_output=True, text=True, timeout=60, check=True)
    return listing.stdout.split()


class Reader:
    def __init__(self, data):
        self.data, self.position = data, 0

    def skip(self, size):
        self.position += size

    def take(self, form):
        value = struct.unpack_from(">" + form, self.data, self.position)[0]
        self.position += struct.calcsize(">" + form)
        return value

    def string(self):
        size = self.take("B")
        text = self.data[self.position:self.position + size].decode()
        self.position += size
        return text
