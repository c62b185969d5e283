# SPDX-License-Identifier: GPL-3.0-or-later
"""A piece of ten seconds for a SuperCollider server: four bars at 120 beats a minute and a tail.

Everything that sounds is sent ahead in bundles whose time tags say when."""
import time
from pathlib import Path

SYNTHDEFS = Path(__file__).parent / "synthdefs"
BEAT = 0.5
BARS = 4
TAIL = 2.0
SECONDS = BARS * 4 * BEAT + TAIL
AHEAD = 0.3

SOURCES, EFFECTS, MASTER = 900, 901, 902
FIRST_VOICE = 3000
WAVETABLE = 0
REVERB_BUS, ECHO_BUS = 16, 18

# A minor ninth, F major seventh, C major ninth, E minor seventh: root and chord, as MIDI notes.
HARMONY = [(33, [57, 60, 64, 71]), (29, [57, 60, 64, 65]), (36, [55, 59, 62, 64]),
           (28, [55, 59, 62, 64])]
MELODY = [(1.5, 76, 0.3), (2, 79, 0.6), (3, 76, 0.4), (3.5, 74, 0.3), (4, 72, 0.9),
          (5.5, 76, 0.3), (6, 77, 0.6), (7, 76, 0.6), (8.5, 79, 0.3), (9, 83, 0.6),
          (10, 81, 0.4), (10.5, 79, 0.3), (11, 76, 0.6), (12, 74, 0.6), (13, 71, 0.4),
          (13.5, 74, 0.3), (14, 76, 1.2)]


def hz(note):
    return 440.0 * 2.0 ** ((note - 69) / 12)


def notes():
    """All notes as (beat, SynthDef, controls), sorted by time."""
    found = []
    for bar, (root, chord) in enumerate(HARMONY):
        found += [(bar * 4 + beat, name, controls)
                  for beat, name, controls in _bar(bar, root, chord)]
    found += [(beat, "piece_lead", {"buf": WAVETABLE, "freq": hz(note), "dur": beats * BEAT,
                                    "amp": 0.18, "pan": 0.25}) for beat, note, beats in MELODY]
    return sorted(found, key=lambda note: note[0])


def _bar(bar, root, chord):
    for note, pan in zip(chord, (-0.6, -0.2, 0.2, 0.6)):
        yield 0, "piece_pad", {"freq": hz(note), "dur": 1.7, "amp": 0.042, "pan": pan}
    for beat in range(4):
        yield beat, "piece_kick", {"amp": 0.42}
        yield beat + 0.5, "piece_hat", {"amp": 0.22, "decay": 0.16, "pan": 0.2}
        for quarter in (0, 0.25, 0.75):
            yield beat + quarter, "piece_hat", {"amp": 0.1, "decay": 0.04, "pan": -0.2}
    for beat in (0, 0.75, 1.5, 2.5, 3, 3.5):
        octave = 12 if beat in (1.5, 3.5) else 0
        yield beat, "piece_bass", {"freq": hz(root + octave), "amp": 0.26, "dur": 0.18}
    for step in range(16):
        note = chord[(step * 3 + bar) % 4] + 12 * (1 + step % 2)
        yield step / 4, "piece_pluck", {"freq": hz(note), "amp": 0.36 + 0.14 * (step % 4 == 0),
                                        "pan": -0.7 if step % 2 else 0.7}


def prepare(client):
    """Log in, load the instruments, make the wavetable, start the effects."""
    client.command("/notify", 1)
    for path in sorted(SYNTHDEFS.glob("*.scsyndef")):
        client.command("/d_recv", path.read_bytes())
    client.command("/b_alloc", WAVETABLE, 2048, 1)
    normalize, wavetable, clear = 1, 2, 4
    client.command("/b_gen", WAVETABLE, "sine1", normalize | wavetable | clear,
                   1.0, 0.45, 0.3, 0.05, 0.12, 0.02, 0.06)
    client.send("/g_new", SOURCES, 0, 0, EFFECTS, 3, SOURCES)
    tail = 1
    client.send("/s_new", "piece_delay", EFFECTS + 10, tail, EFFECTS,
                "in", ECHO_BUS, "send", REVERB_BUS, "time", 0.75 * BEAT)
    client.send("/s_new", "piece_reverb", EFFECTS + 11, tail, EFFECTS, "in", REVERB_BUS)
    client.send("/s_new", "piece_master", MASTER, 3, EFFECTS)
    client.sync()


def play(client, progress=lambda seconds, status: None):
    """Play to the end; `progress` is called twice a second with the seconds played and the
    server's status. Returns the number of voices played."""
    voices = 0
    start = time.time() + AHEAD
    reported = 0.0
    for beat, name, controls in notes():
        while (wait := start + beat * BEAT - AHEAD - time.time()) > 0:
            if time.time() - start >= reported:
                progress(reported, client.status())
                reported += 0.5
            time.sleep(min(wait, 0.05))
        pairs = [value for pair in controls.items() for value in pair]
        client.send_at(start + beat * BEAT,
                       ("/s_new", name, FIRST_VOICE + voices, 0, SOURCES, *pairs))
        voices += 1
    client.send_at(start + SECONDS - 1.2, ("/n_set", MASTER, "gate", 0))
    client.wait("/n_end", where=lambda args: args[0] == MASTER, timeout=SECONDS)
    progress(SECONDS, client.status())
    return voices


def clean_up(client):
    client.send("/g_freeAll", SOURCES)
    client.send("/g_freeAll", EFFECTS)
    client.send("/n_free", SOURCES, EFFECTS)
    client.send("/notify", 0)
    client.command("/b_free", WAVETABLE)
