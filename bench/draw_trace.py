#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws a cycle of each of the files that `pw-scsynth trace` has written, below each other and on the same scale: one of
median length, of those in which helpers did something if there are any. With --record the files are made first, of
80 tracks of 16 voices, each with its reverb, in a private daemon whose data loop and helpers are SCHED_RR: the first
with 1 thread, the second with 2, and so on."""
import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

WIDTH, MARGIN, LABELS = 860, 12, 90
TRACK, GAP, TITLE = 34, 8, 26  # heights
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#aa3377", "#66ccee")  # of SynthDefs
LOOKS = {"cycle": ("the rest of the cycle", "#bbbbbb"), "walk": ("the walk", "#dde6ee"),
         "awake": ("a helper that looks for work", "#f2efe0"), "wait": ("the walk waits", "#000000"),
         "signal": ("helpers are signalled", "#ff8800"), "write": ("written to buses", "#888888")}
FINEST = 0.4  # px: what is nearer is drawn as one


@dataclass(frozen=True)
class Span:
    kind: str
    name: str
    begin: float  # µs
    end: float

    def within(self, begin, end):
        """What of it is between these; None if nothing is."""
        first, last = max(self.begin, begin), min(self.end, end)
        return Span(self.kind, self.name, first, last) if last > first else None


def read(text):
    """{name of a thread: its spans, outer ones first}, of what such a file holds."""
    events = json.loads(text)["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    tracks = {name: [] for name in names.values()}
    for event in events:
        if event["ph"] == "X":
            tracks[names[event["tid"]]].append(
                Span(event["cat"], event["name"], event["ts"], event["ts"] + event["dur"]))
    return tracks


def typical_cycle(tracks):
    """(begin, end)"""
    owner, *helpers = tracks.values()
    cycles = [span for span in owner if span.kind == "cycle"]
    begins = sorted(span.begin for spans in helpers for span in spans if span.kind == "job")
    helped = [cycle for cycle in cycles if any(cycle.begin <= begin < cycle.end for begin in begins)] if begins else []
    found = sorted(helped or cycles, key=lambda span: span.end - span.begin)
    if not found:
        raise ValueError("there is no cycle in it")
    middle = found[len(found) // 2]
    return middle.begin, middle.end


def joined(spans, finest):
    """Neighbours that look alike and are no further apart than that, as one."""
    made = []
    for span in spans:
        if made and (made[-1].kind, made[-1].name) == (span.kind, span.name) and span.begin - made[-1].end < finest:
            made[-1] = Span(span.kind, span.name, made[-1].begin, max(span.end, made[-1].end))
        else:
            made.append(span)
    return made


def svg(traces, footer=""):
    """The picture of [(title, tracks)]."""
    cycles = [typical_cycle(tracks) for _, tracks in traces]
    longest = max(end - begin for begin, end in cycles)
    scale = (WIDTH - LABELS - 2 * MARGIN) / longest
    colours, kinds, body, y = {}, {}, [], MARGIN
    for (title, tracks), (begin, end) in zip(traces, cycles):
        body.append(_text(MARGIN, y + 16, f"{title}: {end - begin:.0f} µs", 'font-weight="bold"'))
        y += TITLE
        for name, spans in tracks.items():
            body += [_text(MARGIN, y + TRACK / 2 + 4, name),
                     f'<rect x="{MARGIN + LABELS}" y="{y}" width="{WIDTH - LABELS - 2 * MARGIN}" height="{TRACK}" '
                     'fill="#f8f8f8"/>']
            seen = [part for span in spans if (part := span.within(begin, end))]
            for span in joined([span for span in seen if span.kind not in ("job", "signal")], 0) + joined(
                    [span for span in seen if span.kind in ("job", "signal")], FINEST / scale):
                if span.kind == "job":
                    colour = colours.setdefault(span.name, COLOURS[len(colours) % len(COLOURS)])
                else:
                    colour = kinds.setdefault(span.kind, LOOKS[span.kind][1])
                inset = 0 if span.kind in ("cycle", "walk", "awake") else 5
                body.append(f'<rect x="{MARGIN + LABELS + (span.begin - begin) * scale:.2f}" y="{y + inset}" '
                            f'width="{max((span.end - span.begin) * scale, 0.3):.2f}" height="{TRACK - 2 * inset}" '
                            f'fill="{colour}"/>')
            y += TRACK + GAP
        y += GAP
    body += _scale(y, longest, scale)
    y += 30
    x = MARGIN
    for text, colour in [*colours.items(), *((LOOKS[kind][0], colour) for kind, colour in kinds.items())]:
        if x + 26 + 6.5 * len(text) > WIDTH:
            x, y = MARGIN, y + 20
        body += [f'<rect x="{x}" y="{y}" width="12" height="12" fill="{colour}"/>', _text(x + 17, y + 11, text)]
        x += 34 + 6.5 * len(text)
    if footer:
        y += 26
        body.append(_text(MARGIN, y + 11, footer, 'fill="#555"'))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 24}" width="{WIDTH}" height="{y + 24}" '
        'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>',
        *body, "</svg>"]) + "\n"


def _text(x, y, text, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(text)}</text>'


def _scale(y, longest, scale):
    step = next(step for power in range(9) for step in (10 ** power, 2 * 10 ** power, 5 * 10 ** power)
                if longest / step <= 12)
    marks = []
    for number in range(int(longest / step) + 1):
        x = MARGIN + LABELS + number * step * scale
        marks += [f'<path d="M{x:.1f} {y - GAP}v5" stroke="#555"/>',
                  _text(x, y + 10, f"{number * step}" + " µs" * (number == 0), 'text-anchor="middle" fill="#555"')]
    return marks


def record(file, threads, quantum, seconds):
    """Write a trace of a server of its own. The recording is repeated, until helpers have had something to do."""
    # What needs more than Python alone.
    from bench.contenders import NODES, POOL_KIB
    from bench.daemon_threads import hurry
    from bench.parallel import tracks
    from tests.lib.build import PW_SCSYNTH
    from tests.lib.desktop import Desktop, lacking
    from tests.lib.osc import Client
    from tests.lib.ports import free_port
    from tests.lib.server import NodeServer
    if why := lacking():
        sys.exit(why)
    settings = {"max-nodes": NODES, "rt-memory": POOL_KIB, "threads": threads, "overload": "none"}
    with Desktop() as session:
        session.force_quantum(quantum)
        server = NodeServer(session, free_port(), settings)
        with Client(server.port) as client:
            client.wait_ready(timeout=30)
            for _, *messages in tracks(80, 16):
                for name, *arguments in messages:
                    client.send(name, *arguments)
                client.sync()
            session.connect(server.node_name, "test-sink")
            hurry(session.daemon.pid)
            time.sleep(3)
            for _ in range(20):
                subprocess.run([PW_SCSYNTH, "trace", "-u", str(server.port), "-o", file, "--seconds", str(seconds)],
                               check=True, stdout=sys.stderr)
                helpers = list(read(file.read_text(encoding="utf-8")).values())[1:]
                if all(any(span.kind == "job" for span in spans) for spans in helpers):
                    return
    sys.exit(f"with {threads} threads, helpers do nothing here")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="IN.json")
    parser.add_argument("out", type=Path, metavar="OUT.svg")
    parser.add_argument("--record", action="store_true", help="make the files first")
    parser.add_argument("--quantum", type=int, default=128, help="frames, with --record (default: 128)")
    parser.add_argument("--seconds", type=float, default=1, help="of each recording (default: 1)")
    options = parser.parse_args()
    footer = ""
    if options.record:
        from bench import report
        footer = report.machine()["CPU"]
        for number, file in enumerate(options.files):
            record(file, number + 1, options.quantum, options.seconds)
    traces = []
    for file in options.files:
        tracks = read(file.read_text(encoding="utf-8"))
        traces.append((f"{len(tracks)} thread{'s' * (len(tracks) > 1)}", tracks))
    options.out.write_text(svg(traces, footer), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
