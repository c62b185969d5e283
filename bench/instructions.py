# SPDX-License-Identifier: GPL-3.0-or-later
"""Instructions for a voice and block, counted by callgrind on offline renderings: exact and
repeatable on a busy machine, where times aren't."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

from bench.stands import SYNTHDEFS
from tests.lib.scsynth import score_bytes

VOICES, SECONDS, RATE, BLOCK = 100, 2, 48000, 64


def per_voice(pw_scsynth, say):
    """{name: instructions} of the default synth, for scsynth and our pw-scsynth (a path)."""
    found = {}
    for name, program in ("ours", pw_scsynth), ("scsynth", "scsynth"):
        say(f"counting the instructions of {name}: takes a minute")
        counts = [_count(program, voices) for voices in (0, VOICES)]
        found[name] = (counts[1] - counts[0]) / (VOICES * SECONDS * RATE / BLOCK)
    return found


def count(command, folder, within=()):
    """Instructions of a command that ends by itself, run with `folder` as HOME; only those within functions whose names
    match one of the patterns, if there are some. One that another calls isn't counted."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/profile",
         *(f"--toggle-collect={pattern}" for pattern in within), *command],
        env=os.environ | {"HOME": str(folder)}, capture_output=True, text=True, errors="replace",
        timeout=600, check=False)
    total = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not total:
        raise RuntimeError(f"callgrind ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return int(total.group(1))


def _count(program, voices):
    definition = (SYNTHDEFS / "default.scsyndef").read_bytes()
    synths = [("/s_new", "default", 1000 + i, 0, 0, "freq", 100.0 + i, "amp", 0.001)
              for i in range(voices)]
    score_data = score_bytes([(0, ("/d_recv", definition)), (0, *synths)], SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        score, out = Path(folder, "score"), Path(folder, "out.wav")
        score.write_bytes(score_data)
        return count([program, "-N", score, "_", out, str(RATE), "WAV", "float", "-o", "2", "-i", "0"],
                     folder)
