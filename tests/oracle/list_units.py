# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the names of the units that plugin files define: loads each with a table of functions in
which only the function that defines units does anything."""
import ctypes
import os
import sys

POINTERS = 64  # room after the real table
DEFINE_UNIT = 6  # index of the function in the table, in pointers
SINE_SIZE, SINE_TABLES = 8192, (1, 2, 3)

Define = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p,
                          ctypes.c_void_p, ctypes.c_uint32)
Nothing = ctypes.CFUNCTYPE(ctypes.c_size_t)


@Define
def define(name, *_):
    print(name.decode())
    return True


@Nothing
def nothing():
    return 0


def main():
    samples = ctypes.create_string_buffer(1 << 20)
    table = (ctypes.c_void_p * POINTERS)(
        *[ctypes.cast(nothing, ctypes.c_void_p).value] * POINTERS)
    table[0] = SINE_SIZE
    for place in SINE_TABLES:
        table[place] = ctypes.addressof(samples)
    table[DEFINE_UNIT] = ctypes.cast(define, ctypes.c_void_p).value
    for path in sys.argv[1:]:
        ctypes.CDLL(path).load(table)
    sys.stdout.flush()
    os._exit(0)  # without waiting for threads that plugins started


main()
