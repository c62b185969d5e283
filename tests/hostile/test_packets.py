# SPDX-License-Identifier: GPL-3.0-or-later
"""Single packets that are hostile or merely wrong. Some of them kill stock servers."""
import struct

import pytest

from tests.hostile.conftest import Victim
from tests.lib.osc import Bundle, Message, TimeTag, encode

BIG, LEAST, MOST = 99999, -2**31, 2**31 - 1
NAN, INF = float("nan"), float("inf")


def raw(address, tags, data=b""):
    def text(value):
        value = value.encode() + b"\0"
        return value + bytes(-len(value) % 4)
    return text(address) + text(tags) + data


def synthdef(constants=0, controls=0, names=0, units=0, variants=0, tail=b"", version=2, count=1,
             name=b"evil", numbers=b"", size=None, blocks=(0, -1, 1.0, -1)):
    body = (bytes([len(name)]) + name + struct.pack(">i", constants) + numbers + struct.pack(">ii", controls, names)
            + struct.pack(">i", units) + tail + struct.pack(">h", variants))
    if version == 3:
        body += struct.pack(">iifi", *blocks)
        body = struct.pack(">i", 4 + len(body) if size is None else size) + body
    return b"SCgf" + struct.pack(">ih", version, count) + body


def unit(name, rate, inputs, outputs, special=0):
    return (bytes([len(name)]) + name + bytes([rate])
            + struct.pack(">iih", len(inputs), len(outputs), special)
            + b"".join(struct.pack(">ii", *each) for each in inputs) + bytes(outputs))


def one_unit(name, rate, values, outputs, special=0):
    """A definition "evil" of one unit whose inputs are these constants."""
    numbers = struct.pack(f">{len(values)}f", *values)
    return synthdef(len(values), 0, 0, 1, 0, numbers=numbers,
                    tail=unit(name, rate, [(-1, i) for i in range(len(values))], outputs, special))


def nested(depth):
    packet = encode(Message("/status"))
    for _ in range(depth):
        packet = b"#bundle\0" + struct.pack(">Qi", 1, len(packet)) + packet
    return packet


def evil_synth(definition):
    """Load it, and make a synth of it in the completion message."""
    return encode(Message("/d_recv", definition, encode(Message("/s_new", "evil", 1000, 0, 0))))


HEAD = b"#bundle\0" + struct.pack(">Q", 1)
FAIL, DONE, SILENT, STATUS = {"/fail"}, {"/done"}, set(), {"/status.reply"}
UNREADABLE = {Victim.UNREADABLE}  # a /fail that quotes invalid text
BROKEN = FAIL | DONE              # of a SynthDef: the /fail says why, and clients wait for the /done

# name: (packet, addresses of the answers). These are stock scsynth's, except where it crashes or docs/commands.md lists
# a difference: a SynthDef or job that fails, nodes beside or in themselves, a packet with a malformed part.
PACKETS = {
    # indices
    "free a buffer out of range": (Message("/b_free", BIG), FAIL),
    "allocate a buffer out of range": (Message("/b_alloc", BIG, 64, 1), FAIL),
    "query a buffer out of range": (Message("/b_query", BIG), FAIL),
    "negative buffer": (Message("/b_alloc", -1, 64, 1), FAIL),
    "least buffer": (Message("/b_free", LEAST), FAIL),
    "zero an unallocated buffer": (Message("/b_zero", 5), FAIL),
    "close an unallocated buffer": (Message("/b_close", 5), DONE),
    "free an unallocated buffer": (Message("/b_free", 5), DONE),
    "set in an unallocated buffer": (Message("/b_set", 5, 0, 1.0), FAIL),
    "set samples before the buffer": (Message("/b_setn", 5, -3, 4, 1.0, 1.0, 1.0, 1.0), FAIL),
    "fill an unallocated buffer": (Message("/b_fill", 5, 0, MOST, 1.0), FAIL),
    "get from an unallocated buffer": (Message("/b_getn", 5, 0, 10), FAIL),
    "get the least number of samples": (Message("/b_getn", 5, LEAST, LEAST), FAIL),
    "generate into an unallocated buffer": (Message("/b_gen", 5, "sine1", 7, 1.0, 1.0), FAIL),
    "chebyshev into an unallocated buffer": (Message("/b_gen", 5, "cheby", 7, 1.0, 1.0), FAIL),
    "copy between unallocated buffers": (Message("/b_gen", 5, "copy", -5, 6, -7, MOST), FAIL),
    "copy from a buffer out of range": (Message("/b_gen", 5, "copy", 0, BIG, 0, -1), FAIL),
    "generate from an empty blob": (Message("/b_gen", 5, "sine1", b""), FAIL),
    "generate from nothing": (Message("/b_gen", 5, "copy"), FAIL),
    "unknown generator": (Message("/b_gen", 5, "nothing"), FAIL),
    "read a missing file": (Message("/b_allocRead", 5, "/nowhere/x.wav"), FAIL),
    "read outside of the folder": (Message("/b_allocRead", 5, "/etc/passwd"), FAIL),
    "climb out of the folder": (Message("/b_allocRead", 5, "x/../../../../../etc/passwd"), FAIL),
    "write outside of the folder": (Message("/b_write", 5, "/tmp/../etc/x", "wav", "int16"), FAIL),
    "an unknown format": (Message("/b_write", 5, "x.wav", "mp9", "int99"), FAIL),
    "eight thousand million samples": (Message("/b_alloc", 5, MOST, 4), FAIL),
    "negative frames": (Message("/b_alloc", 5, -1, 1), FAIL),
    "no frames": (Message("/b_alloc", 5, 0, 1), FAIL),
    "negative channels": (Message("/b_alloc", 5, 64, -8), FAIL),
    "control bus out of range": (Message("/c_set", BIG, 1.0), FAIL),
    "negative control bus": (Message("/c_set", -1, 1.0), FAIL),
    "fill all buses and more": (Message("/c_fill", 0, MOST, 1.0), SILENT),
    "get all buses and more": (Message("/c_getn", 0, MOST), FAIL),
    "get the least bus": (Message("/c_getn", LEAST, MOST), FAIL),
    # nodes
    "free a missing node": (Message("/n_free", 12345), FAIL),
    "free the root": (Message("/n_free", 0), SILENT),
    "free the root and the last node, which is gone": (
        Bundle(1, [Message("/g_new", 1, 0, 0), Message("/n_free", 1, 0, 0, -1)]), FAIL),
    "move the root into its child": (
        Bundle(1, [Message("/g_new", 1, 0, 0), Message("/g_tail", 1, 0)]), SILENT),
    "move a group into itself": (
        Bundle(1, [Message("/g_new", 1, 0, 0), Message("/g_head", 1, 1)]), FAIL),
    "move in a circle": (
        Bundle(1, [Message("/g_new", 1, 0, 0, 2, 0, 1), Message("/g_head", 2, 1)]), FAIL),
    "before itself": (Bundle(1, [Message("/g_new", 1, 0, 0), Message("/n_before", 1, 1)]), SILENT),
    "order with itself": (
        Bundle(1, [Message("/g_new", 1, 0, 0), Message("/n_order", 2, 1, 1, 1, 1)]), SILENT),
    "beside the root": (Message("/g_new", 1, 3, 0), FAIL),
    "replace the root": (Message("/s_new", "test_sine", 1000, 4, 0), FAIL),
    "an unknown add action": (Message("/s_new", "test_sine", 1000, 99, 0), FAIL),
    "a negative add action": (Message("/s_new", "test_sine", 1000, -1, 0), FAIL),
    "an unknown definition": (Message("/s_new", "nothing", 1000, 0, 0), FAIL),
    "a reserved node": (Message("/s_new", "test_sine", LEAST, 0, 0), FAIL),
    "a missing target": (Message("/s_new", "test_sine", 1000, 0, 77), FAIL),
    "a synth in a synth": (Bundle(1, [Message("/s_new", "test_sine", 1000, 0, 0),
                                      Message("/s_new", "test_sine", 1001, 0, 1000)]), FAIL),
    "the same node twice": (Bundle(1, [Message("/g_new", 1, 0, 0), Message("/g_new", 1, 0, 0)]), SILENT),
    "controls out of range": (
        Message("/s_new", "test_sine", 1000, 0, 0, MOST, 1.0, LEAST, 1.0, -1, 1.0), SILENT),
    "not a number": (Message("/s_new", "test_sine", 1000, 0, 0, 0, NAN, 1, INF), SILENT),
    "set many controls": (Bundle(1, [Message("/s_new", "test_sine", 1000, 0, 0),
                                     Message("/n_setn", 1000, LEAST, MOST, 1.0),
                                     Message("/n_fill", 1000, -5, MOST, 1.0)]), SILENT),
    "map to buses out of range": (Bundle(1, [
        Message("/s_new", "test_sine", 1000, 0, 0), Message("/n_map", 1000, 0, MOST, 1, LEAST),
        Message("/n_mapa", 1000, 0, BIG), Message("/n_mapan", 1000, -1, LEAST, MOST),
        Message("/n_mapn", 1000, 0, 0, MOST)]), SILENT),
    "map by text": (Message("/s_new", "test_sine", 1000, 0, 0, 0, "c99999999999", 1, "a-1"), SILENT),
    "get many controls": (Bundle(1, [Message("/s_new", "test_sine", 1000, 0, 0),
                                     Message("/s_getn", 1000, 0, MOST)]), FAIL),
    "get from a group": (Message("/s_get", 0, 0), FAIL),
    "run a missing node": (Message("/n_run", 777, 1), FAIL),
    "pause the root": (Message("/n_run", 0, 0), SILENT),
    "query nothing": (Message("/n_query", 777), FAIL),
    "trace the root": (Message("/n_trace", 0), SILENT),
    "the tree of nothing": (Message("/g_queryTree", 777, 1), FAIL),
    "dump the tree of a synth": (Bundle(1, [Message("/s_new", "test_sine", 1000, 0, 0),
                                            Message("/g_dumpTree", 1000, 1)]), FAIL),
    # types
    "a string for a number": (Message("/b_alloc", "five", "many"), FAIL),
    "no arguments": (Message("/s_new"), FAIL),
    "a definition by number": (Message("/s_new", 1, 2, 3, 4), FAIL),
    "a group by text": (Message("/g_new", "x", "y", "z"), FAIL),
    "a blob for a name": (Message("/s_new", b"test_sine", 1000, 0, 0), FAIL),
    "every type": (raw("/n_set", ",iTFNIhdtcmrSsb", struct.pack(">iqdqiii", 0, 1, 2, 3, 4, 5, 6)
                       + b"sym\0str\0" + struct.pack(">i", 0)), SILENT),
    "an unknown command": (Message("/nosuch", 1), FAIL),
    "a command number out of range": (Message(4711), FAIL),
    "the least command number": (struct.pack(">i", LEAST) + b",\0\0\0", UNREADABLE),
    "an empty address": (b"\0\0\0\0,\0\0\0", SILENT),
    "a long address": (Message("/" + "x" * 60000), FAIL),
    "plugin command": (Message("/cmd", "nothing", 1, 2), FAIL),
    "unit command": (Message("/u_cmd", 1000, LEAST, "x"), FAIL),
    # the wire
    "nothing": (b"", SILENT),
    "a single byte": (b"/", SILENT),
    "three bytes": (b"/st", SILENT),
    "only an address": (b"/status\0", STATUS),
    "an unterminated address": (b"/statusx", SILENT),
    "unterminated tags": (b"/b_free\0,iii", SILENT),
    "missing values": (raw("/b_alloc", ",iii"), SILENT),
    "unbalanced brackets": (raw("/s_new", ",siiis[[[f", b"evil" + bytes(4) + bytes(12)
                                + b"freq\0\0\0\0" + bytes(4)), SILENT),
    "closing brackets": (raw("/n_set", ",i]]]", bytes(4)), SILENT),
    "a thousand brackets": (raw("/n_set", ",i" + "[" * 1000 + "]" * 1000, bytes(4)), SILENT),
    "a blob of negative length": (raw("/d_recv", ",b", struct.pack(">i", -1)), SILENT),
    "a blob longer than the packet": (raw("/d_recv", ",b", struct.pack(">i", MOST)), SILENT),
    "a truncated blob": (raw("/d_recv", ",b", struct.pack(">i", 100) + b"SCgf"), SILENT),
    "an empty bundle": (HEAD, SILENT),
    "a bundle without a time": (b"#bundle\0", SILENT),
    "an element of negative length": (HEAD + struct.pack(">i", -4) + b"/status\0", SILENT),
    "an element of the least length": (HEAD + struct.pack(">i", LEAST), SILENT),
    "an element of no length": (HEAD + struct.pack(">i", 0) * 50, SILENT),
    "an element longer than the packet": (HEAD + struct.pack(">i", 4000) + b"/status\0", SILENT),
    "an element of odd length": (HEAD + struct.pack(">i", 7) + b"/status\0", SILENT),
    "bundles in bundles": (nested(2000), SILENT),
    "bundles in bundles, a few": (nested(10), STATUS),
    "65000 zeros": (bytes(65000), SILENT),
    "65000 times 255": (b"\xff" * 65000, SILENT),
    # time
    "the end of time": (encode(Bundle(2**64 - 1, [Message("/n_free", 1)])), SILENT),
    "the beginning of time": (encode(Bundle(0, [Message("/n_free", 1)])), FAIL),
    "long ago": (encode(Bundle(2, [Message("/n_free", 1)])), FAIL),
    "in ten years": (encode(Bundle(TimeTag.from_unix(2.0e9), [Message("/n_free", 1)])), SILENT),
    # definitions
    "a definition of nothing": (Message("/d_recv", b""), BROKEN),
    "a definition of garbage": (Message("/d_recv", b"\xff" * 1000), BROKEN),
    "a huge count of constants": (Message("/d_recv", synthdef(constants=MOST)), BROKEN),
    "a negative count of constants": (Message("/d_recv", synthdef(constants=-1)), BROKEN),
    "a huge count of controls": (Message("/d_recv", synthdef(controls=MOST)), BROKEN),
    "a huge count of names": (Message("/d_recv", synthdef(names=MOST)), BROKEN),
    "a huge count of units": (Message("/d_recv", synthdef(units=MOST)), BROKEN),
    "a huge count of variants": (Message("/d_recv", synthdef(variants=32767)), BROKEN),
    "a huge count of definitions": (Message("/d_recv", synthdef(count=32767)), BROKEN),
    "an unknown version": (Message("/d_recv", synthdef(version=77)), BROKEN),
    "version 3 with a size of nothing": (Message("/d_recv", synthdef(version=3, size=0)), BROKEN),
    "version 3 with a size of minus one": (Message("/d_recv", synthdef(version=3, size=-1)), BROKEN),
    "version 3 with a huge size": (Message("/d_recv", synthdef(version=3, size=MOST)), BROKEN),
    "blocks of a definition's own": (Message("/d_recv", synthdef(version=3, blocks=(32, -1, 1.0, -1))), DONE),
    "blocks by a control that is not there": (Message("/d_recv", synthdef(version=3, blocks=(-1, 99, 1.0, -1))), BROKEN),
    "a definition without a name": (Message("/d_recv", synthdef(name=b"")), BROKEN),
    "an unknown UGen": (Message("/d_recv", one_unit(b"Nothing", 2, [1.0], [2])), BROKEN),
    "too few inputs": (Message("/d_recv", one_unit(b"SinOsc", 2, [], [2])), BROKEN),
    "a rate out of range": (Message("/d_recv", one_unit(b"SinOsc", 9, [440.0, 0.0], [2])), BROKEN),
    "an input of a later unit": (Message("/d_recv", synthdef(
        units=1, tail=unit(b"SinOsc", 2, [(0, 0), (5, 7)], [2]))), BROKEN),
    "a constant that is not there": (Message("/d_recv", synthdef(
        units=1, tail=unit(b"SinOsc", 2, [(-1, 99), (-1, 99)], [2]))), BROKEN),
    "controls that are not there": (
        Message("/d_recv", one_unit(b"Control", 1, [], [1] * 8, 30000)), BROKEN),
    "a completion that is garbage": (Message("/d_free", b"\xff" * 64), FAIL),
    "completions in completions": (None, FAIL),
    # synths
    "out to a far bus": (evil_synth(one_unit(b"Out", 2, [1e8, 0.0], [])), DONE),
    "out to a negative bus": (evil_synth(one_unit(b"Out", 2, [-1e9, 0.0], [])), DONE),
    "out before the first bus": (evil_synth(one_unit(b"Out", 2, [-1.0, 0.0, 0.0], [])), DONE),
    "in from a negative bus": (evil_synth(one_unit(b"In", 2, [-1e9], [2] * 8)), DONE),
    "in from an infinite bus": (evil_synth(one_unit(b"InFeedback", 2, [INF], [2])), DONE),
    "control rate to a far bus": (evil_synth(one_unit(b"Out", 1, [3e9, 0.0], [])), DONE),
    "play a buffer that is not there": (
        evil_synth(one_unit(b"PlayBuf", 2, [-1e9, 1.0, 1.0, 0.0, 1.0, 0.0], [2])), DONE),
    "play at an infinite rate": (
        evil_synth(one_unit(b"PlayBuf", 2, [3e9, INF, INF, INF, INF, INF], [2])), DONE),
    "an endless delay": (evil_synth(one_unit(b"DelayC", 2, [0.0, INF, INF], [2])), DONE),
    "a delay of minus one": (evil_synth(one_unit(b"DelayN", 2, [0.0, -1.0, -1.0], [2])), DONE),
    "a comb of a thousand hours": (
        evil_synth(one_unit(b"CombL", 2, [0.0, 3.6e6, 3.6e6, 1.0], [2])), DONE),
    "a huge local buffer": (evil_synth(one_unit(b"LocalBuf", 0, [9.0, 2e9], [0])), DONE),
    "a negative local buffer": (evil_synth(one_unit(b"LocalBuf", 0, [-1.0, -1e9], [0])), DONE),
    "a spectrum of nothing": (
        evil_synth(one_unit(b"FFT", 1, [-5.0, 0.0, 0.0, 9.0, 1.0, -3.0], [1])), DONE),
    "a sound file that was never opened": (evil_synth(one_unit(b"DiskIn", 2, [7.0, 0.0], [2])), DONE),
    "grains of nothing": (
        evil_synth(one_unit(b"TGrains", 2, [1.0, 1e9, INF, -1.0, INF, 0.0, 1.0, 9.0], [2] * 2)), DONE),
    "too many grains": (
        evil_synth(one_unit(b"GrainSin", 2, [1.0, 1e9, 1.0, 0.0, -1.0, 1e9], [2] * 2)), DONE),
    "a running sum of two thousand million": (
        evil_synth(one_unit(b"RunningSum", 2, [0.0, 2e9], [2])), DONE),
    "a limiter of days": (evil_synth(one_unit(b"Limiter", 2, [0.0, 1.0, 48000.0], [2])), DONE),
    "a normalizer of less than nothing": (
        evil_synth(one_unit(b"Normalizer", 2, [0.0, 1.0, -1.0], [2])), DONE),
    "a limiter of nothing": (evil_synth(one_unit(b"Limiter", 2, [0.0, 1.0, 0.0], [2])), DONE),
    "a pluck of minus a thousand million seconds": (
        evil_synth(one_unit(b"Pluck", 2, [0.0, 1.0, -1e9, 1.0, 1.0, 0.5], [2])), DONE),
    "a pitch shift whose windows overflow": (
        evil_synth(one_unit(b"PitchShift", 2, [0.0, 14913.1, 1.0, 1.0, 1.0], [2])), DONE),
    "a convolution whose bytes overflow": (
        evil_synth(one_unit(b"Convolution", 2, [0.0, 0.0, 1073741952.0], [2])), DONE),
    "a convolution in less than a block": (
        evil_synth(one_unit(b"Convolution", 2, [0.0, 0.0, 8.0], [2])), DONE),
    "a room larger than the largest": (
        evil_synth(one_unit(b"GVerb", 2, [0.0, 5e3, 3.0, 0.5, 0.5, 15.0, 1.0, 0.7, 0.5, 1.0], [2] * 2)), DONE),
    "a pitch of no hertz and a median of none": (
        evil_synth(one_unit(b"Pitch", 1, [0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 3e9, 0.0], [1] * 2)), DONE),
    "beats of no features in no time": (
        evil_synth(one_unit(b"BeatTrack2", 1, [0.0, -5.0, -1e9, 0.0, 0.0, -2.0], [1] * 6)), DONE),
    "a trigger far after the block": (evil_synth(one_unit(b"T2A", 2, [1.0, 1e6], [2])), DONE),
    "a trigger far before the block": (evil_synth(one_unit(b"T2A", 2, [1.0, -1e6], [2])), DONE),
    "a line that ends before it begins": (
        evil_synth(one_unit(b"XLine", 2, [1.0, 2.0, -1.0, 0.0], [2])), DONE),
    "a vibrato that begins before it began": (
        evil_synth(one_unit(b"Vibrato", 2, [1.0, 6.0, 0.02, 0.0, -1.0, 0.04, 0.1, 0.0, 0.0], [2])), DONE),
    "levels without a pause": (
        evil_synth(one_unit(b"SendPeakRMS", 2, [1e9, 0.0, 1.0, 1.0, 0.0, 1.0, 47.0], [])), DONE),
    "an offset output at control rate": (evil_synth(one_unit(b"OffsetOut", 1, [-1e9, 0.0], [])), DONE),
    "a free node of infinity": (evil_synth(one_unit(b"Free", 1, [1.0, INF], [1])), DONE),
}


def completions(depth):
    packet = encode(Message("/sync", 1))
    for _ in range(depth):
        packet = encode(Message("/d_free", "nothing", packet))
    return packet


PACKETS["completions in completions"] = (completions(100), FAIL)


@pytest.mark.parametrize("name", PACKETS)
def test_survives(victim, name):
    packet, reply = PACKETS[name]
    client = victim.client
    victim.reset()
    client.inbox.clear()
    client.send_bytes(packet if isinstance(packet, bytes) else encode(packet))
    client.sync(timeout=20)
    came = {message.address for message in client.inbox}
    assert came & (FAIL | DONE | STATUS | UNREADABLE) == reply, client.inbox
    client.send("/n_run", 0, 1)
    victim.assert_alive()
