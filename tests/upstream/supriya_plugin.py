# SPDX-License-Identifier: GPL-3.0-or-later
"""A plugin of pytest for supriya's tests: where supriya ends all servers of the machine, only the tests' are ended."""
import psutil
from supriya import scsynth


def kill():
    for process in psutil.Process().children(recursive=True):
        if process.name() in ("scsynth", "pw-scsynth"):
            process.kill()


scsynth.kill = kill
