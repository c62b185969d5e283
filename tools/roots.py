# SPDX-License-Identifier: GPL-3.0-or-later
"""Clean systems: folders made by debootstrap, kept and used again, and copies of them that may be changed.

Programs run in a copy with namespaces of their own for mounts and processes, so that both are gone with them, however
they end. All of it needs root."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tools.runs import Broken, tail

USER = "player"
# Of a clean system: apt's certificates, and what the tests themselves run.
PACKAGES = ("ca-certificates", "python3")
# An overlay, so that nothing is copied. /src are these sources.
ENTER = """set -e
mount -t overlay overlay -o "lowerdir=$BASE,upperdir=$COPY/upper,workdir=$COPY/work" "$COPY/root"
cd "$COPY/root"
mkdir -p proc dev sys src shared tmp
# systemd's, which WirePlumber 0.4 does nothing without.
for kind in seats sessions users machines; do mkdir -p run/systemd/$kind; done
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount --bind "$SOURCES" src
mount -o remount,bind,ro src
mount --bind "$SHARED" shared
exec chroot . /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin \\
    CCACHE_DIR=/shared/ccache DEBIAN_FRONTEND=noninteractive /bin/sh -c "$1"
"""


def default_folder():
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "pw-scsynth/roots"


def mirror():
    """Where this machine has Debian's own packages from."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian"],
                            capture_output=True, text=True, check=False).stdout.split()
    if not listed:
        raise Broken("apt has no source of Debian's packages, which systems are made of: see /etc/apt/sources.list")
    return listed[0]


class Root:
    """A system that nothing was added to but what the tests themselves need: PACKAGES and a user."""

    def __init__(self, runner, suite, folder):
        self.path = folder / suite
        self._runner, self._suite = runner, suite

    def make(self):
        """Unless it is there."""
        if self.path.exists():
            return
        begun = self.path.with_suffix(".part")
        shutil.rmtree(begun, ignore_errors=True)
        begun.parent.mkdir(parents=True, exist_ok=True)
        self._run("debootstrap", ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}",
                                  self._suite, begun, mirror()])
        # In a system without init nothing may be started by its packages.
        policy = begun / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        # A mirror may lag behind. What it has is signed all the same.
        (begun / "etc/apt/apt.conf.d/90-lag").write_text('Acquire::Check-Valid-Until "false";\n')
        self._run("useradd", ["chroot", begun, "useradd", "--create-home", USER])
        begun.rename(self.path)

    def _run(self, what, command):
        status, log = self._runner.run(f"{self._suite}-{what}", command)
        if status:
            raise Broken(f"{what} ended with {status}:\n{tail(log)}")


class Copy:
    """A copy of a Root, as a context manager; `shared` is a folder that it sees as /shared. What was changed in it is
    gone afterwards, unless `kept` names a folder for that."""

    def __init__(self, runner, root, sources, shared, kept=None):
        self._runner, self._root, self._sources, self._shared, self._kept = runner, root, sources, shared, kept
        self._folder = None

    def __enter__(self):
        self._folder = self._kept or Path(tempfile.mkdtemp(prefix="copy-", dir=self._root.path.parent))
        for name in ("upper", "work", "root"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        etc = self._folder / "upper/etc"
        etc.mkdir(exist_ok=True)
        shutil.copy("/etc/resolv.conf", etc)
        return self

    def __exit__(self, *_):
        if not self._kept:
            shutil.rmtree(self._folder)

    def run(self, what, script):
        """(status, log) of a shell script in it."""
        self._shared.mkdir(parents=True, exist_ok=True)
        folders = {"BASE": self._root.path, "COPY": self._folder, "SOURCES": self._sources, "SHARED": self._shared}
        return self._runner.run(what, ["unshare", "--mount", "--propagation", "private", "--pid", "--fork",
                                       "--kill-child", "/bin/sh", "-c", ENTER, "enter", script],
                                {name: str(folder) for name, folder in folders.items()})
