# SPDX-License-Identifier: GPL-3.0-or-later
from tests.lib.xruns import measured_row

HEAD = "\x1b[H\x1b[JS   ID  QUANT   RATE    WAIT    BUSY   W/Q   B/Q  ERR FORMAT           NAME\r\n"
EMPTY = (HEAD + "R   36      0      0   0.0us   0.0us  0.00  0.00    0                  sink\r\n"
         "R   39      0      0   0.0us   0.0us  0.00  0.00    0                  scsynth\r\n")
DRIVEN = (HEAD + "R   36    256  48000  20.0us   9.1us  0.00  0.00    7    F32P 2 48000 sink\r\n"
          "R   39      0      0   4.0us  22.0us  0.00  0.01    7                   + scsynth\r\n"
          "S   40      0      0   ---     ---   ---   ---     0                  other\r\n")


def test_the_first_screens_say_nothing():
    assert measured_row(EMPTY, "scsynth") is None
    assert measured_row(EMPTY, "sink") is None


def test_a_driver_and_what_it_drives():
    assert measured_row(EMPTY + DRIVEN, "scsynth")[8] == "7"
    assert measured_row(EMPTY + DRIVEN, "sink")[2] == "256"


def test_a_suspended_node_and_an_unknown_one():
    assert measured_row(DRIVEN, "other") is None
    assert measured_row(DRIVEN, "nobody") is None
