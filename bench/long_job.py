#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long clients wait for answers while a plugin computes for a minute: /status, /b_alloc, /d_recv and /b_free of
another client, one after the other, in a private daemon, beside tests/packs/pack.cpp's /pack/compute; and without it,
in turn, which says what the machine's other work does to them.

A Markdown table goes to standard output. The status is 1 when an answer beside the job took 100 ms or longer."""
import argparse
import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.hostile.test_packets import one_unit  # noqa: E402
from tests.lib.osc import Client  # noqa: E402
from tests.packs.conftest import Servers  # noqa: E402

GOAL = 0.1  # s
ITS_BUFFER, OTHER_BUFFER = 9, 10


def ask(client):
    """(what was asked for, seconds until the answer) for each of a round."""
    definition = one_unit(b"SinOsc", 2, [440, 0], [2])
    for name, request in {
            "/status": client.status,
            "/b_alloc": lambda: client.command("/b_alloc", OTHER_BUFFER, 48000),
            "/d_recv": lambda: client.command("/d_recv", definition),
            "/b_free": lambda: client.command("/b_free", OTHER_BUFFER)}.items():
        began = time.monotonic()
        request()
        yield name, time.monotonic() - began


def ask_until(ended, client, times):
    """Adds the seconds of all answers, by command, to `times`."""
    while not ended():
        for name, took in ask(client):
            times.setdefault(name, []).append(took)
        time.sleep(random.uniform(0, 0.05))  # so that requests come at any time of a cycle


def measure(seconds, parts):
    """The seconds of all answers by command: beside a job, in so many parts, and without it as long as that took."""
    beside, alone = {}, {}
    with Servers() as servers, Client(servers.ports[0], timeout=30) as client, \
            Client(servers.ports[0], timeout=30) as other:
        client.command("/b_alloc", ITS_BUFFER, 48000)
        for _ in range(parts):
            began = time.monotonic()
            client.send("/cmd", "/pack/compute", 100 * seconds // parts, ITS_BUFFER)
            client.wait("/pack/begins")
            ask_until(lambda: any(message.address == "/done" for message in client.collect(0.001)), other, beside)
            end = 2 * time.monotonic() - began
            ask_until(lambda: time.monotonic() > end, other, alone)
    return beside, alone


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="processor time of the jobs (%(default)s)")
    parser.add_argument("--parts", type=int, default=1, help="how many jobs that is (%(default)s)")
    options = parser.parse_args()
    beside, alone = measure(options.seconds, options.parts)
    print("| command | answers | median | longest | without the job: median | longest |\n|---|---|---|---|---|---|")
    for name in beside:
        each, control = sorted(beside[name]), sorted(alone[name])
        figures = " | ".join(f"{1000 * value:.1f} ms" for value in (
            each[len(each) // 2], each[-1], control[len(control) // 2], control[-1]))
        print(f"| {name} | {len(each)} | {figures} |")
    return int(max(max(each) for each in beside.values()) >= GOAL)


if __name__ == "__main__":
    sys.exit(main())
