#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten thousand OSC messages a second, in small bundles with time tags 100 ms ahead, beside 500 voices: how many are
lost and how many are late, in our node, in stock scsynth under pw-jack, and in our node among misbehaving TCP clients.

Each has a private PipeWire session and cycles of 1024 frames. Each bundle has an effect that is read back; what the
kernel dropped before the server could fetch it is counted apart. Progress goes to standard error, a Markdown table to
standard output. The status is 1 when ours lost anything or had more late bundles than scsynth."""
import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import report  # noqa: E402
from bench.stands import SINK, Ours, Silent, Stock  # noqa: E402
from tests.lib import barrage, scsynth  # noqa: E402
from tests.lib.osc import Client  # noqa: E402
from tests.lib.process import wait_for  # noqa: E402
from tests.lib.tcp_pests import CROWD, Pests  # noqa: E402
from tests.lib.xruns import count_xruns  # noqa: E402

VOICES, QUANTUM = 500, 1024
AUDIBLE = 1e-4
COUNTERS = 1.5  # s after which the node's properties have the newest figures


def measure(kind, with_pests, options):
    """(Outcome, late bundles, missed cycles) of one server."""
    with kind(options.build) as stand, stand.running(QUANTUM):
        stand.play(VOICES)
        before = late(stand)
        with Pests(stand.server.port) if with_pests else nullcontext() as pests:
            outcome = barrage.run(stand.server.port, VOICES, options.seconds)
        if pests:
            prove(pests)
        with Client(stand.server.port) as client:
            if (synths := client.status()[2]) != VOICES:
                raise RuntimeError(f"{stand.name}: {synths} of {VOICES} voices are left")
        missed = count_xruns(stand.session.env, SINK)
        if stand.level() < AUDIBLE:
            raise Silent(f"{stand.name}: nothing to hear")
        return outcome, late(stand) - before, missed


def late(stand):
    """Bundles that came after their time."""
    if isinstance(stand, Stock):
        return sum(line.startswith("late ") for line in stand.server.output().splitlines())
    seen = []

    def steady():
        seen.append(int(stand.session.node(stand.server.node_name)["info"]["props"]["scsynth.late"]))
        return len(seen) > 1 and seen[-1] == seen[-2]

    wait_for(steady, "a steady number of late bundles", interval=COUNTERS)
    return seen[-1]


def prove(pests):
    """The TCP clients did what they were for, and those who did nothing wrong were served."""
    if pests.turned_out or not (pests.answers and pests.left):
        raise RuntimeError(f"TCP clients: {pests.turned_out} turned out, {pests.answers} bytes of answers, "
                           f"{pests.left} left")
    print(f"{CROWD} TCP clients got {pests.answers} bytes; {pests.left} left in the middle, {pests.closed} that "
          "didn't read were closed", file=sys.stderr)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=30, help="of each (default: 30)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="(default: build)")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if not scsynth.available():
        parser.error("scsynth and pw-jack are not installed")
    return options


def main():
    options = parse()
    print(", ".join(f"{name} {value}" for name, value in report.machine().items()), end="\n\n")
    print("| server | bundles | lost | dropped by the kernel | late | sent late | missed cycles |")
    print("|---|---|---|---|---|---|---|")
    found = {}
    for name, kind, with_pests in (("ours", Ours, False), ("scsynth", Stock, False),
                                   ("ours, with TCP clients", Ours, True)):
        outcome, late_bundles, missed = found[name] = measure(kind, with_pests, options)
        print(f"| {name} | {outcome.bundles} | {outcome.lost} | {outcome.kernel_dropped} | {late_bundles} "
              f"| {outcome.sent_late} | {missed} |", flush=True)
    lost = any(outcome.lost for name, (outcome, _, _) in found.items() if name != "scsynth")
    return 1 if lost or found["ours"][1] > found["scsynth"][1] else 0


if __name__ == "__main__":
    sys.exit(main())
