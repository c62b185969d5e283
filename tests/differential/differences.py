# SPDX-License-Identifier: GPL-3.0-or-later
"""The answers that differ from stock scsynth 3.13's, and why."""
import re

NOWHERE = "beside the root there is no place: stock makes or moves the node out of the tree, where nothing finds it"
PARALLEL = "what is told of a parallel group is what supernova tells; stock's is a group"
UNALLOCATED = "a buffer that isn't allocated fails, and is named; stock does nothing or gives another reason"

DIFFERENCES = {
    r"s_new: /s_new test_sine 2000 [234]( 0)?": NOWHERE,
    r"g_new: /[gp]_new 20 [23]": NOWHERE,
    r"(s_new: /s_new test_sine 2000|g_new: /g_new 20) 5( 0)?": "supernova's add action insert; stock has none",
    r"g_new: /p_new 20( 0){0,2}": PARALLEL,
    r"g_new: /p_new 20 0 0 with (a half|nothing|true) at [12]": PARALLEL,
    r"g_new: /p_new 20 0 0 with text at 1": PARALLEL,
    r"n_order: /(n_before|n_after) \d+": NOWHERE,
    r"n_order: /(n_before|n_after) 10 12 with (a half|nothing|true|an array) at [01]": NOWHERE,
    r"n_order: /n_after 1000 10 12": NOWHERE,
    r"n_order: /[gp]_(head|tail) (0|12|12 1000 0)": "stock moves the root out of the tree",
    r"n_order: /[gp]_(head|tail) 0 1\d with (a half|nothing|true) at 1": "stock moves the root out of the tree",
    r"n_order: /n_order 0 0 12 10 with (a half|nothing|true) at 2": "stock moves the root out of the tree",
    r"n_order: /n_order 0 0 12 10 with a half at 3": "stock moves the root out of the tree",
    r"s_get: /s_getn 1000 [01]": "stock sends fewer bytes than the type tags of its reply say",
    r"s_get: /s_getn 1000 freq( 2 amp)?": "stock's reply has parts of its own text for the node",
    r"n_set: /n_set 1000 freq 200.5": "stock reads a double as an int and an index of the next control",
    r"c_set: /c_get 0 1 2 with text at [012]": "stock's reply is shifted by the text",
    r"b_(set|alloc): /b_(?!query|read|write)[a-z]+": "a command without a buffer fails; stock works on buffer 0",
    r"b_(set|alloc): /b_(setn|fill|zero) 7( .*)?": UNALLOCATED,
    r"b_alloc: /b_(read|write) 7 .*": UNALLOCATED,
    r"b_gen: /b_gen 7 sine1.*": UNALLOCATED,
    r"b_alloc: /b_alloc [58]": "a buffer without a size fails; stock is silent",
    r"d_recv: /d_recv b.*": "what is wrong with a SynthDef is answered before the /done; stock only prints it",
    r"d_recv: /d_recv": "the text says what is wrong",
}


# What stock says since 3.14, and what it said before, as ours does.
SINCE_3_14 = {"/fail ['/cmd', 'nothing not found']": "/fail ['/cmd', 'failed']"}


def reason_for(name):
    """The reason of the first entry whose pattern matches the whole name of a case, or None."""
    return next((reason for pattern, reason in DIFFERENCES.items() if re.fullmatch(pattern, name)), None)
