# SPDX-License-Identifier: GPL-3.0-or-later
"""What fuzz targets have found interesting, kept in the repository: a zip file for each in tests/fuzz-corpus.
`python3 -m tools.fuzz_corpus TARGET…` reduces what has grown in the build folder, and packs it."""
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tools.runs import ROOT

FOLDER = ROOT / "tests/fuzz-corpus"
MOST_BYTES = 600_000  # of a file; there are three
_EPOCH = (1980, 1, 1, 0, 0, 0)  # so that the same inputs make the same file


def unpack(packed, folder):
    """Write the inputs of a zip file into a folder. Without the file there are none."""
    folder.mkdir(parents=True, exist_ok=True)
    if packed.exists():
        with zipfile.ZipFile(packed) as archive:
            archive.extractall(folder)


def pack(folder, packed, most=MOST_BYTES):
    """Put the inputs of a folder into a zip file of at most that many bytes, the shortest first. Returns how many."""
    inputs = sorted({path.read_bytes() for path in folder.iterdir() if path.is_file()}, key=lambda each: (len(each), each))
    packed.parent.mkdir(exist_ok=True)
    count = len(inputs)
    while True:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for each in inputs[:count]:
                archive.writestr(zipfile.ZipInfo(hashlib.sha1(each).hexdigest(), _EPOCH), each, zipfile.ZIP_DEFLATED)
        if packed.stat().st_size <= most or count == 0:
            return count
        count = count * 9 // 10


def reduce(target, *grown):
    """The fewest inputs of these folders that reach what all of them reach; a folder that the caller removes."""
    folder = Path(tempfile.mkdtemp(prefix=f"{target.name}-"))
    subprocess.run([target, "-merge=1", "-timeout=10", "-rss_limit_mb=2048", folder, *grown], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder


def main(targets):
    for name in targets:
        target = next(path for path in (ROOT / "build-clang").rglob(name) if path.is_file() and os.access(path, os.X_OK))
        reduced = reduce(target, target.parent / f"{name}.corpus")
        count = pack(reduced, FOLDER / f"{name}.zip")
        for path in reduced.iterdir():
            path.unlink()
        reduced.rmdir()
        print(f"{name}: {count} inputs, {(FOLDER / f'{name}.zip').stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
