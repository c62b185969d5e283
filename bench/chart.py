# SPDX-License-Identifier: GPL-3.0-or-later
"""Bars, lines and histograms as one SVG picture. Pure functions over labels and numbers."""
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, MARGIN, LABELS, VALUES = 860, 12, 170, 130
_BAR, _TITLE, _PLOT = 20, 30, 260
_HISTOGRAM, _BINS = 36, 20  # height; bins for each tenfold
_COLOURS = ("#777777", "#b07aa1", "#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377")


@dataclass
class Bars:
    """A bar for each (name, value, text); the longest fills the width."""
    title: str
    bars: list


@dataclass
class Lines:
    """A line for each name: {name: [(x, y), …]}; a point whose y is None is left out."""
    title: str
    x_label: str
    lines: dict


@dataclass
class Histograms:
    """Below each other, a histogram for each name: {name: [value, …]}, above 0. Both axes are logarithmic. A line marks
    the average, and a dot the greatest."""
    title: str
    unit: str
    rows: dict


def svg(heading, footer, parts):
    """The parts below each other. A name has the same colour in all of them."""
    colours = _colours(parts)
    body, y = [_text(MARGIN, 22, heading, 'font-size="16"')], 40
    for part in parts:
        drawn, height = _DRAW[type(part)](part, y, colours)
        body += drawn
        y += height
    body.append(_text(MARGIN, y + 14, footer, 'fill="#555"'))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 24}" width="{WIDTH}" height="{y + 24}" '
        'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>',
        *body, "</svg>"]) + "\n"


def ticks(most, count=5):
    """Round numbers from 0 up to at least `most`, about `count` of them."""
    rough = most / count
    power = 10 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * (1 - 1e-9))
    found = [0]
    while found[-1] < most * (1 - 1e-9):
        found.append(round(found[-1] + step, 12))
    return found


def _colours(parts):
    names = {}
    for part in parts:
        for name in _names(part):
            names.setdefault(name, _COLOURS[len(names) % len(_COLOURS)])
    return names


def _names(part):
    return [bar[0] for bar in part.bars] if isinstance(part, Bars) else getattr(part, "lines", None) or part.rows


def _text(x, y, text, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(text)}</text>'


def _bars(part, top, colours):
    full = WIDTH - LABELS - VALUES - MARGIN
    longest = max((value for _, value, _ in part.bars), default=0) or 1
    drawn = [_text(MARGIN, top + 18, part.title, 'font-weight="bold"')]
    for index, (name, value, text) in enumerate(part.bars):
        y, width = top + _TITLE + index * _BAR, full * value / longest
        drawn += [_text(MARGIN, y + 12, name),
                  f'<rect x="{LABELS}" y="{y}" width="{width:.1f}" height="{_BAR - 4}" fill="{colours[name]}"/>',
                  _text(LABELS + width + 6, y + 12, text)]
    return drawn, _TITLE + _BAR * len(part.bars) + 12


def _lines(part, top, colours):
    points = [point for line in part.lines.values() for point in line if point[1] is not None]
    drawn = [_text(MARGIN, top + 18, part.title, 'font-weight="bold"')]
    if not points:
        return drawn, _TITLE
    left, right, base = 60, WIDTH - LABELS - 40, top + _TITLE + _PLOT
    across, up = ticks(max(x for x, _ in points)), ticks(max(y for _, y in points) or 1)

    def place(x, y):
        return left + (right - left) * x / across[-1], base - _PLOT * y / up[-1]

    for x in across:
        at = place(x, 0)[0]
        drawn += [f'<path d="M{at:.1f} {top + _TITLE}V{base}" stroke="#ddd"/>',
                  _text(at, base + 16, f"{x:g}", 'text-anchor="middle"')]
    for y in up:
        at = place(0, y)[1]
        drawn += [f'<path d="M{left} {at:.1f}H{right}" stroke="#ddd"/>',
                  _text(left - 6, at + 4, f"{y:g}", 'text-anchor="end"')]
    drawn.append(_text((left + right) / 2, base + 32, part.x_label, 'text-anchor="middle"'))
    for index, (name, line) in enumerate(part.lines.items()):
        placed = [place(x, y) for x, y in line if y is not None]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colours[name]}" stroke-width="2"/>')
        drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colours[name]}"/>' for x, y in placed]
        y = top + _TITLE + 10 + 18 * index
        drawn += [f'<rect x="{right + 14}" y="{y - 9}" width="12" height="10" fill="{colours[name]}"/>',
                  _text(right + 32, y, name)]
    return drawn, _TITLE + max(_PLOT + 36, 18 * len(part.lines)) + 16


def binned(values):
    """{number of a bin: how many of the values}; bin n begins at 10 ** (n / _BINS)."""
    counts = {}
    for value in values:
        number = floor(log10(value) * _BINS)
        counts[number] = counts.get(number, 0) + 1
    return counts


def _histograms(part, top, colours):
    rows = {name: binned(values) for name, values in part.rows.items() if len(values)}
    drawn = [_text(MARGIN, top + 18, part.title, 'font-weight="bold"')]
    if not rows:
        return drawn, _TITLE
    low = floor(min(min(counts) for counts in rows.values()) / _BINS)
    high = ceil((max(max(counts) for counts in rows.values()) + 1) / _BINS)
    most = log10(1 + max(max(counts.values()) for counts in rows.values()))
    left, right, base = LABELS + 20, WIDTH - MARGIN - 10, top + _TITLE + _HISTOGRAM * len(rows)

    def across(exponent):
        return left + (right - left) * (exponent - low) / (high - low)

    for exponent in range(low, high + 1):
        drawn += [f'<path d="M{across(exponent):.1f} {top + _TITLE}V{base}" stroke="#ddd"/>',
                  _text(across(exponent), base + 16, f"{10.0 ** exponent:g}", 'text-anchor="middle"')]
    drawn.append(_text((left + right) / 2, base + 32, part.unit, 'text-anchor="middle"'))
    for index, (name, counts) in enumerate(rows.items()):
        bottom = top + _TITLE + _HISTOGRAM * (index + 1)
        values = part.rows[name]
        drawn += [_text(MARGIN, bottom - 6, name), f'<path d="M{left} {bottom}H{right}" stroke="#ddd"/>']
        steps = "".join(f"M{across(number / _BINS):.1f} {bottom}v{-(_HISTOGRAM - 6) * log10(1 + count) / most:.1f}"
                        f"H{across((number + 1) / _BINS):.1f}V{bottom}z" for number, count in sorted(counts.items()))
        drawn.append(f'<path d="{steps}" fill="{colours[name]}"/>')
        average = across(log10(sum(values) / len(values)))
        drawn += [f'<path d="M{average:.1f} {bottom}v{4 - _HISTOGRAM}" stroke="black"/>',
                  f'<circle cx="{across(log10(max(values))):.1f}" cy="{bottom - 3}" r="3" fill="black"/>']
    return drawn, _TITLE + _HISTOGRAM * len(rows) + 50


_DRAW = {Bars: _bars, Lines: _lines, Histograms: _histograms}
