# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the C++ files look as .clang-format says.

    python3 -m tools.format [--fix]

prints the places that don't, or makes them so; the exit status is 0 when all do."""
import subprocess
import sys

from tools.cpp_files import ROOT, cpp_files

# Others format some things otherwise.
PROGRAM = "clang-format-14"


def main(arguments):
    how = ["-i"] if "--fix" in arguments else ["--dry-run", "-Werror"]
    return subprocess.run([PROGRAM, *how, *map(str, cpp_files())], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
