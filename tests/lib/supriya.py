# SPDX-License-Identifier: GPL-3.0-or-later
"""An environment with supriya under build/."""
import fcntl
import subprocess
import venv

import pytest

from tests.lib.daemon import ROOT

VERSION = "26.10b1"


def python():
    """The interpreter of the environment; made once, kept in build/. Skips the test without it."""
    folder = ROOT / "build/venv-supriya"
    interpreter = folder / "bin/python"
    probe = [interpreter, "-c", "import supriya"]
    folder.parent.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run beside each other
        if not interpreter.exists() or subprocess.run(probe, capture_output=True).returncode:
            venv.create(folder, with_pip=True, clear=True)
            done = subprocess.run([interpreter, "-m", "pip", "install", "-q", f"supriya=={VERSION}"],
                                  capture_output=True, text=True, timeout=300)
            if done.returncode:
                pytest.skip("supriya cannot be installed: " + done.stderr.strip().splitlines()[-1])
    return interpreter
