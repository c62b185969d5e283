# SPDX-License-Identifier: GPL-3.0-or-later
"""What PipeWire's profiler reports for a node, read from pw-top's screen: xruns and quantum."""
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
_QUANTUM, _WAIT, _ERR = 2, 4, 8


def count_xruns(env, node_name, timeout=4.0):
    """The ERR column of the node, or None when pw-top measures no such node."""
    row = _row_of(env, node_name, timeout)
    return int(row[_ERR]) if row else None


def quantum_of(env, driver, timeout=4.0):
    """The frames in a cycle of a driver, or None when it does not run."""
    row = _row_of(env, driver, timeout)
    return int(row[_QUANTUM]) if row else None


def measured_row(screens, node_name):
    """The newest row of a node, as its columns, in which it was measured. Until the profiler's first
    report, pw-top's screens show every node as a driver of its own with a quantum of 0."""
    rows = [_ESCAPES.sub(" ", row).split() for row in screens.split("\r")[:-1]]
    found = [row for row in rows if len(row) > _ERR + 1 and row[-1] == node_name
             and row[_WAIT] != "---" and (row[_QUANTUM] != "0" or row[-2] == "+")]
    return found[-1] if found else None


def _row_of(env, node_name, timeout):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 100, 200, 0, 0))
    child = subprocess.Popen(["pw-top"], env=env | {"TERM": "vt100"}, stdin=theirs, stdout=theirs,
                             stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return _read(ours, node_name, time.monotonic() + timeout)
    finally:
        child.terminate()
        child.wait()
        os.close(theirs)
        os.close(ours)


def _read(screen, node_name, deadline):
    text = ""
    while (left := deadline - time.monotonic()) > 0:
        if select.select([screen], [], [], left)[0]:
            text += os.read(screen, 65536).decode(errors="replace")
            if row := measured_row(text, node_name):
                return row
    return None
