#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run supriya's own tests with pw-scsynth as the server, and with stock scsynth, and say where they differ.

SDIST is supriya's unpacked source distribution. The tests boot `scsynth` on port 57110 and end every process of that
name: so they run on a network and with a /dev/shm of their own, which asks for root or for user namespaces, and end
only what they have started (supriya_plugin.py). Tests that boot supernova are left out. The status is 1 when a test
fails with pw-scsynth that passes with scsynth."""
import argparse
import fcntl
import os
import socket
import struct
import subprocess
import sys
import venv
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.lib.daemon import Session  # noqa: E402
from tests.lib.supriya import VERSION  # noqa: E402

REQUIREMENTS = (f"supriya[shm]=={VERSION}", "pytest", "pytest-asyncio", "pytest-lazy-fixtures", "pytest-mock",
                "sphinx", "numpy", "matplotlib")
TESTS = ("tests/contexts", "tests/patterns", "tests/book", "tests/test_examples.py", "tests/test_osc.py")
QUANTUM = 1024
SECONDS = 1800
INSIDE = "SCS_IN_NAMESPACES"
SERVERS = {
    "pw-scsynth": 'exec "{build}/src/cli/pw-scsynth" "$@"',
    "scsynth": 'exec pw-jack /usr/bin/scsynth "$@"',
}


def enter_namespaces():
    """Restart this program in namespaces of its own for network and mounts."""
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", *user, "--net", "--mount", sys.executable, "-B", *sys.argv]
    os.execvpe(command[0], command, os.environ | {INSIDE: "1"})


def furnish_namespaces():
    """Set up the loopback interface and a /dev/shm of our own."""
    flags_of_interface, up = 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, flags_of_interface, struct.pack("16sh14x", b"lo", up))
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], check=True)


def make_environment(folder):
    """An interpreter with supriya and what its tests need; made once."""
    python = folder / "bin/python"
    probe = [python, "-c", "import supriya_shm, pytest_asyncio, pytest_lazy_fixtures, pytest_mock, sphinx, matplotlib"]
    if not python.exists() or subprocess.run(probe, capture_output=True).returncode:
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *REQUIREMENTS], check=True)
    return python


def run(name, options):
    """{test: (outcome, message)} with that server."""
    with Session(policy=True, build=options.build) as session:
        session.force_quantum(QUANTUM)
        program = session.dir / "bin/scsynth"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n" + SERVERS[name].format(build=options.build) + "\n")
        program.chmod(0o755)
        # Without it scsynth complains, which supriya takes for its end.
        (session.dir / "data/SuperCollider/synthdefs").mkdir(parents=True)
        report = session.dir / "report.xml"
        tests = session.start(
            [options.python, "-B", "-m", "pytest", "-o", "addopts=", "-p", "supriya_plugin", "-q",
             "-p", "no:cacheprovider", f"--junitxml={report}", "-o", "junit_logging=no",
             "-k", f"not supernova and ({options.k})" if options.k else "not supernova", *TESTS],
            "supriya", PATH=f"{program.parent}:{session.env['PATH']}",
            PYTHONPATH=str(Path(__file__).parent))
        tests.wait(SECONDS)
        options.logs.mkdir(parents=True, exist_ok=True)
        (options.logs / f"supriya-{name}.log").write_text(tests.output() + session.logs())
        found = outcomes(report) if report.exists() else {}
        if not found:
            raise RuntimeError(f"{name}: no tests ran:\n{tests.output()[-3000:]}")
        return found


def outcomes(report):
    found = {}
    for case in xml.parse(report).iter("testcase"):
        bad = [(child.tag, child.get("message", "").splitlines()[:1]) for child in case
               if child.tag in ("failure", "error", "skipped")]
        found[f"{case.get('classname')}::{case.get('name')}"] = bad[0] if bad else ("passed", [])
    return found


def counts(found):
    kinds = [outcome for outcome, _ in found.values()]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("passed", "failure", "error", "skipped"))


def differences(ours, stock):
    """Lines, and how many are tests that only ours fails."""
    worse = 0
    for test in sorted(ours.keys() | stock.keys()):
        mine, theirs = ours.get(test, ("missing", [])), stock.get(test, ("missing", []))
        if mine[0] == theirs[0] == "passed" or mine[0] == theirs[0] == "skipped":
            continue
        worse += theirs[0] == "passed"
        yield f"{test}: pw-scsynth {' '.join((mine[0], *mine[1]))}; scsynth {' '.join((theirs[0], *theirs[1]))}"
    yield worse


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sdist", type=Path, metavar="SDIST")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="(default: build)")
    parser.add_argument("--python", type=Path, help="an interpreter with supriya and its tests' requirements "
                                                    "(default: one in build/venv-supriya-tests, made by pip)")
    parser.add_argument("--logs", type=Path, default=ROOT / "build/check", help="(default: build/check)")
    parser.add_argument("--server", action="append", choices=SERVERS, help="may be given again (default: both)")
    parser.add_argument("-k", metavar="EXPRESSION", help="only these tests, as pytest has it")
    options = parser.parse_args()
    options.python = options.python and options.python.absolute()
    if not (options.sdist / "tests/contexts").is_dir():
        parser.error(f"{options.sdist} is no source distribution of supriya")
    options.build, options.logs = options.build.resolve(), options.logs.resolve()
    return options


def main():
    options = parse()
    if INSIDE not in os.environ:
        options.python or make_environment(ROOT / "build/venv-supriya-tests")
        enter_namespaces()
    furnish_namespaces()
    os.chdir(options.sdist)
    options.python = options.python or ROOT / "build/venv-supriya-tests/bin/python"
    found = {}
    for name in options.server or SERVERS:
        found[name] = run(name, options)
        print(f"{name}: {counts(found[name])}", flush=True)
    if len(found) < len(SERVERS):
        for name, tests in found.items():
            for test, (outcome, message) in tests.items():
                if outcome != "passed":
                    print(f"{test}: {name} {' '.join((outcome, *message))}")
        return 0
    *lines, worse = differences(found["pw-scsynth"], found["scsynth"])
    for line in lines:
        print(line)
    print(f"{worse} tests fail with pw-scsynth alone")
    return 1 if worse else 0


sys.exit(main())
