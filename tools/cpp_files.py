# SPDX-License-Identifier: GPL-3.0-or-later
"""The C++ files of the project, for checks of their style."""
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TREES = ("src", "spa", "tests", "bench")


def cpp_files(root=ROOT):
    """Those that git knows or would add, as paths below the root."""
    patterns = [f"{tree}/*.{suffix}" for tree in TREES for suffix in ("cpp", "hpp")]
    done = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns], cwd=root,
                          text=True, capture_output=True, check=False)
    if done.returncode == 0:
        found = [Path(line) for line in done.stdout.splitlines()]
    else:  # sources without their history
        found = [path.relative_to(root) for tree in TREES for suffix in ("cpp", "hpp")
                 for path in (root / tree).rglob(f"*.{suffix}")]
    return sorted({path for path in found if (root / path).is_file()})
