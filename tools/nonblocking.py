# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks Clang 20 or later whether what the render path calls allocates, locks and throws nothing: functions marked with
SCS_NONBLOCKING (src/engine/base/nonblocking.hpp), and all that they call.

    python3 -m tools.nonblocking [PATTERN]

prints Clang's warnings for the sources whose path matches the regular expression; the exit status is 0 when there are
none. $SCS_CLANG names the compiler, if it isn't clang++ or clang++-20 and later in $PATH."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build-nonblocking"  # configured for its compiler options, never built
OLDEST, NEWEST = 20, 40
WARNINGS = ("-fsyntax-only", "-ferror-limit=0", "-Wno-everything", "-Wfunction-effects")
PRODUCT = re.compile(r"(src|spa)/")
OPTIONS = re.compile(r"-(I|D|std=|isystem|m|f)")  # the others are about warnings and output
TESTS = re.compile(r"(^|/)(test|fuzz)-[^/]*$")


def clang():
    """The newest Clang that knows the attribute, or None."""
    named = os.environ.get("SCS_CLANG")
    for name in [named] if named else [*(f"clang++-{number}" for number in range(NEWEST, OLDEST - 1, -1)), "clang++"]:
        path = shutil.which(name)
        if path and _version(path) >= OLDEST:
            return path
    return None


def _version(path):
    said = subprocess.run([path, "-dumpversion"], text=True, capture_output=True, check=False).stdout
    return int(re.match(r"\d*", said)[0] or 0)


def commands(database, pattern=""):
    """{source below the root: the options that matter}: each source once, for the last of its instruction sets."""
    found = {}
    for entry in json.loads(database):
        folder = Path(entry["directory"])
        source = os.path.relpath(folder / entry["file"], ROOT)
        if PRODUCT.match(source) and not TESTS.search(source) and re.search(pattern, source):
            words = shlex.split(entry["command"].replace("-isystem ", "-isystem"))
            found[source] = [_absolute(word, folder) for word in words if OPTIONS.match(word)]
    return found


def _absolute(option, folder):
    return f"-I{os.path.normpath(folder / option[2:])}" if option.startswith("-I") else option


def ask(compiler, source, options):
    """Clang's warnings and errors; "": all is well."""
    return subprocess.run([compiler, *options, *WARNINGS, source], cwd=ROOT, text=True, capture_output=True,
                          check=False).stderr


def main(pattern=""):
    compiler = clang()
    if not compiler:
        print(f"no clang++ of version {OLDEST} or later")
        return 2
    again = ["--reconfigure"] if (BUILD / "build.ninja").exists() else []  # sources may have come
    subprocess.run(["meson", "setup", *again, BUILD], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    found = commands((BUILD / "compile_commands.json").read_text(), pattern)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        told = list(filter(None, pool.map(lambda source: ask(compiler, source, found[source]), found)))
    print("".join(told), end="")
    print(f"{len(found)} sources, {len(told)} with warnings")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
