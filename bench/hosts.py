#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several hosts on one clock: each is a network namespace of this machine with a PipeWire, a driver and a server of its
own. All are sent one score of clicks with time tags, and each notes by its driver's clock when it hears them.

--way time (the default): when each host plays the clicks, beside their time tags, with drivers that are off by --ppm.
Other ways, which are folders of conf/several-machines: sound goes from the second of two hosts to the first, and how long
it takes is measured, click by click.

Progress goes to standard error, a Markdown table to standard output, everything to --json. Network namespaces need root."""
import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import report  # noqa: E402
from tests.lib import between_hosts, hosts  # noqa: E402

TIME = "time"
SETTLE = 20      # s that a loop between hosts is given before it is measured
PIECE = 100      # clicks that are sent and waited for at once, so that a lost one costs no more
GAPS = (0.08, 0.12)


@dataclass
class Figures:
    """Of what lies between two moments, click by click; in frames."""
    what: str
    clicks: int
    lost: int
    mean: float
    deviation: float  # standard, without the drift
    least: float
    most: float
    drift: float      # from the first click to the last, of the line through all


def figures(what, seconds, frames, lost=0):
    """Of the same distance at these moments."""
    seconds, frames = np.asarray(seconds, float), np.asarray(frames, float)
    slope, start = np.polyfit(seconds - seconds[0], frames, 1)
    even = frames - start - slope * (seconds - seconds[0])
    return Figures(what, len(frames), lost, float(frames.mean()), float(even.std()), float(frames.min()), float(frames.max()),
                   float(slope * (seconds[-1] - seconds[0])))


def pieces(minutes):
    """Seeds, until the time is over."""
    end, seed = time.monotonic() + 60 * minutes, 1
    while time.monotonic() < end:
        print(f"\r{max(0, end - time.monotonic()):.0f} s to go ", end="", file=sys.stderr, flush=True)
        yield seed
        seed += 1


def measure_time(options):
    """Figures of each host, and of the first beside each other."""
    ppm = [options.ppm[number % len(options.ppm)] for number in range(options.hosts)]
    times, late, lost = [], [], 0
    with hosts.Network() as network:
        for number, each in enumerate(ppm):
            host = network.add(ppm=each, ahead=1000 * number)
            host.start_server()
            host.client.command("/d_loadDir", str(hosts.SYNTHDEFS))
        for seed in pieces(options.minutes):
            before = [host.heard.count() for host in network.hosts]
            sent = hosts.send_clicks(network.hosts, PIECE, seed, GAPS)
            time.sleep(0.5)
            heard = [host.heard.since(old) for host, old in zip(network.hosts, before)]
            if any(len(clicks) != PIECE for clicks in heard):
                lost += 1
                continue
            times += list(sent / 1e9)
            late.append([[(click.wall - moment) / 1e9 * hosts.RATE for click, moment in zip(clicks, sent)] for clicks in heard])
    late = np.concatenate(late, axis=1)
    found = [figures(f"host {number + 1} ({off:+g} ppm), beside the time tag", times, frames, lost)
             for number, (off, frames) in enumerate(zip(ppm, late))]
    return found + [figures(f"host {number + 1}, beside host 1", times, late[number] - late[0], lost)
                    for number in range(1, options.hosts)]


def measure_way(options):
    times, latencies, lost = [], [], 0
    with between_hosts.Pair(between_hosts.WAYS[options.way], options.ppm[:2]) as pair:
        time.sleep(SETTLE)
        for seed in pieces(options.minutes):
            try:
                passage = pair.play(PIECE, seed, GAPS)
            except between_hosts.Lost:
                lost += 1
                continue
            times += list(passage.times / 1e9)
            latencies += list(passage.latencies())
    return [figures(f"{options.way}, from host 2 to host 1 ({options.ppm[1]:+g} and {options.ppm[0]:+g} ppm)", times, latencies, lost)]


def markdown(found):
    lines = ["| | clicks | mean | deviation | least | most | drift | pieces left out |", "|---" * 8 + "|"]
    lines += [f"| {each.what} | {each.clicks} | {each.mean:.2f} | {each.deviation:.3f} | {each.least:.2f} | {each.most:.2f} | "
              f"{each.drift:+.3f} | {each.lost} |" for each in found]
    return "\n".join(lines) + f"\n\nFrames at {hosts.RATE} Hz; drift from the first click to the last; a piece has {PIECE} clicks.\n"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--way", choices=[TIME, *between_hosts.WAYS], default=TIME)
    parser.add_argument("--hosts", type=int, default=2, help="with --way time (2)")
    parser.add_argument("--minutes", type=float, default=10, help="10")
    parser.add_argument("--ppm", type=lambda text: [float(word) for word in text.split(",")], default=[100.0, -100.0],
                        help="how much the hosts' drivers are too fast, in turn (100,-100)")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    options = parser.parse_args()
    if options.hosts < 2 or options.hosts > 200 or len(options.ppm) < 2:
        parser.error("expected 2 to 200 hosts, and two numbers of ppm at least")
    return options


def main():
    options = parse()
    reason = hosts.why_not() or (options.way != TIME and between_hosts.WAYS[options.way].why_not())
    if reason:
        sys.exit(reason)
    found = measure_time(options) if options.way == TIME else measure_way(options)
    print(file=sys.stderr)
    print(markdown(found))
    if options.json:
        options.json.write_text(json.dumps({"machine": report.machine(), "way": options.way, "minutes": options.minutes,
                                            "figures": [asdict(each) for each in found]}, indent=1))


if __name__ == "__main__":
    main()
