# SPDX-License-Identifier: GPL-3.0-or-later
"""The table in docs/compatibility.md: a column a system, written by ./check matrix."""
from tools.runs import ROOT

FILE = ROOT / "docs/compatibility.md"
EMPTY = "|"


def write(system, versions, stages, file=FILE):
    """Put what was found in a system into its column, which is added if there is none."""
    lines = file.read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(EMPTY))
    last = next((number for number in range(first, len(lines)) if not lines[number].startswith("|")), len(lines))
    header, _, *body = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines[first:last]]
    table = {row[0]: dict(zip(header[1:], row[1:])) for row in body}
    systems = sorted({*header[1:], system} - {""})
    for key, value in (versions | stages).items():
        table.setdefault(key, {})[system] = value
    rows = ["| | " + " | ".join(systems) + " |", "|---" * (len(systems) + 1) + "|"]
    rows += [f"| {key} | " + " | ".join(cells.get(each, "") for each in systems) + " |" for key, cells in table.items()]
    file.write_text("\n".join([*lines[:first], *rows, *lines[last:]]) + "\n")
