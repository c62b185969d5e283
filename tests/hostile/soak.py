# SPDX-License-Identifier: GPL-3.0-or-later
"""Hours of random commands as fast as they go, in the tests' host: `python3 -m tests.hostile.soak [HOURS] [SEED]`. Ends
with 1 if the process has grown between the first quarter and the last, or a bundle isn't carried out at its frame."""
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.hostile.garbage import Garbage
from tests.lib.build import BUILD, ROOT

HOURS = 0.5
PACKETS = 20_000
WALL_CLOCK = 1_700_000_005  # about where the scripted one begins
MOST = 4096
DEFINITIONS = sorted((ROOT / "tests/integration/synthdefs").glob("*.scsyndef"))


class Small(Garbage):
    """No numbers so large that a buffer of that size would take all the time."""

    def _whole(self):
        value = super()._whole()
        return value if abs(value) <= MOST else value % MOST


def write(path, seed, folder):
    files = [str(folder / name) for name in ("a.wav", "b.aiff", "none.wav")]
    garbage = Small(seed, files, [one.read_bytes() for one in DEFINITIONS])
    with path.open("wb") as out:
        for _ in range(PACKETS):
            packet = garbage.packet(WALL_CLOCK)
            out.write(struct.pack(">I", len(packet)) + packet)


def main(hours=HOURS, seed=1):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write(folder / "packets", int(seed), folder)
        command = [BUILD / "tests/host/soak", folder / "packets", str(float(hours) * 3600), str(int(seed)), folder]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
