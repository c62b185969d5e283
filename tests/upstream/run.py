#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""SuperCollider's own server tests, in stock sclang, with our server and with stock scsynth.

The suite is the folder testsuite/classlibrary of SuperCollider's source, which this project doesn't carry. Its
servers have port 57110, as sclang's do; it has to be free (`unshare -rn` and `ip link set lo up` give a network of
one's own). What fails is tried once again."""
import argparse
import os
import shutil
import signal
import socket
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.lib.daemon import Session  # noqa: E402
from tests.upstream import suite  # noqa: E402

PORT = 57110
PROGRAMS = {"ours": str(ROOT / "build/src/cli/pw-scsynth"), "stock": "pw-jack scsynth"}
ENVIRONMENTS = {"ours": {}, "stock": {"SC_JACK_DEFAULT_INPUTS": "", "SC_JACK_DEFAULT_OUTPUTS": ""}}


def main():
    options = arguments()
    check_port()
    suite.adopt_orphans()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    names = options.only or suite.server_classes(options.suite)
    results = {}
    for server in options.servers:
        with Session(policy=True, sources={"test-source": 2}, sinks={"test-sink": 8},
                     env=ENVIRONMENTS[server]) as session:
            session.force_quantum(options.quantum)
            results[server] = {name: run(name, server, options, session) for name in names}
            if not session.daemon.running():
                print(session.logs(), file=sys.stderr)
                return 2
    print_tables(results)
    return 1 if worse(results) else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path, nargs="?", default=os.environ.get("SCS_UPSTREAM_SUITE"),
                        help="testsuite/classlibrary; else SCS_UPSTREAM_SUITE")
    parser.add_argument("--servers", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS))
    parser.add_argument("--only", nargs="+", metavar="CLASS")
    parser.add_argument("--limit", type=float, default=60, help="seconds that a method may take")
    parser.add_argument("--quantum", type=int, default=1024)
    parser.add_argument("--logs", type=Path, help="keep sclang's output there")
    options = parser.parse_args()
    if options.suite is None or not Path(options.suite).is_dir():
        parser.error(f"no suite at {options.suite}")
    options.suite = Path(options.suite).resolve()
    if options.logs is None:
        options.logs = Path(tempfile.mkdtemp(prefix="scs-upstream-"))
    print(f"logs: {options.logs}", file=sys.stderr)
    return options


def check_port():
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            probe.bind(("127.0.0.1", PORT))


def run(name, server, options, session):
    folder = options.logs.resolve() / server
    for attempt in folder.glob(f"{name}-*"):
        shutil.rmtree(attempt)
    where = (name, options.suite, PROGRAMS[server], folder, session.env, options.limit)
    found = suite.run_class(*where)
    # Many tests measure time in the language, which is delayed on a busy machine.
    passed = [method for method, result in found.items() if result.outcome == "pass"]
    if len(passed) < len(found):
        found |= {method: result for method, result in suite.run_class(*where, leave_out=passed).items()
                  if result.outcome == "pass"}
    print(f"{server} {name}: {count(found)} of {len(found)}", file=sys.stderr, flush=True)
    return found


def count(found):
    return sum(result.outcome == "pass" for result in found.values())


def print_tables(results):
    servers = list(results)
    print("| class |" + "".join(f" {server} |" for server in servers))
    print("|---|" + "---|" * len(servers))
    for name in results[servers[0]]:
        print(f"| {name} |" + "".join(f" {count(results[server][name])} of {len(results[server][name])} |"
                                     for server in servers))
    totals = ((sum(map(count, found.values())), sum(map(len, found.values()))) for found in results.values())
    print(f"| {len(results[servers[0]])} classes |" + "".join(f" {passed} of {all_} |" for passed, all_ in totals))
    print("\nMethods that fail, or whose number of assertions differs:")
    for name, method, found in methods(results):
        kinds = {(result.outcome, result.passed, len(result.reasons)) for result in found.values()}
        if len(kinds) > 1 or "pass" not in {result.outcome for result in found.values()}:
            for server, result in found.items():
                print(f"{name}:{method}, {server}: {result.passed} passed; {result}")


def methods(results):
    """(class, method, {server: Result}) of all methods; those that weren't reached with a server are an ERROR."""
    for name in next(iter(results.values())):
        every = dict.fromkeys(method for found in results.values() for method in found[name])
        for method in every:
            yield name, method, {server: found[name].get(method, suite.Result("ERROR", ["not run"]))
                                 for server, found in results.items()}


def worse(results):
    """Methods that fail with ours and pass with stock."""
    return [method for _, method, found in methods(results)
            if {"ours", "stock"} <= found.keys() and found["stock"].outcome == "pass" != found["ours"].outcome]


if __name__ == "__main__":
    sys.exit(main())
