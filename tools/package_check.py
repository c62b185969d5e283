# SPDX-License-Identifier: GPL-3.0-or-later
"""./check package: the Debian package is built, judged by lintian, installed in a clean system, played, upgraded and
removed without a trace. See tools/roots.py for the systems."""
import argparse
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tools import check, counts
from tools.counts import Counts
from tools.roots import USER, Copy, Root, default_folder
from tools.runs import ROOT, Broken, Late, Runner, tail

SYSTEMS = {"debian-12": "bookworm", "debian-13": "trixie", "sid": "sid"}
FOLDER = ROOT / "build-package"
MINUTES = 85
# What tests/hostile and others look for in a build folder, and where a package has it.
BUILT = {"src/cli/pw-scsynth": "usr/bin/pw-scsynth",
         "src/probe/pw-scsynth-probe": "usr/lib*/**/pw-scsynth-probe",
         "src/module/libpipewire-module-scsynth.so": "usr/lib/*/pipewire-0.3/libpipewire-module-scsynth.so",
         "spa/plugins/scsynth": "usr/lib/*/spa-0.2/scsynth"}
# The tests' own parts, of the folder `build`.
OF_TESTS = ("tests/tape/libspa-tape.so", "tests/hostile/misbehaving.so", "tests/hostile/later_api.so")
# Faults first: the flags of a package (FORTIFY) have the C library check the jumps that contain them.
ON_PACKAGED = ("tests/hostile/test_faults.py", "tests/oracle/test_oracle.py", "tests/cli/test_offline.py",
               "tests/integration/test_sound.py")
# apt's and dpkg's own books, which change with every installation.
BOOKS = re.compile(r"^/(var/(cache/(apt|debconf|man|ldconfig)|lib/(apt|dpkg)|log)|etc/ld\.so\.cache)(/|$)")
OTHERS = ("/proc", "/sys", "/dev", "/tmp", "/src", "/shared")  # what isn't the system's own
LIST = f"find / -xdev \\( -path {' -o -path '.join(OTHERS)} \\) -prune -o -print"


class Failed(Exception):
    """A step that failed; the text says why."""


class Package:
    """The package in one system."""

    def __init__(self, name, runner, folder):
        self.name, self._runner = name, runner
        self.shared = FOLDER / name
        self._root = Root(runner, SYSTEMS[name], folder)
        self._building = folder / f"{name}.building"
        self._deb = None

    def steps(self):
        """(name, function) of each, in order; what fails leaves nothing for the later ones."""
        yield "build", self.build
        yield "lintian", self.lintian
        if self.is_ours():
            yield "packaged binaries", self.test_packaged
        yield "clean system", self._root.make
        with Copy(self._runner, self._root, ROOT, self.shared) as copy:
            for name, step in self._in_clean_system(copy):
                yield name, step

    def is_ours(self):
        """Whether this machine runs that system."""
        try:
            return platform.freedesktop_os_release().get("VERSION_CODENAME") == SYSTEMS[self.name]
        except OSError:
            return False

    def build(self):
        """Here, or, if this is another system, in a copy of it, which is kept with what building needs."""
        if self.is_ours():
            status, log = self._runner.run(f"package-{self.name}-build", ["tools/package", self.shared])
        else:
            self._root.make()
            with Copy(self._runner, self._root, ROOT, self.shared, kept=self._building) as copy:
                status, log = copy.run(f"package-{self.name}-build",
                                       "apt-get update && apt-get -y install ccache && /src/tools/package /shared")
        if status:
            raise Failed(tail(log))
        self._deb = next(self.shared.glob("pw-scsynth_*.deb"))

    def lintian(self):
        status, log = self._runner.run(f"package-{self.name}-lintian",
                                       ["lintian", "--allow-root", "--no-cfg", "--fail-on", "error,warning",
                                        *self.shared.glob("*.changes")])
        said = [line for line in log.read_text().splitlines() if re.match(r"[EW]: ", line)]
        if status or said:
            raise Failed(tail(log))

    def test_packaged(self):
        """The tests that look at faults and samples, with what is in the package; their own parts are built as ever."""
        tests = check.Check()
        tests.compile_in("build", "-Dtests=true", *check.DEVELOPED, targets=OF_TESTS)
        unpacked, view = self.shared / "unpacked", self.shared / "view"
        for folder in (unpacked, view):
            shutil.rmtree(folder, ignore_errors=True)
        self._do(self._runner.run(f"package-{self.name}-unpack", ["dpkg-deb", "--extract", self._deb, unpacked]))
        files = {place: next(unpacked.glob(pattern)) for place, pattern in BUILT.items()}
        for place, file in (files | {name: ROOT / "build" / name for name in OF_TESTS}).items():
            (view / place).parent.mkdir(parents=True, exist_ok=True)
            (view / place).symlink_to(file)
        found = tests.pytest(f"package-{self.name}-tests", *ON_PACKAGED, env={"SCS_BUILD": str(view)})
        if found.failed:
            raise Failed(found.line())
        return found

    def _in_clean_system(self, copy):
        def run(what, script):
            return self._do(copy.run(f"package-{self.name}-{what}", f"set -e\n{script}"))

        def files(what):
            run(f"files-{what}", f"{LIST} | sort > /shared/files-{what}")
            lines = (self.shared / f"files-{what}").read_text().splitlines()
            return {line for line in lines if not BOOKS.match(line)}

        def install():
            # What was fetched once is kept beside the package.
            run("install", "mkdir -p /shared/apt/partial\napt-get update\n"
                           f"apt-get -y -o Dir::Cache::archives=/shared/apt install /shared/{self._deb.name}")

        def remove():
            left["first"] = files("installed")
            run("remove", "apt-get -y purge pw-scsynth")
            left["dependencies"] = files("removed")
            if ours := [line for line in left["dependencies"] if "scsynth" in line]:
                raise Failed(f"left behind: {' '.join(ours)}")

        def install_again():
            run("again", f"apt-get -y install /shared/{self._deb.name}")
            if files("again") != left["first"]:
                raise Failed("other files than the first time")
            run("enabled", "test -f /usr/lib/systemd/user/pw-scsynth.service\n"
                        "if find / -xdev -name pw-scsynth.service -type l -print | grep .; then exit 1; fi")

        def session(case):
            return lambda: run(case, f"cd /src && exec runuser -u {USER} -- python3 -B -m tests.package.session {case}")

        def upgrade():
            newer = self._newer()
            run("upgrade", f"apt-get -y install /shared/{newer.name}\n"
                           "dpkg-query -W -f '${Version}' pw-scsynth | grep '+newer$'")
            if files("upgraded") != left["first"]:
                raise Failed("other files than before")

        def remove_all():
            run("purge", "apt-get -y purge pw-scsynth")
            now = files("purged")
            if now != left["dependencies"]:
                raise Failed(f"left: {sorted(now - left['dependencies'])}; gone: {sorted(left['dependencies'] - now)}")

        left = {}
        yield "install", install
        yield "remove", remove
        yield "install again, nothing enabled", install_again
        for case in ("offline", "documents", "unit", "drop_in", "threads"):
            yield f"session: {case}", session(case)
        yield "upgrade", upgrade
        yield "purge after use", remove_all

    def _newer(self):
        """The same package with a higher version."""
        unpacked, newer = self.shared / "newer", self.shared / "newer.deb"
        shutil.rmtree(unpacked, ignore_errors=True)
        self._do(self._runner.run(f"package-{self.name}-newer", ["dpkg-deb", "--raw-extract", self._deb, unpacked]))
        control = unpacked / "DEBIAN/control"
        control.write_text(re.sub(r"^Version: .*", r"\g<0>+newer", control.read_text(), flags=re.M))
        self._do(self._runner.run(f"package-{self.name}-newer",
                                  ["dpkg-deb", "--root-owner-group", "-Znone", "--build", unpacked, newer]))
        return newer

    @staticmethod
    def _do(done):
        status, log = done
        if status:
            raise Failed(f"status {status}:\n{tail(log)}")


def recipes(runner):
    """Those for other distributions, as far as Debian's tools can tell."""
    version = re.match(r"pw-scsynth \((.*)\)", (ROOT / "debian/changelog").read_text())[1]
    spec, pkgbuild = ROOT / "packaging/fedora/pw-scsynth.spec", ROOT / "packaging/arch/PKGBUILD"
    # makepkg reads the recipe in a folder that it can write to, and not as root.
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(pkgbuild, folder)
        user = []
        if not os.geteuid():
            user = ["runuser", "-u", "nobody", "--"]
            shutil.chown(folder, "nobody")
        makepkg = [*user, "env", f"--chdir={folder}", f"HOME={folder}", "PACMAN=true", "makepkg", "--printsrcinfo"]
        commands = {"rpmspec": ["rpmspec", "--parse", spec], "rpmlint": ["rpmlint", spec], "makepkg": makepkg}
        for name, command in commands.items():
            status, log = runner.run(f"package-{name}", command)
            if status:
                raise Failed(f"{name}: {tail(log)}")
    if f"\nVersion:        {version}\n" not in spec.read_text() or f"\npkgver={version}\n" not in pkgbuild.read_text():
        raise Failed(f"other versions than {version}")
    if f"\n## {version} (" not in (ROOT / "CHANGELOG.md").read_text():
        raise Failed(f"CHANGELOG.md has nothing on {version}")
    if f"version : '{version}'" not in (ROOT / "meson.build").read_text():
        raise Failed(f"meson.build has another version than {version}")


def run_step(name, step):
    """Counts, or None if the steps after it make no sense."""
    began = time.monotonic()
    try:
        found = step() or Counts(passed=1)
    except (Failed, Broken) as error:
        print(f"   {name}: failed  ({time.monotonic() - began:.0f} s)\n{error}", flush=True)
        return None
    print(f"   {name}: {found.line()}  ({time.monotonic() - began:.0f} s)", flush=True)
    return found


def main(arguments):
    parser = argparse.ArgumentParser(prog="./check package",
                                     description="Builds, installs, plays and removes the package.")
    parser.add_argument("names", nargs="*", metavar="SYSTEM", help=f"of {' '.join(SYSTEMS)}; the first without one")
    parser.add_argument("--folder", type=Path, default=default_folder(), help="where the systems are kept: %(default)s")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(SYSTEMS):
        parser.error(f"no such system: {' '.join(unknown)}")
    total, runner = Counts(), Runner(60 * MINUTES)
    print("== recipes", flush=True)
    total += run_step("recipes", lambda: recipes(runner)) or Counts(failed=1)
    if os.geteuid():
        total.skipped.append("package: clean systems are made and entered as root: sudo ./check package")
        options.names = []
    elif not options.names:
        options.names = [next(iter(SYSTEMS))]
    for name in options.names:
        print(f"== {name}", flush=True)
        try:
            for what, step in Package(name, runner, options.folder).steps():
                found = run_step(what, step)
                total += found or Counts(failed=1)
                if not found:
                    break
        except Late as error:
            print(error)
            total += Counts(failed=1)
            break
    return counts.end(total)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
