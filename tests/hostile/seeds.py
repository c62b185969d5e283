# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the seeds of fuzz-packets into a folder: `python3 -m tests.hostile.seeds FOLDER`. Rows of valid packets that
reach every command, the hostile packets of test_packets, and rows of garbage.py's almost valid ones."""
import sys
from pathlib import Path

from tests.hostile.garbage import COMMANDS, Garbage
from tests.hostile.test_packets import PACKETS
from tests.lib.daemon import ROOT
from tests.lib.osc import Bundle, Double, Message, encode

# As in src/osc/fuzz-mutate.hpp.
SEPARATOR = b"\xf5" * 3
START = 3_900_000_000
FILE = "x.wav"
SINE = (ROOT / "tests/integration/synthdefs/test_sine.scsyndef").read_bytes()
DEFINITIONS = sorted((ROOT / "src/engine/synthdef/corpus").glob("*.scsyndef"))


def at(seconds, *messages):
    """A bundle for that many seconds after the start of the server's clock."""
    return Bundle(int((START + seconds) * 2**32), [Message(*message) for message in messages])


SYNTH = [("/notify", 1, 2), ("/d_recv", SINE), ("/s_new", "test_sine", 1000, 0, 0, "freq", 220.0)]
ROWS = {
    "top": [("/status",), ("/version",), ("/error", 0), ("/error", -2), ("/dumpOSC", 3), ("/sync", 5), ("/clearSched",),
            ("/rtMemoryStatus",), ("/cmd", "x", 1), ("/notify", 1), ("/notify", 0), ("/none",), (2,), (52, 7)],
    "lists": [*SYNTH, ("/n_list",), ("/n_list", 0, 77, 0, 1000, -1), ("/n_status", 1000, 0, 77), ("/s_query", 1000, 0, 77), ("/d_list",),
              ("/d_list", 1023, 1, 1), ("/d_list", 0, 0, 0, "default"), ("/b_alloc", 3, 16, 2), ("/b_list",), ("/b_list", 4), ("/bind_keys", 1, "default", "channel", 3),
              ("/bind_list",), ("/bind_list", 0, 1), ("/bind_list", 3, 0, 1), ("/server_info",)],
    "definitions": [("/d_recv", SINE, encode(Message("/s_new", "test_sine", 1000, 0, 0))), ("/d_load", FILE),
                    ("/d_loadDir", "."), ("/d_free", "test_sine", "none"), ("/d_freeAll",)],
    "synths": [*SYNTH, ("/s_get", 1000, "freq", 1), ("/s_getn", 1000, 0, 2), ("/s_noid", 1000),
               ("/s_newargs", "test_sine", 1001, 1, 0, "freq", [1.0, 2.0, "c3"]), ("/s_new", "test_sine", -1, 2, 1001),
               ("/s_new", "test_sine", 1002, 4, 1001, 0, "a4")],
    "controls": [*SYNTH, ("/n_set", 1000, "freq", [1.0, "c2", "a1"], 1, 0.5), ("/n_setn", 1000, 0, 2, 1.0, 2.0),
                 ("/n_fill", 0, "freq", 2, 3.0), ("/n_map", 1000, 0, 5), ("/n_mapn", 1000, "freq", 5, 2),
                 ("/n_mapa", 1000, 1, 4), ("/n_mapan", 0, 0, 4, 3), ("/n_run", 1000, 0, 0, 1), ("/n_trace", 1000),
                 ("/n_query", 1000, 0), ("/n_cmd", 1000, "x"), ("/u_cmd", 1000, 0, "x"), ("/n_free", 1000)],
    "groups": [*SYNTH, ("/g_new", 1, 0, 0, 2, 1, 1, 3, 2, 2), ("/p_new", 4, 3, 3),
               ("/sat_new", "test_sine", 1001, 0, 1000, 0, 1.0), ("/sat_new", "test_sine", 1002, 1, 1), ("/g_head", 1, 1000, 3, 4),
               ("/g_tail", 2, 1000), ("/n_before", 1000, 2), ("/n_after", 3, 1), ("/n_order", 1, 0, 1, 3, 1000),
               ("/g_queryTree", 0, 1, 1, 0), ("/g_dumpTree", 0, 1), ("/n_set", "hnt", 0, 1.0), ("/g_queryCost", 0, 77, 1, 3, 0),
               ("/trace_start",), ("/trace_read", 1), ("/trace_stop", 1),
               ("/bind_keys", 1, "default", 0, 0, "voices", 8, "mode", "mono", "set", "pan", 0.5), ("/bind_controller", 2, 7, "c5", "low", 1.0),
               ("/bind_command", 4, "trigger", "id", 1, "/n_set", 1000, "freq", "$1"),
               ("/bind_command", 5, "noteOn", "channel", 2, "/s_new", "default", -1, 0, 1, "freq", "$2"),
               ("/bind_command", 8, "beat", "of", "midi", "division", 0.25, "offset", 1.0, "/n_set", 1000, "freq", "$1"),
               ("/bind_midi", 3, "port", 0), ("/bind_beat", 6, "midi", "c8", "port", 0, "beats-per-bar", 3),
               ("/bind_beat", 7, "transport", "c12"), ("/bind_moved",), ("/midi_send", 0, "noteOn", 9, 60, 0.5), ("/bind_free", 1), ("/g_deepFree", 1), ("/g_freeAll", 0)],
    "buses": [("/c_set", 0, 1.0, 127, 2.0), ("/c_setn", 3, 2, 1.0, 2.0), ("/c_fill", 100, 28, 3.0),
              ("/c_get", 0, 127), ("/c_getn", 0, 128), ("/pointer", 0.5, 0.25, 1, bytes(32)), ("/bind_command", 2, "button", "number", 272, "/c_set", 5, "$1"), ("/bind_controller", 3, "axis1", "c9", "device", 1),
              ("/hid", 1, "axis", 1, 0.25), ("/hid", 1, "button", 304, 1), ("/pointer", 0.5, 0.25, 0), ("/transport_next",), ("/transport", "tempo", 2.5),
              ("/transport", "locate", 4), ("/transport", "start"), ("/transport_next",), ("/transport_next", "begin"), ("/transport_next", "end"),
              ("/bind_beat", 1, "link", "c8", "beats-per-bar", 3),
              ("/link", Double(4e9), Double(2.5), Double(2), 1, Double(0)), ("/link_set", "tempo", 2.5), ("/link_set", "playing", 1),
              ("/link_set", "jump", 1, 4), ("/link_set", "force", 1, 4), ("/link",)],
    "buffers": [("/b_alloc", 1, 512, 2, encode(Message("/b_query", 1))), ("/b_set", 1, 0, 1.0, 1023, 2.0),
                ("/b_setn", 1, 10, 3, 1.0, 2.0, 3.0), ("/b_fill", 1, 0, 1024, 0.5), ("/b_get", 1, 0, 1023),
                ("/b_getn", 1, 0, 100), ("/b_setSampleRate", 1, 44100.0), ("/b_query", 1, 2), ("/b_zero", 1),
                ("/b_alloc", 2, 40000, 2), ("/b_fill", 2, 0, 80000, 1.0), ("/b_free", 1), ("/b_free", 2)],
    "generators": [("/b_alloc", 1, 512), ("/b_alloc", 2, 64), ("/b_gen", 1, "sine1", 7, 1.0, 0.5),
                   ("/b_gen", 1, "sine2", 7, 1.0, 0.5), ("/b_gen", 1, "sine3", 7, 1.0, 0.5, 0.1),
                   ("/b_gen", 1, "cheby", 7, 1.0, 0.5), ("/b_gen", 1, "copy", 0, 2, 0, -1),
                   ("/b_gen", 1, "normalize", 1.0), ("/b_gen", 1, "wnormalize", 1.0)],
    "files": [("/b_allocRead", 1, FILE, 0, 0), ("/b_allocReadChannel", 2, FILE, 2, 50, 1, 0, -1),
              ("/b_read", 1, FILE, 0, -1, 10, 0), ("/b_readChannel", 2, FILE, 0, -1, 0, 0, 0, 1, 0),
              ("/b_write", 1, "y.aiff", "aiff", "int24", -1, 0, 1), ("/b_close", 1), ("/b_read", 1, FILE, 0, -1, 0, 1),
              ("/b_write", 2, FILE, "wav", "float"), ("/b_free", 1), ("/b_close", 2), ("/state_save", "y.osc"),
              ("/state_restore", "y.osc"), ("/state_restore", FILE)],
}
TIMED = [at(0.003, *SYNTH[1:]), at(0.001, ("/b_alloc", 1, 64), ("/sync", 1)),
         at(0.005, ("/error", -1), ("/n_free", 77), ("/n_set", 1000, 0, 1.0)), at(-1, ("/g_new", 5, 0, 0)),
         Bundle(1, [Message("/g_new", 1, 0, 0), at(0.002, ("/n_free", 1))]), at(900, ("/n_free", 1)),
         Message("/clearSched")]


def row(packets):
    """An input: the packets, each followed by a block or two."""
    return b"".join(packet + SEPARATOR + bytes([1 + i % 2]) for i, packet in enumerate(packets))


def rows():
    for name, messages in ROWS.items():
        yield name, row([encode(Message(*message)) for message in messages])
    yield "timed", row([encode(packet) for packet in TIMED])
    before = [encode(Message(*message)) for message in SYNTH]
    for number, (packet, *_) in enumerate(PACKETS.values()):
        packet = packet if isinstance(packet, bytes) else encode(packet)
        if len(packet) < 4096:
            yield f"hostile-{number}", row([*before, packet])
    definitions = [path.read_bytes() for path in DEFINITIONS]
    for seed in range(100):
        garbage = Garbage(seed, [FILE, "y.aiff", "*", "", "."], [SINE, *definitions])
        packets = [garbage.packet(START - 2208988800) for _ in range(8)]
        yield f"garbage-{seed}", row([*before, *(packet for packet in packets if len(packet) < 1000)])


def reached():
    """The commands that ROWS and TIMED send by name."""
    sent = {message[0] for messages in ROWS.values() for message in messages}
    return {name for name in sent if isinstance(name, str)} & set(COMMANDS)


def main(folder):
    missing = set(COMMANDS) - reached()
    if missing:
        sys.exit(f"no seed for {' '.join(sorted(missing))}")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in rows():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main(sys.argv[1])
