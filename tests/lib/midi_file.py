# SPDX-License-Identifier: GPL-3.0-or-later
"""Files for pw-midiplay and pw-midi2play."""
import struct

TICKS_A_BEAT, USEC_A_BEAT = 960, 480_000  # 2000 ticks a second


def _number(value):
    """As a quantity of variable length."""
    found = [value & 127]
    while value := value >> 7:
        found.append(value & 127 | 128)
    return bytes(reversed(found))


def write(path, events):
    """`events`: (seconds, the bytes of a MIDI message), in order."""
    track = _number(0) + bytes([255, 81, 3]) + USEC_A_BEAT.to_bytes(3, "big")
    now = 0
    for seconds, message in events:
        ticks = round(seconds * TICKS_A_BEAT * 1_000_000 / USEC_A_BEAT)
        track += _number(ticks - now) + bytes(message)
        now = ticks
    track += _number(0) + bytes([255, 47, 0])
    path.write_bytes(b"MThd" + struct.pack(">IHHH", 6, 0, 1, TICKS_A_BEAT) + b"MTrk" + struct.pack(">I", len(track)) + track)


def write_clip(path, events):
    """`events`: (seconds, the words of a Universal MIDI Packet), in order."""
    ticks_a_beat, ten_ns_a_beat = 1000, 50_000_000
    words, now = [0x00400000, 0x00300000 | ticks_a_beat, 0xd0100000, ten_ns_a_beat, 0, 0, 0xf0200000, 0, 0, 0], 0
    for seconds, packet in events:
        ticks = round(seconds * ticks_a_beat * 100_000_000 / ten_ns_a_beat)
        words += [0x00400000 | ticks - now, *packet]
        now = ticks
    words += [0x00400000, 0xf0210000, 0, 0, 0]
    path.write_bytes(b"SMF2CLIP" + struct.pack(f">{len(words)}I", *words))
