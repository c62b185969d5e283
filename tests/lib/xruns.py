# SPDX-License-Identifier: GPL-3.0-or-later
"""What PipeWire's profiler says of a node, read off pw-top's screen: its xruns, its quantum."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x0f")
_QUANTUM, _ERR = 2, 8


def count_xruns(env, node_name, timeout=4.0):
    """The ERR column of the node, or None when pw-top does not list it."""
    row = _row_of(env, node_name, timeout, lambda row: True)
    return int(row[_ERR]) if row else None


def quantum_of(env, driver, timeout=4.0):
    """The frames in a cycle of a driver, or None when it does not run."""
    row = _row_of(env, driver, timeout, lambda row: row[_QUANTUM] != "0")
    return int(row[_QUANTUM]) if row else None


def _row_of(env, node_name, timeout, complete):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 100, 200, 0, 0))
    child = subprocess.Popen(["pw-top"], env=env | {"TERM": "vt100"}, stdin=theirs, stdout=theirs,
                             stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return _read(ours, node_name, time.monotonic() + timeout, complete)
    finally:
        child.terminate()
        child.wait()
        os.close(theirs)
        os.close(ours)


def _read(screen, node_name, deadline, complete):
    text = ""
    while (left := deadline - time.monotonic()) > 0:
        if select.select([screen], [], [], left)[0]:
            text += os.read(screen, 65536).decode(errors="replace")
            rows = [_ESCAPES.sub(" ", row).split() for row in text.split("\r")[:-1]]
            found = [row for row in rows if len(row) > _ERR + 1 and row[-1] == node_name
                     and row[4] != "---" and complete(row)]
            if found:
                return found[-1]
    return None
