#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What helper threads save in a daemon as a desktop runs it: its data loop and the helpers SCHED_RR. The load, which is
the walks' part of the cycles' time, of some default voices, with 1 thread and with more; or with --most how many
voices play with hardly a cycle that is cut. The servers alternate, so that a busy machine falls on all alike. Progress
goes to standard error, a Markdown table to standard output."""
import argparse
import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import medians, report  # noqa: E402
from bench.capacity import OVERLOADED  # noqa: E402
from bench.contenders import NODES, POOL_KIB  # noqa: E402
from tests.lib.audio import write_wav  # noqa: E402
from tests.lib.desktop import PRIORITY, Desktop, lacking  # noqa: E402
from tests.lib.osc import Client  # noqa: E402
from tests.lib.ports import free_port  # noqa: E402
from tests.lib.server import NodeServer  # noqa: E402

DEFAULT = ROOT / "tests/oracle/synthdefs/default.scsyndef"
RATE = 48000
GROUPS = 500_000  # their IDs begin here
SETTLE, SAMPLES, INTERVAL = 3, 8, 0.4  # s; of the load; s between them
WHOLE = 4  # s, of whose cycles …
FEW_CUTS = 0.01  # … this part may be cut, as by what else the machine does


def hurry(pid):
    """Give the helpers the data loop's priority, as RTKit does."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().startswith("scsynth-help"):
            os.sched_setscheduler(int(task.name), os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(PRIORITY))


def play_beside(session):
    """Another program, which plays to the same sink."""
    sound = session.dir / "tone.wav"
    tone = 0.1 * np.sin(2 * np.pi * 440 * np.arange(120 * RATE) / RATE)
    write_wav(sound, np.stack([tone, tone], axis=1), RATE)
    session.start(["pw-play", "--target", "test-sink", str(sound)], "tone")


class Player:
    """A server in a session, and a client of it."""

    def __init__(self, session, server, client):
        self.session, self.server, self.client = session, server, client
        self.voices = 0

    def play(self, voices, groups=False):
        """More voices, until there are that many, in a group each if `groups`; then waits for a while."""
        for number in range(self.voices, voices):
            group = GROUPS + number if groups else 0
            if groups:
                self.client.send("/g_new", group, 1, 0)
            self.client.send("/s_new", "default", 1000 + number, 0, group, "freq", 100.0 + number % 2000, "amp", 1e-5)
            if number % 200 == 199:
                time.sleep(0.02)  # the socket's buffer is finite
        self.voices = voices
        time.sleep(SETTLE)

    def count(self, what):
        """A counter among the node's properties, which are a second old at most."""
        return int(self.session.node(self.server.node_name)["info"]["props"]["scsynth." + what])


@contextmanager
def player(threads, options):
    settings = {"max-nodes": NODES, "rt-memory": POOL_KIB, "threads": threads, "overload": "none"}
    settings |= dict(each.split("=", 1) for each in options.set)
    with Desktop() as session:
        session.force_quantum(options.quantum)
        server = NodeServer(session, free_port(), settings)
        with Client(server.port) as client:
            client.wait_ready(timeout=30)
            client.command("/d_recv", DEFAULT.read_bytes())
            session.connect(server.node_name, "test-sink")
            hurry(session.daemon.pid)
            if options.beside:
                play_beside(session)
            yield Player(session, server, client)


def loads(threads, options):
    """{voices: (load, blocks of batches and lone voices that helpers have computed so far)}, in percent."""
    found = {}
    with player(threads, options) as ours:
        for voices in options.voices:
            ours.play(voices, options.groups)
            samples = []
            for _ in range(SAMPLES):
                time.sleep(INTERVAL)
                status = ours.client.status()
                samples.append(status[5])
            if status[2] != voices:
                raise RuntimeError(f"{status[2]} synths instead of {voices}")
            found[voices] = median(samples), ours.count("ahead")
    return found


def sustains(threads, options, voices):
    """Whether that many voices play for some seconds with hardly a cut."""
    try:
        with player(threads, options) as ours:
            ours.play(voices, options.groups)
            before = ours.count("cuts")
            time.sleep(WHOLE)
            few = FEW_CUTS * WHOLE * RATE / options.quantum
            well = ours.count("cuts") - before <= few and ours.client.status()[2] == voices
    except OVERLOADED:
        well = False
    print(f"{threads} threads, {voices} voices: {'well' if well else 'too many'}", file=sys.stderr, flush=True)
    return well


def table_of_most(options):
    found = {}
    for _ in range(options.runs):
        for threads in options.threads:
            number = medians.most(lambda voices, n=threads: sustains(n, options, voices), options.voices[-1])
            found.setdefault(threads, []).append(number)
    print("| threads | most voices | times as many |\n|---|---|---|")
    for threads, numbers in found.items():
        times = median(ours / alone for ours, alone in zip(numbers, found[options.threads[0]]))
        print(f"| {threads} | {', '.join(map(str, numbers))} | {times:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="of each (default: 3)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="(default: 1 2)")
    parser.add_argument("--voices", type=int, nargs="+", default=[2000, 6000, 10000], help="(default: 2000 6000 10000)")
    parser.add_argument("--quantum", type=int, default=256, help="frames (default: 256)")
    parser.add_argument("--most", action="store_true", help="how many voices play with hardly a cut, from the last of "
                        "--voices on")
    parser.add_argument("--groups", action="store_true",
                        help="each voice in a group of its own, as SuperDirt plays them")
    parser.add_argument("--set", action="append", default=[], help="a setting of the server, key=value")
    parser.add_argument("--beside", action="store_true", help="another program plays, too")
    options = parser.parse_args()
    if why := lacking():
        sys.exit(why)
    if options.most:
        print(f"{report.machine()}\n")
        table_of_most(options)
        return 0
    found = {}
    for run in range(options.runs):
        for threads in options.threads:
            for voices, (load, ahead) in loads(threads, options).items():
                found.setdefault((voices, threads), []).append(load)
                print(f"run {run + 1} of {options.runs}: {threads} threads, {voices} voices: {load:.1f} %, "
                      f"{ahead} computed ahead", file=sys.stderr, flush=True)
    print(f"{report.machine()}\n")
    print("| default voices | " + " | ".join(f"{n} thread{'s' * (n > 1)}" for n in options.threads) + " |")
    print("|---" * (1 + len(options.threads)) + "|")
    for voices in options.voices:
        cells = (", ".join(f"{load:.1f}" for load in found[voices, n]) + " %" for n in options.threads)
        print(f"| {voices} | " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
