# SPDX-License-Identifier: GPL-3.0-or-later
"""A plugin of pytest for supriya's tests: what ends all servers of the machine ends those of the tests alone."""
import psutil
from supriya import scsynth


def kill():
    for process in psutil.Process().children(recursive=True):
        if process.name() in ("scsynth", "pw-scsynth"):
            process.kill()


scsynth.kill = kill
