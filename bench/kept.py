#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long it takes until what a server had is back: 200 nodes and 500 MB of buffers in a private daemon, after a UGen
broke the engine, and after the daemon was killed. Seconds until the server answers with all nodes and the last sample of
the last buffer: from the command that breaks it, and from the moment in which the next daemon was started. With --cost:
what keeping costs beside scsynth.keep = none while 2000 synths play and something changes twenty times a second, in
processor time of the daemon's threads. A Markdown table goes to standard output; the status is 1 if something isn't
back."""
import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import report  # noqa: E402
from tests.hostile.conftest import SINE  # noqa: E402
from tests.hostile.test_packets import one_unit  # noqa: E402
from tests.lib.build import BUILD  # noqa: E402
from tests.lib.daemon import Session  # noqa: E402
from tests.lib.osc import Client  # noqa: E402
from tests.lib.ports import free_port  # noqa: E402
from tests.lib.process import wait_for  # noqa: E402

GROUPS, SYNTHS, BUFFERS, FRAMES = 10, 190, 10, 13_107_200  # 524 MB in all
MANY, COST_SECONDS = 2000, 10
SETTLED = 11  # s, after which what breaks isn't taken for what came back


class Piece:
    """A session whose daemon loads the server, and what plays there."""

    def __init__(self, folder):
        self.port = free_port()
        self.kept = Path(tempfile.mkdtemp(prefix="scs-kept-", dir="/dev/shm"))
        for plugin in ("IOUGens", "OscUGens", "BinaryOpUGens"):
            (folder / f"{plugin}.so").symlink_to(f"/usr/lib/SuperCollider/plugins/{plugin}.so")
        (folder / "misbehaving.so").symlink_to(BUILD / "tests/hostile/misbehaving.so")
        args = f'scsynth.osc.port = {self.port} scsynth.ugen-path = "{folder}" scsynth.keep-path = "{self.kept}"'
        self.session = Session(modules=[f"{{ name = libpipewire-module-scsynth args = {{ {args} }} }}"])

    def __enter__(self):
        self.session.__enter__()
        self.client = Client(self.port, timeout=30)
        self.client.wait_ready()
        return self

    def __exit__(self, *_):
        self.client.close()
        self.session.close()
        shutil.rmtree(self.kept)

    def play(self):
        self.client.command("/d_recv", SINE.read_bytes())
        self.client.command("/d_recv", one_unit(b"Scribble", 2, [], [2]))
        for group in range(GROUPS):
            self.client.send("/g_new", 10 + group, 1, 0)
        for synth in range(SYNTHS):
            self.client.send("/s_new", "test_sine", 1000 + synth, 1, 10 + synth % GROUPS, "amp", 0.001)
        for buffer in range(BUFFERS):
            self.client.command("/b_alloc", buffer, FRAMES)
        self.client.send("/b_set", BUFFERS - 1, FRAMES - 1, 0.5)
        self.client.sync()
        state = self.kept / "state"
        before = state.stat().st_mtime_ns if state.exists() else 0
        wait_for(lambda: state.exists() and state.stat().st_mtime_ns != before, "a copy", timeout=30)

    def all_back(self):
        """Waits for the answers."""
        nodes = self.client.request("/g_queryTree", 0, 0, reply="/g_queryTree.reply").args[1:]
        sample = self.client.request("/b_get", BUFFERS - 1, FRAMES - 1, reply="/b_set").args[2]
        return nodes.count("test_sine") == SYNTHS and sample == 0.5

    def break_engine(self):
        began = time.monotonic()
        self.client.send("/s_new", "evil", 5000, 0, 0)
        for group in range(100):  # the memory that it has written over is used
            self.client.send("/g_new", 20000 + group, 0, 0)
        wait_for(lambda: "it starts again" in self.session.daemon.output(), "the engine to break", interval=0.001)
        back = self.all_back()
        return time.monotonic() - began if back else None

    def kill(self):
        self.session.stop_daemons(signal.SIGKILL)
        began = time.monotonic()
        self.session.start_daemons()
        self.client.wait_ready()
        back = self.all_back()
        return time.monotonic() - began if back else None


def threads_seconds(pid):
    """{name of a thread: its processor time in seconds}"""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        name, _, rest = (task / "stat").read_text().partition("(")[2].rpartition(")")
        ticks = rest.split()[11:13]
        found[name] = found.get(name, 0) + sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return found


def cost(keep):
    """{name of a thread: its share of a core} while many synths play and one is set now and then."""
    port = free_port()
    args = f"scsynth.osc.port = {port} scsynth.keep = {keep} scsynth.max-nodes = 4096"
    with Session(modules=[f"{{ name = libpipewire-module-scsynth args = {{ {args} }} }}"]) as session, \
            Client(port, timeout=30) as client:
        client.wait_ready()
        client.command("/d_recv", SINE.read_bytes())
        for synth in range(MANY):
            client.send("/s_new", "test_sine", 1000 + synth, 1, 0, "amp", 0.0001)
            if synth % 100 == 99:
                client.sync()
        time.sleep(1)
        before, began = threads_seconds(session.daemon.pid), time.monotonic()
        while time.monotonic() < began + COST_SECONDS:
            client.send("/n_set", 1000, "amp", 0.0001)
            time.sleep(0.05)
        after, took = threads_seconds(session.daemon.pid), time.monotonic() - began
    return {name: (seconds - before.get(name, 0)) / took for name, seconds in after.items()}


def print_costs(runs):
    kinds = ("none", "all")
    found = {keep: [] for keep in kinds}
    for run in range(runs):
        for keep in kinds:
            print(f"keep = {keep}: {run + 1} of {runs}", file=sys.stderr)
            found[keep].append(cost(keep))
    print("| thread | " + " | ".join(f"keep = {keep}" for keep in kinds) + " |\n|---|---|---|")
    for name in ("pipewire", "scsynth-osc", "scsynth-worker"):
        print(f"| {name} | " + " | ".join(
            f"{100 * median(each.get(name, 0) for each in found[keep]):.1f} %" for keep in kinds) + " |")


def measure(end):
    with tempfile.TemporaryDirectory() as folder, Piece(Path(folder)) as piece:
        piece.play()
        time.sleep(SETTLED)
        return end(piece)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="of each (default: 3)")
    parser.add_argument("--cost", action="store_true", help="what keeping costs")
    options = parser.parse_args()
    runs = options.runs
    print(report.machine(), end="\n\n")
    if options.cost:
        print_costs(runs)
        return 0
    print("| what happens | back after, median (all) |\n|---|---|")
    lost = False
    for name, end in (("a UGen breaks the engine", Piece.break_engine), ("the daemon is killed", Piece.kill)):
        times = []
        for run in range(runs):
            print(f"{name}: {run + 1} of {runs}", file=sys.stderr)
            times.append(measure(end))
        lost |= None in times
        there = [each for each in times if each is not None]
        all_times = ", ".join("lost" if each is None else f"{1000 * each:.0f}" for each in times)
        print(f"| {name} | {1000 * median(there):.0f} ms ({all_times}) |" if there else f"| {name} | lost |")
    return int(lost)


if __name__ == "__main__":
    sys.exit(main())
