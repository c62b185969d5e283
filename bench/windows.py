# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows of steady work, interleaved, so that what else the machine does falls on all alike."""
import time
from dataclasses import dataclass, field
from statistics import median

from bench.stands import SINK, Silent
from tests.lib import process
from tests.lib.xruns import quantum_of

AUDIBLE = 1e-4


@dataclass
class Window:
    """What the counted processes did, a second."""
    switches: float
    cpu: float
    threads: dict = field(default_factory=dict)


def sample(pids):
    return {(pid, tid): info for pid in pids for tid, info in process.threads(pid).items()}


def difference(before, after, seconds):
    """The Window between two samples. A thread that is new counts from zero."""
    threads, switches, nsec = {}, 0, 0
    for key, info in after.items():
        old = before.get(key, {"voluntary_switches": 0, "cpu_nsec": 0})
        switched = info["voluntary_switches"] - old["voluntary_switches"]
        worked = info["cpu_nsec"] - old["cpu_nsec"]
        switches, nsec = switches + switched, nsec + worked
        threads[f"{info['name']} {key[0]}/{key[1]}"] = {
            "switches": switched / seconds, "cpu": worked / 1e9 / seconds}
    return Window(switches / seconds, nsec / 1e9 / seconds, threads)


def measure(stand, quantum, synths, seconds, settle):
    """One window of a stand, after which it has to prove that it played, in such cycles."""
    with stand.running(quantum):
        stand.play(synths)
        time.sleep(settle)
        start, before = time.monotonic(), sample(stand.pids())
        time.sleep(seconds)
        after, end = sample(stand.pids()), time.monotonic()
        _prove(stand, quantum, synths)
    return difference(before, after, end - start)


def interleaved(stands, quantum, synths, count, options, say):
    """{stand's name: [Window, …]}, `count` of each: a b c a b c …"""
    found = {stand.name: [] for stand in stands}
    for number in range(count):
        for stand in stands:
            window = measure(stand, quantum, synths, options.seconds, options.settle)
            found[stand.name].append(window)
            say(f"quantum {quantum}, {synths} synths, window {number + 1} of {count}: "
                f"{stand.name} {window.switches:.0f} switches/s, {100 * window.cpu:.2f} % CPU")
    return found


def medians(windows, what):
    return {name: median(getattr(window, what) for window in each) for name, each in windows.items()}


def ratio(windows, what, above, below):
    """The median of the ratios of neighbouring windows."""
    return median(getattr(a, what) / getattr(b, what)
                  for a, b in zip(windows[above], windows[below]))


def _prove(stand, quantum, synths):
    running = quantum_of(stand.session.env, SINK)
    if running != quantum:
        raise Silent(f"{stand.name}: cycles of {running} frames instead of {quantum}")
    if not synths:
        stand.play(1)
    level = stand.level()
    if level < AUDIBLE:
        raise Silent(f"{stand.name}: nothing to hear ({level:g}) with {synths or 1} synths")
