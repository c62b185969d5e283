# SPDX-License-Identifier: GPL-3.0-or-later
"""What the PipeWire of this system can."""
import functools
import re
import subprocess


@functools.cache
def version():
    """(major, minor, micro)"""
    text = subprocess.run(["pipewire", "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.search(r"(\d+)\.(\d+)\.(\d+)", text).groups()))


def one_loop():
    """Why there can't be several data loops; None if there can."""
    return None if version() >= (1, 2, 0) else f"PipeWire {'.'.join(map(str, version()))} has one data loop"


# To have a recording without a lost cycle. PipeWire 1.4, and probably each version with several data loops, wakes each node
# by a file descriptor, and begins the next cycle before all have had this one if a data loop is late by a cycle: on a busy
# machine by 64 frames often. A server that is late itself loses cycles each time.
ATTEMPTS = 1 if one_loop() else 10
