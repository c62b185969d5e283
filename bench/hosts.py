#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several hosts on one clock: each is a network namespace of this machine with a PipeWire, a driver and a server of its
own. All are sent one score of clicks with time tags, and each notes by its driver's clock when it hears them.

--way time (the default): when each host plays the clicks, beside their time tags, with drivers that are off by --ppm.
--way voices: how many default synths the hosts have time for, beside one host alone. As all share this machine's cores,
only one host plays at a time, and its number follows from the processor time of 0 and of --voices synths.
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
from bench.stands import SYNTHDEFS as DEFAULT  # noqa: E402
from bench.stands import play_default  # noqa: E402
from tests.lib import between_hosts, hosts  # noqa: E402
from tests.lib.process import threads  # noqa: E402

TIME, VOICES = "time", "voices"
SETTLE = 20      # s that a loop between hosts is given before it is measured
WINDOW = 4       # s in which processor time is counted
FULL = 0.7       # of a core: the server's own limit (cpu-limit)
PIECE = 100      # clicks that are sent and waited for at once, so that a lost one costs no more
GAPS = (0.08, 0.12)
NONE_WHOLE = f"no piece of {PIECE} clicks came whole"


@dataclass
class Figures:
    """Of what lies between two moments, click by click; in frames. `usual` is the median, and `within` the part of the
    clicks that lie no more than a frame from it: cycles that this machine loses move others."""
    what: str
    clicks: int
    lost: int
    mean: float
    usual: float
    within: float
    deviation: float  # standard, without the drift
    least: float
    most: float
    drift: float      # from the first click to the last, of the line through all


def figures(what, seconds, frames, lost=0):
    """Of the same distance at these moments."""
    seconds, frames = np.asarray(seconds, float), np.asarray(frames, float)
    usual = float(np.median(frames))
    slope, start = np.polyfit(seconds - seconds[0], frames, 1)
    even = frames - start - slope * (seconds - seconds[0])
    return Figures(what, len(frames), lost, float(frames.mean()), usual, float((np.abs(frames - usual) <= 1).mean()), float(even.std()), float(frames.min()), float(frames.max()),
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
    if not late:
        sys.exit(NONE_WHOLE)
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
            except hosts.Lost:
                lost += 1
                continue
            times += list(passage.times / 1e9)
            latencies += list(passage.latencies())
    if not times:
        sys.exit(NONE_WHOLE)
    return [figures(f"{options.way}, from host 2 to host 1 ({options.ppm[1]:+g} and {options.ppm[0]:+g} ppm)", times, latencies, lost)]


@dataclass
class Capacity:
    """Of a host: cores that its daemon takes with no synth and with some, and the synths that FULL of a core has time for."""
    what: str
    idle: float
    playing: float
    voices: int
    capacity: float


def cores(host):
    """That the host's daemon takes."""
    def used():
        return sum(each["cpu_nsec"] for each in threads(host.daemon.pid).values())
    before, begun = used(), time.monotonic()
    time.sleep(WINDOW)
    return (used() - before) / 1e9 / (time.monotonic() - begun)


def capacity(what, host, voices):
    host.client.command("/d_loadDir", str(DEFAULT))
    idle = cores(host)
    play_default(host.client, voices)
    playing = cores(host)
    host.client.send("/g_freeAll", 0)
    host.client.sync()
    return Capacity(what, idle, playing, voices, voices_of(what, idle, playing, voices))


def voices_of(what, idle, playing, voices):
    """Synths that FULL of a core has time for, by the cores that none and `voices` of them take."""
    if playing <= idle:
        sys.exit(f"{what}: {voices} synths took no more time than none ({playing:.3f} and {idle:.3f} cores); try more --voices")
    return (FULL - idle) / (playing - idle) * voices


def measure_voices(options):
    """The first host while it is alone, then each in turn."""
    with hosts.Network() as network:
        found = []
        for number in range(options.hosts):
            network.add().start_server()
            if number == 0:
                found.append(capacity("one host alone", network.hosts[0], options.voices))
        return found + [capacity(f"host {number} of {options.hosts}", host, options.voices)
                        for number, host in enumerate(network.hosts, 1)]


def voices_table(found):
    lines = ["| | cores, no synth | cores, playing | synths | synths in 70 % of a core |", "|---" * 5 + "|"]
    lines += [f"| {each.what} | {each.idle:.3f} | {each.playing:.3f} | {each.voices} | {each.capacity:.0f} |" for each in found]
    times = sum(each.capacity for each in found[1:]) / found[0].capacity
    return "\n".join(lines) + f"\n\nAll hosts together: {times:.2f} times one alone.\n"


def markdown(found):
    lines = ["| | clicks | mean | median | within a frame of it | deviation | least | most | drift | pieces left out |", "|---" * 10 + "|"]
    lines += [f"| {each.what} | {each.clicks} | {each.mean:.2f} | {each.usual:.2f} | {100 * each.within:.1f} % | {each.deviation:.3f} | {each.least:.2f} | {each.most:.2f} | "
              f"{each.drift:+.3f} | {each.lost} |" for each in found]
    return "\n".join(lines) + f"\n\nFrames at {hosts.RATE} Hz; drift from the first click to the last; a piece has {PIECE} clicks.\n"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--way", choices=[TIME, VOICES, *between_hosts.WAYS], default=TIME)
    parser.add_argument("--hosts", type=int, default=2, help="with --way time and voices (2)")
    parser.add_argument("--voices", type=int, default=1000, help="with --way voices, at most 1000 (1000)")
    parser.add_argument("--minutes", type=float, default=10, help="10")
    parser.add_argument("--ppm", type=lambda text: [float(word) for word in text.split(",")], default=[100.0, -100.0],
                        help="how much the hosts' drivers are too fast, in turn (100,-100)")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    options = parser.parse_args()
    if options.hosts < 2 or options.hosts > 200 or len(options.ppm) < 2:
        parser.error("expected 2 to 200 hosts, and two numbers of ppm at least")
    if not 1 <= options.voices <= 1000:
        parser.error("expected 1 to 1000 voices, as a server has 1024 nodes")
    return options


def main():
    options = parse()
    reason = hosts.why_not() or (options.way in between_hosts.WAYS and between_hosts.WAYS[options.way].why_not())
    if reason:
        sys.exit(reason)
    measure = {TIME: measure_time, VOICES: measure_voices}.get(options.way, measure_way)
    found = measure(options)
    print(file=sys.stderr)
    print(voices_table(found) if options.way == VOICES else markdown(found))
    if options.json:
        options.json.write_text(json.dumps({"machine": report.machine(), "way": options.way, "minutes": options.minutes, "ppm": options.ppm,
                                            "figures": [asdict(each) for each in found]}, indent=1))


if __name__ == "__main__":
    main()
