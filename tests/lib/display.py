# SPDX-License-Identifier: GPL-3.0-or-later
"""An X display of its own (Xvfb), whose pointer a test moves (xdotool)."""
import os
import re
import shutil
import subprocess

from tests.lib.process import Process, wait_for

WIDTH, HEIGHT = 1000, 500


def missing():
    """Which of its programs aren't installed."""
    return " ".join(name for name in ("Xvfb", "xdotool") if not shutil.which(name))


class Display:
    """`name` is for DISPLAY."""

    def __init__(self, folder):
        # Without -noreset the pointer goes back to the middle when the last client leaves.
        self._server = Process(["Xvfb", "-displayfd", 1, "-screen", 0, f"{WIDTH}x{HEIGHT}x24", "-nolisten", "tcp", "-noreset"],
                               dict(os.environ), folder / "xvfb.log")
        told = wait_for(lambda: re.search(r"^(\d+)\n", self._server.output(), re.MULTILINE), "the display's number")
        self.name = f":{told[1]}"
        self.env = dict(os.environ) | {"DISPLAY": self.name}

    def _do(self, *words):
        subprocess.run(["xdotool", *map(str, words)], env=self.env, check=True, timeout=10)

    def move(self, x, y):
        """Set to pixel `x`, `y`, from the upper left, as a program does: no device has moved."""
        self._do("mousemove", x, y)

    def push(self, x, y):
        """Move by that many pixels, as a mouse does."""
        self._do("mousemove_relative", "--", x, y)

    def button(self, down):
        self._do("mousedown" if down else "mouseup", 1)

    def key(self, down):
        """The key of the letter a."""
        self._do("keydown" if down else "keyup", "a")

    def stop(self):
        self._server.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
