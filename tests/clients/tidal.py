# SPDX-License-Identifier: GPL-3.0-or-later
"""What Tidal sends to SuperDirt: a bundle for each event, with the time at which it shall sound."""
import time
from dataclasses import dataclass, field

from tests.lib.osc import Bundle, Client, Message, TimeTag, encode

SPACING = 0.625
CPS = 0.5
AHEAD = 0.3
CLICKS = 20

EFFECTS = [
    {"vowel": "a"}, {"vowel": "o", "resonance": 0.6}, {"shape": 0.5}, {"hcutoff": 2000, "hresonance": 0.2},
    {"bandf": 1000, "bandq": 4}, {"crush": 4}, {"coarse": 8}, {"cutoff": 800, "resonance": 0.3}, {"psrate": 1.5},
    {"attack": 0.05, "release": 0.2}, {"tilt": 0.2, "plat": 0.3, "curve": -2},
    {"tremolorate": 8, "tremolodepth": 0.8}, {"phaserrate": 3, "phaserdepth": 0.8}, {"waveloss": 40}, {"squiz": 2},
    {"fshift": 200, "fshiftphase": 0.1, "fshiftnote": 0.5}, {"triode": 1}, {"krush": 2, "kcutoff": 3000},
    {"octer": 0.5, "octersub": 0.5, "octersubsub": 0.5}, {"ring": 0.8, "ringf": 300, "ringdf": 50}, {"distort": 0.5},
    {"xsdelay": 5, "tsdelay": 0.5}, {"freeze": 1}, {"comb": 0.3}, {"smear": 0.4}, {"scram": 0.3}, {"binshift": 0.3},
    {"hbrick": 0.2}, {"lbrick": 0.3}, {"real": 0.5, "imag": 0.3}, {"enhance": 0.5}, {"djf": 0.3},
    {"speed": -1.0}, {"begin": 0.2, "end": 0.7, "accelerate": 0.5}, {"timescale": 1.5}, {"cut": 1}, {"cut": -1},
    {"leslie": 0.6, "lrate": 6.7, "lsize": 0.3}, {"delay": 0.6, "delaytime": 0.125, "delayfeedback": 0.3},
    {"delay": 0.6, "delaytime": 0.125, "delayfeedback": 0.3, "lock": 1}, {"room": 0.4, "size": 0.6},
]
SYNTHS = [
    "superpiano", "supermandolin", "supergong", "superhex", "superkick", "super808", "superhat", "supersnare",
    "superclap", "supersiren", "supersquare", "supersaw", "superpwm", "supercomparator", "superchip", "supernoise",
    "superfork", "superhammond", "supervibe", "superhoover", "superzow", "superstatic", "supergrind", "superprimes",
    "superwavemechanics", "supertron", "superreese", "superfm", "soskick", "soshats", "sostoms", "sossnare", "imp",
    "psin", "gabor",
]


@dataclass
class Event:
    """`at` in seconds after the first one."""
    at: float
    sound: str
    more: dict = field(default_factory=dict)


def piece():
    """96 events: clicks for the timing, then each synth, then each effect on a sample. Their distances differ, so that
    a lost or repeated event isn't mistaken for its neighbour."""
    kinds = [("click", {})] * CLICKS + [(name, {"n": 0.0}) for name in SYNTHS] + [("pad", effect) for effect in EFFECTS]
    return [Event(SPACING * number + 0.0017 * (number * 7 % 11), sound, more)
            for number, (sound, more) in enumerate(kinds)]


def play(events, port):
    """Send each event AHEAD of its time, alternating between two orbits."""
    start = time.time() + 1
    with Client(port) as client:
        for number, event in enumerate(events):
            time.sleep(max(0, start + event.at - AHEAD - time.time()))
            words = {"_id_": "1", "cps": CPS, "cycle": event.at * CPS, "delta": SPACING * 0.8,
                     "orbit": number % 2, "s": event.sound, **event.more}
            arguments = [part for pair in words.items() for part in pair]
            client.send_bytes(encode(Bundle(TimeTag.from_unix(start + event.at),
                                            [Message("/dirt/play", *arguments)])))
