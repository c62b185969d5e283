# SPDX-License-Identifier: GPL-3.0-or-later
"""The results as a Markdown table and as a picture."""
import os
import platform
import re
import subprocess
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path


@dataclass
class Row:
    measure: str
    source: str     # the test source inside the daemon
    ours: str
    scsynth: str
    result: str     # what is compared with the target
    target: str
    met: bool | None = None


def machine():
    """What the figures depend on, by name."""
    model = re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.M)
    return {
        "CPU": model.group(1) if model else platform.machine(),
        "cores": os.cpu_count(),
        "Linux": platform.release(),
        "PipeWire": _version(["pipewire", "--version"], r"Linked with libpipewire ([\d.]+)"),
        "SuperCollider": _version(["scsynth", "-v"], r"scsynth ([\d.]+)"),
    }


def core_distance(build):
    """ns of a round trip between two cores. Virtual ones come to lie now nearer to each other, now farther, so what
    threads that work together gain changes with that."""
    told = subprocess.run([build / "bench/core-distance"], capture_output=True, text=True, check=True).stdout
    return int(told.split()[0])


def markdown(setup, rows):
    lines = [", ".join(f"{name} {value}" for name, value in setup.items()), "",
             "| | source | ours | scsynth | result | target | |", "|---|---|---|---|---|---|---|"]
    lines += [f"| {row.measure} | {row.source} | {row.ours} | {row.scsynth} | {row.result} "
              f"| {row.target} | {_verdict(row.met)} |" for row in rows]
    return "\n".join(lines) + "\n"


def as_json(setup, rows, details):
    return {"machine": setup, "rows": [asdict(row) for row in rows], "details": details}


def svg(title, bars):
    """A bar for each (label, value, text), scsynth's being 1."""
    height, top, left, full = 24, 30, 230, 320
    most = max(1.0, *(value for _, value, _ in bars))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + full + 90}" '
             f'height="{top + height * len(bars) + 10}" font-family="sans-serif" font-size="13">',
             f'<text x="8" y="18">{escape(title)}</text>']
    for index, (label, value, text) in enumerate(bars):
        y, width = top + index * height, full * value / most
        parts += [f'<text x="8" y="{y + 15}">{escape(label)}</text>',
                  f'<rect x="{left}" y="{y + 3}" width="{width:.1f}" height="16" fill="#47a"/>',
                  f'<text x="{left + width + 6:.1f}" y="{y + 15}">{escape(text)}</text>']
    one = left + full / most
    parts.append(f'<path d="M{one:.1f} {top - 4}V{top + height * len(bars)}" stroke="#c33"/></svg>')
    return "\n".join(parts) + "\n"


def _verdict(met):
    return {None: "", True: "met", False: "**missed**"}[met]


def _version(command, pattern):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(pattern, done.stdout + done.stderr)
    return found.group(1) if found else "?"
