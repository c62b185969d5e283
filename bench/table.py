# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of bench/voices.py: a row for each measure, a column for each contender. Pure functions."""
from dataclasses import asdict, dataclass, field


@dataclass
class Cell:
    value: float | None         # None: there is none, and the text says why
    text: str
    times: float | None = None  # less than scsynth costs, or more than it manages


@dataclass
class Target:
    """What one contender is to reach: at least that many times better, or at most this value."""
    contender: str
    times: float | None = None
    value: float | None = None

    def met(self, cell):
        if cell.value is None:
            return False
        if self.times is not None:
            return cell.times is not None and cell.times >= self.times
        return cell.value <= self.value

    def __str__(self):
        wanted = f"{self.times:g}×" if self.times is not None else f"≤ {self.value:g}"
        return f"{self.contender}: {wanted}"


@dataclass
class Row:
    measure: str
    cells: dict  # {contender's name: Cell}
    targets: list = field(default_factory=list)

    def verdicts(self):
        """[(target, met)] of the contenders that were measured."""
        return [(target, target.met(self.cells[target.contender]))
                for target in self.targets if target.contender in self.cells]


def markdown(names, rows):
    lines = [f"| measure | {' | '.join(names)} | to reach |", "|---" * (len(names) + 2) + "|"]
    for row in rows:
        verdicts = "; ".join(f"{target} {'met' if met else '**missed**'}" for target, met in row.verdicts())
        cells = " | ".join(_shown(row.cells.get(name)) for name in names)
        lines.append(f"| {row.measure} | {cells} | {verdicts} |")
    return "\n".join(lines) + "\n"


def as_json(rows):
    return [asdict(row) | {"met": {str(target): met for target, met in row.verdicts()}} for row in rows]


def _shown(cell):
    if cell is None:
        return ""
    return cell.text + (f" ({cell.times:.2f}×)" if cell.times is not None else "")
