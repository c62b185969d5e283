# SPDX-License-Identifier: GPL-3.0-or-later
"""./check matrix: the stages that depend on the system, in systems of their own.

Each system (see tools/roots.py) is kept with its packages and what was built in it, and used again; remove its folders
to have it made anew."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

from tools import check, compatibility, counts
from tools.counts import Counts
from tools.roots import Copy, Root, default_folder, mirror
from tools.runs import LOGS, ROOT, Broken, Late, Runner, tail

# What backports have of what counts here.
BACKPORTS = ("pipewire", "pipewire-bin", "pipewire-jack", "wireplumber", "libpipewire-0.3-dev", "libspa-0.2-dev")
# (suite, suite whose newer packages are taken besides, those packages)
SYSTEMS = {
    "debian-12": ("bookworm", None, ()),
    "debian-12-backports": ("bookworm", "bookworm-backports", BACKPORTS),
    "debian-13": ("trixie", None, ()),
    "debian-13-backports": ("trixie", "trixie-backports", BACKPORTS),
    "sid": ("sid", None, ()),
}
# Which Debian 12 has in its jackd2.
SPLIT = {"bookworm": set(), "trixie": {"jack-example-tools"}, "sid": {"jack-example-tools"}}
STAGES = ("build", "unit", "policy", "integration", "cli", "differential", "packs", "clients")
MINUTES = 4 * 60  # of all systems
PURPOSES = ("build", "run", "test")
# For other stages, and not in every system.
UNUSED = {"clang", "clang-format-14", "libclang-rt-14-dev", "valgrind"}
RESULTS = LOGS / "matrix.json"  # in the system's copy of the sources
SHOWN = {"PipeWire": "pipewire", "WirePlumber": "wireplumber", "SuperCollider": "supercollider-server",
         "liblo": "liblo-dev", "Boost": "libboost-dev", "gcc": "g++"}


def packages(suite):
    """What tests/packages.txt lists, as it is called in that suite."""
    wanted = {"ccache"} | SPLIT[suite]
    for line in (ROOT / "tests/packages.txt").read_text().splitlines():
        purpose, _, names = line.partition(":")
        if purpose in PURPOSES:
            wanted |= set(names.split())
    return sorted(wanted - UNUSED)


class System:
    """A system with the packages that its tests need."""

    def __init__(self, name, runner, folder):
        self.name, self._runner = name, runner
        suite, self.newer, self.newer_packages = SYSTEMS[name]
        self._packages = packages(suite)
        self._root = Root(runner, suite, folder)
        # Seen as /shared: the sources, what is built of them, and the compiler's cache.
        self._shared = folder / f"{name}.shared"
        self._installed = folder / f"{name}.installed"

    def prepare(self):
        """Make it if it isn't there, install what is missing, and copy the sources."""
        self._root.make()
        self._install()
        self._copy_sources()

    def _install(self):
        wanted = "\n".join((*self._packages, *self.newer_packages))
        stamp = self._shared / "packages"
        if stamp.exists() and stamp.read_text() == wanted:
            return
        print("   installing packages", flush=True)
        apt = "apt-get -q -y --no-install-recommends"
        newer = ""
        if self.newer:
            newer = (f"echo 'deb {mirror()} {self.newer} main' > /etc/apt/sources.list.d/newer.list\n{apt} update\n"
                     f"{apt} -t {self.newer} install {' '.join(self.newer_packages)}\n")
        self.run("packages", f"set -e\n{apt} update\n{apt} -f install\n{newer}{apt} install {' '.join(self._packages)}\n"
                 "apt-get clean")
        stamp.write_text(wanted)

    def _copy_sources(self):
        """What git knows of, and no more; a file that is the same stays as old as it is."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                                capture_output=True, text=True, check=True).stdout.split("\0")
        target = self._shared / "src"
        names = {name for name in listed if name and (ROOT / name).is_file()}
        for name in sorted(names):
            old, new = target / name, ROOT / name
            if old.exists() and old.read_bytes() == new.read_bytes() and old.stat().st_mode == new.stat().st_mode:
                continue
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(new, old)
            shutil.copymode(new, old)
        for old in [path for path in target.rglob("*") if path.is_file()]:
            name = old.relative_to(target)
            if name.parts[0] != "build" and "__pycache__" not in name.parts and str(name) not in names:
                old.unlink()

    def run(self, what, script):
        """Run a shell script in it; its log, Broken if it fails."""
        with Copy(self._runner, self._root, ROOT, self._shared, kept=self._installed) as copy:
            status, log = copy.run(f"{self.name}-{what}", script)
        if status:
            raise Broken(f"status {status}; {log} ends with:\n{tail(log)}")
        return log

    def check(self, stages):
        """Run the stages; {stage: Counts} and {what: version}."""
        results = self._shared / "src" / RESULTS.relative_to(ROOT)
        results.unlink(missing_ok=True)
        try:
            self.run("stages", f"cd /shared/src && exec /usr/bin/python3 -B -m tools.matrix --inside {' '.join(stages)}")
        except Broken:
            if not results.exists():
                raise
        found = json.loads(results.read_text())
        return {stage: Counts(**counted) for stage, counted in found["stages"].items()}, found["versions"]


class InSystem(check.Check):
    """The stages with a quicker build."""
    brings_clients = True
    # A data loop that is late loses cycles: see ATTEMPTS in tests/lib/pipewire.py.
    few, again = 8, 3

    def pytest(self, name, *paths, spread=None, **options):
        """One test after the other, as many daemons at once make each other's data loops late."""
        del spread
        return super().pytest(name, *paths, spread=None, **options)

    def plain(self):
        self.compile_in("build", "-Dtests=true", "-Ddebug=false", *check.HEADERS)


def inside(stages):
    """In the system: run the stages and write down what came out."""
    tests, found = InSystem(), {}
    for stage in stages:
        began = time.monotonic()
        print(f"== {stage}", flush=True)
        try:
            found[stage] = check.STAGES[stage](tests)
        except (Broken, Late) as error:
            print(error)
            found[stage] = Counts(failed=1)
        print(f"   {stage}: {found[stage].line()}  ({time.monotonic() - began:.0f} s)")
        for reason in found[stage].skipped:
            print(f"   skipped: {reason}")
    versions = {what: version_of(package) for what, package in SHOWN.items()}
    RESULTS.write_text(json.dumps({"stages": {stage: asdict(counts) for stage, counts in found.items()},
                                   "versions": versions}))
    return 1 if any(counts.failed for counts in found.values()) else 0


def version_of(package):
    """A Debian package's version without Debian's own part of it: three numbers at most."""
    query = ["dpkg-query", "-W", "-f=${Version}", package]
    text = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    return re.match(r"(?:\d+:)?(\d+(?:\.\d+){0,2})", text)[1]


def main(arguments):
    parser = argparse.ArgumentParser(prog="./check matrix", description="Runs the stages in systems of their own.")
    parser.add_argument("names", nargs="*", metavar="SYSTEM", help=f"of {' '.join(SYSTEMS)}; all of them without one")
    parser.add_argument("--stages", default=" ".join(STAGES), help="default: %(default)s")
    parser.add_argument("--folder", type=Path, default=default_folder(), help="where the systems are kept: %(default)s")
    parser.add_argument("--shell", metavar="COMMAND", help="run this in each system instead, with the sources in /shared/src")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.inside:
        return inside(options.names)
    if os.geteuid():
        parser.error("systems are made and entered as root: sudo ./check matrix")
    if unknown := set(options.names) - set(SYSTEMS):
        parser.error(f"no such system: {' '.join(unknown)}")
    total, runner = Counts(), Runner(60 * MINUTES)
    for name in options.names or SYSTEMS:
        print(f"== {name}", flush=True)
        system = System(name, runner, options.folder)
        try:
            system.prepare()
            if options.shell:
                print(tail(system.run("shell", f"cd /shared/src && {options.shell}")))
                continue
            found, versions = system.check(options.stages.split())
        except (Broken, Late) as error:
            print(error)
            total += Counts(failed=1)
            continue
        for stage, counted in found.items():
            print(f"   {stage}: {counted.line()}")
            total += counted
        compatibility.write(name, versions, {stage: found[stage].line() for stage in STAGES if stage in found})
    return counts.end(total)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
