# SPDX-License-Identifier: GPL-3.0-or-later
"""Which SuperCollider the offline tests compare with: the machine's, or the one that the environment's SCS_SUPERCOLLIDER
names, a folder as tools/newer-supercollider fills it: packages of a newer Debian, unpacked. Its programs, and ours with its
plugins, run with its loader and its C library."""
import functools
import os
import signal
import subprocess
from pathlib import Path

from tests.lib.build import PW_SCSYNTH

FOLDER = os.environ.get("SCS_SUPERCOLLIDER")
_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_LOADER = "ld-linux-x86-64.so.2"


def foreign():
    """Whether it isn't the machine's."""
    return FOLDER is not None


def plugins():
    """The folder with scsynth's plugins, which are ours, too."""
    return Path(FOLDER or "/") / "usr/lib/SuperCollider/plugins"


def scsynth():
    """The command of the stock server."""
    return [*_loaded(Path(FOLDER) / "usr/bin/scsynth"), "-U", Path(FOLDER) / "scsynth-plugins"] if foreign() else ["scsynth"]


def ours():
    """The command of pw-scsynth with these plugins."""
    return [*_loaded(PW_SCSYNTH), "-U", plugins()] if foreign() else [PW_SCSYNTH]


@functools.cache
def version():
    """For example (3, 14, 1)."""
    done = subprocess.run([str(word) for word in [*scsynth()[:4 if foreign() else 1], "-v"]], capture_output=True,
                          text=True, timeout=20, check=True)
    return tuple(int(number) for number in done.stdout.split()[1].split("."))


def since_3_14():
    return version() >= (3, 14)


def has_rendered(status):
    """Whether scsynth -N that ended so has done its work: Debian's 3.14.1 crashes after it has closed a file at whose end
    synths of some units still play."""
    return status == 0 or (since_3_14() and status == -signal.SIGSEGV)


def _loaded(program):
    """The folder's libraries come before the machine's, which has those that only our program needs."""
    libraries = Path(FOLDER) / _LIBRARIES
    return [libraries / _LOADER, "--library-path", f"{libraries}:/{_LIBRARIES}", program]
