# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether sources and tests include only what lies below them: docs/architecture.md has the order, in the table of folders.

    python3 -m tools.layers

prints each include that climbs, each folder of sources that the table lacks and each of the table's that isn't there;
the exit status is 0 when there are none."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = "docs/architecture.md"
HEADING = re.compile(r"^## The folders, bottom up")
TREES = ("src", "spa", "tests", "bench")
SUFFIXES = (".cpp", ".hpp", ".c", ".h")
# Where quoted includes are looked for, after the including file's own folder.
INCLUDE_PATHS = ("src", "spa/plugins/scsynth", "tests/engine", "tests/host", "tests")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
FOLDER = re.compile(r"`([^`]+)`")


def rows(text):
    """{folder: number of its row} of the table, from the first row down."""
    lines = iter(text.splitlines())
    for line in lines:
        if HEADING.match(line):
            break
    found, number = {}, 0
    for line in lines:
        if line.startswith("#"):
            break
        if line.startswith("|") and (folders := FOLDER.findall(line.split("|")[1])):
            number += 1
            for folder in folders:
                found[folder] = number
    return found


def sources(root):
    """The files whose includes count, as paths below the root."""
    return sorted(path.relative_to(root) for tree in TREES for path in (root / tree).rglob("*")
                  if path.suffix in SUFFIXES)


def resolve(root, source, name):
    """The file that a quoted include means, below the root, or None. One that meson makes lies where its meson.build
    does."""
    for folder in (source.parent, *map(Path, INCLUDE_PATHS)):
        path = root / folder / name
        if path.is_file() or _generated(path):
            return path.resolve().relative_to(root.resolve())
    return None


def _generated(path):
    recipe = path.parent / "meson.build"
    return recipe.is_file() and f"output : '{path.name}'" in recipe.read_text()


def problems(root):
    """What is wrong, a line each."""
    order = rows((root / TABLE).read_text())
    if not order:
        return [f"{TABLE} has no table of folders"]
    found = [f"{TABLE} names {folder}, which is no folder" for folder in order if not (root / folder).is_dir()]
    files = sources(root)
    found += [f"{folder} is not in the table of {TABLE}"
              for folder in sorted({str(path.parent) for path in files} - order.keys())]
    for source in files:
        for name in INCLUDE.findall((root / source).read_text()):
            target = resolve(root, source, name)
            if target is None:
                found.append(f'{source} includes "{name}", which is not there')
            elif _climbs(order, str(source.parent), str(target.parent)):
                found.append(f"{source} includes {target}, which is above it")
    return found


def _climbs(order, user, used):
    """Folders that the table lacks are said elsewhere."""
    return user != used and user in order and used in order and order[used] >= order[user]


def main():
    found = problems(ROOT)
    print("\n".join([*found, f"{len(found)} problems with the layers"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
