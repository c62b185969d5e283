# SPDX-License-Identifier: GPL-3.0-or-later
"""Packets that are almost valid: random bytes, and commands with wild arguments, cut short or with
bytes changed. The same seed gives the same packets."""
import random
import struct

from tests.lib.osc import Bundle, Message, TimeTag, encode

_WHOLE = (0, 1, 2, 3, 5, 7, 63, 64, 100, 255, 256, 1000, 1001, 1023, 1024, 4096, 65535, 99999,
          -1, -2, -8, -1000, 2**24, 2**31 - 1, -2**31)
_REAL = (0.0, -0.0, 1.0, -1.0, 0.5, 440.0, 1e-38, 1e9, -1e9, 1e30, float("inf"), float("-inf"),
         float("nan"))
_WORDS = ("freq", "amp", "gate", "c0", "a1", "c99999999999", "a-1", "", "x" * 300, "hntup", "*", "%s%n",
          "sine1", "sine2", "sine3", "cheby", "copy", "normalize", "wnormalize", "wav", "aiff",
          "float", "int16", "/status", "\x01\x7f", "axis", "button", "axis1", "button272")

# n node, d definition, a add action, t target, c control, v value, b buffer, s small count,
# f file, w word, i whole, k completion, D definition's bytes; what follows | may repeat
COMMANDS = {
    "/notify": "s", "/status": "", "/sync": "i", "/clearSched": "", "/error": "i", "/version": "",
    "/rtMemoryStatus": "", "/cmd": "w|v", "/dumpOSC": "", "/d_recv": "Dk", "/d_load": "fk",
    "/d_loadDir": "fk", "/d_free": "|d", "/d_freeAll": "", "/s_new": "dnat|cv", "/n_free": "|n",
    "/n_run": "|ns", "/n_set": "n|cv", "/n_setn": "n|csvv", "/n_fill": "n|csv", "/n_map": "n|ci",
    "/n_mapn": "n|cis", "/n_mapa": "n|ci", "/n_mapan": "n|cis", "/n_before": "|nn",
    "/n_after": "|nn", "/n_order": "at|n", "/n_trace": "|n", "/n_query": "|n", "/n_cmd": "nw",
    "/s_get": "n|c", "/s_getn": "n|cs", "/s_noid": "|n", "/s_newargs": "dnat|cv",
    "/sat_new": "dnsn|cv", "/g_new": "|nat",
    "/p_new": "|nat", "/g_head": "|tn", "/g_tail": "|tn", "/g_freeAll": "|t", "/g_deepFree": "|t",
    "/g_dumpTree": "|ts", "/g_queryTree": "|ts", "/g_queryCost": "t|ns",
    "/n_list": "t|ni", "/n_status": "|n", "/s_query": "|n", "/d_list": "iiid", "/b_list": "i", "/bind_list": "|i", "/server_info": "",
    "/trace_start": "", "/trace_read": "i", "/trace_stop": "i",
    "/bind_keys": "isiisisf", "/bind_controller": "iissf", "/bind_free": "i", "/bind_command": "iwwiw|v",
    "/bind_midi": "isi", "/bind_beat": "isssi", "/bind_moved": "", "/midi_send": "iwiiv", "/pointer": "vviD", "/hid": "iwiv",
    "/transport": "sv", "/transport_next": "v",
    "/link": "vvviv", "/link_set": "wvv", "/state_save": "f", "/state_restore": "f",
    "/u_cmd": "niw|v", "/b_alloc": "bssk",
    "/b_allocRead": "bfisk", "/b_allocReadChannel": "bfis|s", "/b_read": "bfiiisk",
    "/b_readChannel": "bfiiis|s", "/b_write": "bfwwsisk", "/b_free": "bk", "/b_zero": "bk",
    "/b_close": "bk", "/b_set": "b|iv", "/b_setn": "b|isvv", "/b_fill": "b|isv",
    "/b_gen": "bwi|v", "/b_query": "|b", "/b_get": "b|i", "/b_getn": "b|is",
    "/b_setSampleRate": "bv", "/c_set": "|iv", "/c_setn": "|isvv", "/c_fill": "|isv",
    "/c_get": "|i", "/c_getn": "|is"}
# The commands that have numbers in SuperCollider, except for /quit (3).
NUMBERS = [number for number in range(70) if number != 3]


class Garbage:
    """`files`: names that file commands get; `definitions`: bytes of SynthDef files."""

    def __init__(self, seed, files, definitions):
        self.random = random.Random(seed)
        self._files, self._definitions = files, definitions
        self._names = list(COMMANDS)
        self._now = 0.0

    def packet(self, now):
        """The next packet's bytes; some of them are bundles for about the time `now`."""
        self._now = now
        kind = self.random.random()
        if kind < 0.08:
            return self.random.randbytes(self.random.choice((0, 1, 4, 16, 64, 400, 2000)))
        packet = encode(self._bundle(2) if kind > 0.85 else self._message(2))
        if kind < 0.3:
            packet = packet[:self.random.randrange(len(packet) + 1)]
        elif kind < 0.55:
            packet = self._changed(packet)
        return packet

    def _changed(self, data):
        data = bytearray(data)
        for _ in range(self.random.choice((1, 1, 2, 5, 20))):
            if not data:
                break
            at = self.random.randrange(len(data))
            change = self.random.randrange(4)
            if change == 0:
                data[at] = self.random.randrange(256)
            elif change == 1:
                data[at] ^= 1 << self.random.randrange(8)
            elif change == 2:
                data[at:at + 4] = struct.pack(">i", self._whole())
            else:
                del data[at:at + self.random.choice((1, 4, 8))]
        return bytes(data)

    def _bundle(self, depth):
        time = self.random.choice((0, 1, 1, 1, 2, 2**63, 2**64 - 1,
                                   TimeTag.from_unix(self._now + self.random.random()),
                                   TimeTag.from_unix(self._now - 5)))
        return Bundle(time, [self._bundle(depth - 1) if depth and self.random.random() < 0.1
                             else self._message(depth) for _ in range(self.random.randrange(6))])

    def _message(self, depth):
        name = self.random.choice(self._names)
        once, _, often = COMMANDS[name].partition("|")
        kinds = once + often * (self.random.choice((0, 1, 1, 2, 5, 30)) if often else 0)
        args = [self._argument(kind, depth) for kind in kinds]
        if self.random.random() < 0.05:
            name = self.random.choice(NUMBERS)
        return Message(name, *args)

    def _argument(self, kind, depth):
        pick = self.random.choice
        if self.random.random() < 0.06:
            kind = pick("iwvbkD")
        if kind == "n":
            return pick((1000, 1001, 1002, 1003, 2, 1, 0, -1, self._whole()))
        if kind == "t":
            return pick((0, 0, 0, 1, 2, 1000, self._whole()))
        if kind == "a":
            return pick((0, 0, 1, 2, 3, 4, 5, self._whole()))
        if kind == "d":
            return pick(("test_sine", "test_blip", "test_play", "evil", *_WORDS))
        if kind == "c":
            return pick((0, 1, 2, "freq", "amp", "gate", self._whole(), pick(_WORDS)))
        if kind == "b":
            return pick((0, 1, 2, 3, 4, self._whole()))
        if kind == "s":
            return pick((0, 1, 1, 2, 4, 64, 256, 4096, self._whole() if depth else -1))
        if kind == "f":
            return pick(self._files)
        if kind == "w":
            return pick(_WORDS)
        if kind == "v":
            return self._value()
        if kind == "k":
            return encode(self._message(depth - 1)) if depth else b""
        if kind == "D":
            definition = pick(self._definitions)
            return definition if self.random.random() < 0.2 else self._changed(definition)
        return self._whole()

    def _value(self):
        choice = self.random.randrange(6)
        if choice == 0:
            return [self.random.random() for _ in range(self.random.randrange(5))]
        if choice == 1:
            return self.random.choice(_WORDS)
        return self.random.choice(_REAL) if choice == 2 else self.random.random() * 1000

    def _whole(self):
        return self.random.choice(_WHOLE)
