# SPDX-License-Identifier: GPL-3.0-or-later
"""The messages for both servers: good ones for each command, and variants with arguments left out or replaced. A case
is a name and a sequence of packets."""
from examples.osc import Bundle, Double, Message

SETUP = {
    "synth": [Message("/s_new", "test_sine", 1000, 0, 0)],
    "synths": [Message("/s_new", "test_sine", 1000, 0, 0), Message("/s_new", "test_sine", 1001, 1, 0)],
    "groups": [Message("/g_new", 10, 0, 0, 11, 1, 10, 12, 3, 10), Message("/s_new", "test_sine", 1000, 0, 11)],
    "buffer": [Message("/b_alloc", 5, 8, 2), Message("/b_setn", 5, 0, 4, 0.1, 0.2, 0.3, 0.4)],
    "buffers": [Message("/b_alloc", 5, 64, 1), Message("/b_alloc", 6, 64, 1), Message("/b_fill", 5, 0, 64, 0.5)],
    "buses": [Message("/c_setn", 0, 4, 1.0, 2.0, 3.0, 4.0)],
}

# Queries that show the effect of a command, sent after each packet.
PROBES = {
    "synth": [Message("/n_query", 1000), Message("/s_get", 1000, 0, 1), Message("/g_queryTree", 0, 1)],
    "synths": [Message("/g_queryTree", 0, 1)],
    "groups": [Message("/g_queryTree", 0, 1)],
    "buffer": [Message("/b_query", 5), Message("/b_getn", 5, 0, 16)],
    "buffers": [Message("/b_query", 5, 6), Message("/b_getn", 5, 0, 64), Message("/b_getn", 6, 0, 64)],
    "buses": [Message("/c_getn", 0, 8)],
}

# name: (the setup, good messages)
COMMANDS = {
    "top": ("buses", [
        ("/notify", 1), ("/notify", 0), ("/notify", 1, 2), ("/sync", 77), ("/error", 0), ("/error", 1), ("/error", -1),
        ("/clearSched",), ("/dumpOSC", 0), ("/nosuch", 1, 2), ("/cmd", "nothing", 1), ("/n_cmd", 1, 2)]),
    "s_new": ("groups", [
        ("/s_new", "test_sine", 2000, 0, 0), ("/s_new", "test_sine", 2000, 1, 11, "freq", 300.0),
        ("/s_new", "test_sine", 2000, 2, 11, 0, 300.0, 1, 0.25), ("/s_new", "test_sine", 2000, 3, 1000),
        ("/s_new", "test_sine", 2000, 4, 1000), ("/s_new", "test_sine", -1, 0, 0),
        ("/s_new", "test_sine", 2000, 0, 0, "freq", "c3", "amp", "a2"),
        ("/s_new", "test_sine", 2000, 0, 0, "freq", [200.0, 0.5]),
        ("/s_new", "test_sine", 2000, 0, 0, "nothing", 1.0, "amp", 0.5), ("/s_new", "test_sine", 1000, 0, 0),
        ("/s_new", "nothing", 2000, 0, 0), ("/s_new", "test_sine", 2000, 5, 0), ("/s_new", "test_sine", 2000, 2, 0),
        ("/s_newargs", "test_sine", 2000, 0, 0, "freq", 2, 300.0, 0.125)]),
    "s_get": ("synth", [
        ("/s_get", 1000, "freq", "amp"), ("/s_get", 1000, 0, 1), ("/s_get", 1000, 0, "nothing", 77),
        ("/s_getn", 1000, 0, 2), ("/s_getn", 1000, "freq", 2, "amp", 1), ("/s_getn", 1000, 1, 5),
        ("/s_noid", 1000), ("/s_noid", 1000, 999), ("/s_get", 0, 0), ("/s_getn", 999, 0, 1)]),
    "n_set": ("synth", [
        ("/n_set", 1000, "freq", 300.0), ("/n_set", 1000, 0, 300.0, 1, 0.5), ("/n_set", 1000, "freq", [300.0, 0.75]),
        ("/n_set", 1000, "freq", "c2", 1, "c3"), ("/n_set", 1000, "freq", "a2"), ("/n_set", 0, "freq", 222.0),
        ("/n_set", 1000, "nothing", 5.0), ("/n_set", 1000, 99, 5.0), ("/n_set", -1, "freq", 333.0),
        ("/n_setn", 1000, 0, 2, 300.0, 0.5), ("/n_setn", 1000, "freq", 2, 301.0, 0.4, "amp", 1, 0.3),
        ("/n_set", 1000, "freq", Double(200.5)), ("/n_set", 1000, "freq", 200)]),
    "n_map": ("synth", [
        ("/n_map", 1000, "freq", 2), ("/n_map", 1000, 0, 2, 1, 3), ("/n_map", 1000, 0, -1),
        ("/n_mapn", 1000, 0, 2, 2), ("/n_mapn", 1000, "freq", 4, 2), ("/n_mapa", 1000, "freq", 3),
        ("/n_mapan", 1000, 0, 3, 2), ("/n_mapa", 1000, 0, -1), ("/n_map", 0, "freq", 2)]),
    "n_order": ("groups", [
        ("/n_before", 10, 12), ("/n_before", 12, 10), ("/n_after", 10, 12), ("/n_before", 1000, 12),
        ("/n_after", 1000, 10, 12, 10), ("/n_order", 0, 0, 12, 10), ("/n_order", 1, 0, 10, 12),
        ("/n_order", 2, 12, 1000), ("/n_order", 3, 12, 1000, 10), ("/g_head", 0, 12), ("/g_tail", 0, 10),
        ("/g_head", 12, 1000), ("/g_tail", 12, 1000, 0, 10), ("/g_head", 1000, 12)]),
    "n_free": ("groups", [
        ("/n_free", 1000), ("/n_free", 10), ("/n_free", 10, 12), ("/n_free", 999), ("/n_free", 1000, 999, 12),
        ("/g_freeAll", 10), ("/g_freeAll", 0), ("/g_freeAll", 10, 12), ("/g_deepFree", 10), ("/g_deepFree", 0),
        ("/g_freeAll", 1000), ("/g_deepFree", 999)]),
    "n_run": ("groups", [
        ("/n_run", 1000, 0), ("/n_run", 1000, 0, 1000, 1), ("/n_run", 10, 0), ("/n_run", 999, 1),
        ("/n_query", 1000), ("/n_query", 0), ("/n_query", 10, 11, 12), ("/n_query", 999), ("/n_query", 10, 999, 12),
        ("/n_trace", 999)]),
    "g_new": ("groups", [
        ("/g_new", 20, 0, 0), ("/g_new", 20, 1, 10, 21, 0, 20), ("/g_new", 20, 2, 12), ("/g_new", 20, 3, 12),
        ("/g_new", 20, 4, 12), ("/g_new", 10, 0, 0), ("/g_new", -1, 0, 0), ("/g_new", 20, 5, 0), ("/g_new", 20, 0, 1000),
        ("/g_new", 20, 0, 999), ("/p_new", 20, 0, 0), ("/g_new", -5, 0, 0)]),
    "g_queryTree": ("groups", [
        ("/g_queryTree", 0, 0), ("/g_queryTree", 0, 1), ("/g_queryTree", 11, 1), ("/g_queryTree", 12, 0, 10, 1),
        ("/g_queryTree", 1000, 1), ("/g_queryTree", 999, 0), ("/g_dumpTree", 0, 0), ("/g_dumpTree", 999, 0)]),
    "c_set": ("buses", [
        ("/c_set", 1, 5.0), ("/c_set", 1, 5.0, 2, 6.0), ("/c_setn", 2, 3, 7.0, 8.0, 9.0),
        ("/c_setn", 0, 1, 7.0, 4, 2, 8.0, 9.0), ("/c_fill", 1, 3, 5.5), ("/c_fill", 0, 1, 1.5, 4, 2, 2.5),
        ("/c_get", 0, 1, 2), ("/c_get", 3), ("/c_getn", 0, 4), ("/c_getn", 0, 2, 2, 3), ("/c_set", 999999, 1.0),
        ("/c_get", 999999), ("/c_getn", 16380, 10), ("/c_fill", 16380, 10, 1.0), ("/c_set", -1, 1.0), ("/c_get", -1),
        ("/c_set", 1, 7), ("/c_set", 1.0, Double(2.5))]),
    "b_set": ("buffer", [
        ("/b_set", 5, 0, 1.0), ("/b_set", 5, 3, 1.0, 5, 2.0), ("/b_set", 5, 99, 1.0), ("/b_setn", 5, 2, 3, 1.0, 2.0, 3.0),
        ("/b_setn", 5, 0, 1, 9.0, 4, 2, 8.0, 7.0), ("/b_fill", 5, 1, 4, 0.5), ("/b_fill", 5, 0, 1, 0.5, 8, 2, 0.25),
        ("/b_get", 5, 0, 1, 2), ("/b_get", 5, 99), ("/b_getn", 5, 0, 4), ("/b_getn", 5, 0, 2, 4, 3), ("/b_getn", 5, 10, 10),
        ("/b_query", 5), ("/b_query", 5, 6, 7), ("/b_set", 7, 0, 1.0), ("/b_get", 7, 0), ("/b_getn", 7, 0, 2),
        ("/b_setn", 7, 0, 1, 1.0), ("/b_fill", 7, 0, 1, 1.0)]),
    "b_alloc": ("buffer", [
        ("/b_alloc", 8, 16, 1), ("/b_alloc", 8, 16), ("/b_alloc", 8, 16, 2, Message("/b_query", 8)),
        ("/b_alloc", 5, 4, 1), ("/b_free", 5), ("/b_free", 5, Message("/b_query", 5)), ("/b_free", 7), ("/b_zero", 5),
        ("/b_zero", 5, Message("/b_get", 5, 0)), ("/b_close", 5), ("/b_close", 5, Message("/b_query", 5)),
        ("/b_zero", 7), ("/b_read", 7, "/nowhere/7.wav"), ("/b_write", 7, "/nowhere/7.wav", "wav", "float")]),
    "b_gen": ("buffers", [
        ("/b_gen", 5, "sine1", 7, 1.0, 0.5), ("/b_gen", 5, "sine1", 0, 1.0), ("/b_gen", 5, "sine1", 3, 1.0, 0.5, 0.25),
        ("/b_gen", 5, "sine2", 7, 1.0, 0.5, 3.0, 0.25), ("/b_gen", 5, "sine3", 7, 1.0, 0.5, 0.1, 2.0, 0.25, 0.2),
        ("/b_gen", 5, "cheby", 3, 1.0, 0.5, 0.25), ("/b_gen", 6, "copy", 3, 5, 2, 10), ("/b_gen", 6, "copy", 0, 5, 0, -1),
        ("/b_gen", 5, "normalize", 0.8), ("/b_gen", 5, "wnormalize", 0.8), ("/b_gen", 5, "nothing", 1),
        ("/b_gen", 7, "sine1", 7, 1.0)]),
    "d_recv": ("synth", [
        ("/d_free", "nothing"), ("/d_recv", b"\0\0\0\0"), ("/d_load", "/nowhere/*.scsyndef"),
        ("/d_loadDir", "/nowhere")]),
    "bundles": ("synth", []),
}

# Not blobs and arrays: stock misreads the arguments after them.
REPLACEMENTS = {"text": "text", "minus one": -1, "a half": 0.5, "nothing": None, "true": True}

# For missing values, stock reads whatever is in memory after the message.
READS_BEHIND = ("/b_set", "/b_setn", "/b_fill")
# Here stock scsynth reads or writes outside of its memory, so it may do anything.
UNSAFE_IN_STOCK = ("/b_", "/d_")


def cases():
    """(name, group, packet) of all that is sent."""
    seen = set()
    replaced = set()  # commands whose arguments have been replaced already
    for title, (group, messages) in COMMANDS.items():
        for message in messages:
            variants = _variants(message, replace=message[0] not in replaced)
            replaced.add(message[0])
            for name, variant in variants:
                name = f"{title}: {name}"
                if name not in seen:
                    seen.add(name)
                    yield name, group, variant
    for name, packet in BUNDLES.items():
        yield f"bundles: {name}", "synth", packet


def _variants(message, replace):
    address, *args = message
    yield _text(message), Message(*message)
    for count in range(len(args)):
        if address in READS_BEHIND and count > 1:
            continue
        yield _text(message[:count + 1]), Message(*message[:count + 1])
    if not replace or address.startswith(UNSAFE_IN_STOCK):
        return
    for at, arg in enumerate(args):
        for title, replacement in REPLACEMENTS.items():
            if type(replacement) is not type(arg):
                changed = [*args[:at], replacement, *args[at + 1:]]
                yield f"{_text(message)} with {title} at {at}", Message(address, *changed)


def _text(message):
    address, *args = message
    return " ".join([address, *("(message)" if isinstance(arg, Message) else str(arg) for arg in args)])


BUNDLES = {
    "two messages": Bundle(1, [Message("/n_set", 1000, 0, 100.0), Message("/s_get", 1000, 0)]),
    "an error and what follows it": Bundle(1, [Message("/n_free", 999), Message("/s_get", 1000, 0)]),
    "errors off for the bundle": Bundle(1, [Message("/error", -1), Message("/n_free", 999)]),
    "errors off and on again": Bundle(1, [Message("/error", -1), Message("/error", -2), Message("/n_free", 999)]),
    "by number": Bundle(1, [Message(15, 1000, 0, 123.0), Message(44, 1000, 0)]),
    "a synth and its change": Bundle(1, [Message(9, "test_sine", 2000, 0, 0, "freq", [1.0, 2.0]),
                                         Message("/n_set", 2000, "freq", 99.0), Message("/n_query", 2000)]),
    "the last synth's ID": Bundle(1, [Message("/s_new", "test_sine", -1, 0, 0), Message("/n_query", -1)]),
    "a group and a synth in it": Bundle(1, [Message("/g_new", 30, 1, 0), Message("/s_new", "test_sine", 2000, 0, 30)]),
    "replace": Bundle(1, [Message("/s_new", "test_sine", 2000, 4, 1000)]),
}
