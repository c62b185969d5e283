# SPDX-License-Identifier: GPL-3.0-or-later
"""The build that docs/install.md tells users to make, installed into a folder of the test's own (DESTDIR): it is complete,
and plays in a daemon that finds the installed parts. ./check's stage `release` names the build."""
import json
import subprocess
from pathlib import Path

import pytest

from tests.lib import audio, session_config, wireplumber
from tests.lib.build import BUILD, ROOT
from tests.lib.daemon import Session
from tests.lib.documents import broken_links
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.recording import Recording
from tests.lib.session_config import pkg_variable

INSTALLED = ("usr/bin/pw-scsynth", "usr/libexec/pw-scsynth/pw-scsynth-probe", "usr/share/man/man1/pw-scsynth.1",
             "usr/share/wireplumber/scripts/scsynth-autoconnect.lua",
             *(f"usr/share/wireplumber/scripts/lib/{script}" for script, folder in wireplumber.SCRIPTS.items()
               if folder == "scripts/lib"),
             "usr/share/pipewire/pipewire.conf.d/80-scsynth-threads.conf",
             "usr/share/pw-scsynth/several-machines/rtp/sender.conf",
             *(f"usr/share/pw-scsynth/synthdefs/{name}.scsyndef" for name in ("bass", "keys", "pad")),
             "usr/lib/systemd/user/pw-scsynth.service", "usr/lib/systemd/user/pw-scsynth-instrument@.service")
SINE = ROOT / "tests/integration/synthdefs/test_sine.scsyndef"


def options(build):
    """{name: value} of a build folder's options."""
    found = json.loads((build / "meson-info/intro-buildoptions.json").read_text())
    return {option["name"]: option["value"] for option in found}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("root")
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder], capture_output=True,
                   check=True)
    return folder


def below(root, folder):
    return root / str(folder).lstrip("/")


def test_the_options_are_those_of_the_documents():
    line = next(line for line in (ROOT / "docs/install.md").read_text().splitlines() if "meson setup build-release" in line)
    assert line.split() == ["meson", "setup", "build-release", "--prefix=/usr", "--buildtype=release", "-Dtests=false"]
    found = options(BUILD)
    assert (found["prefix"], found["buildtype"], found["tests"]) == ("/usr", "release", False)


def test_what_is_installed(root):
    assert [name for name in INSTALLED if not (root / name).is_file()] == []
    # One for the WirePlumber that is there: 0.5 warns of the other's, and 0.4 ignores it.
    name, folder = wireplumber.configuration()
    configured = root / "usr/share/wireplumber"
    assert [file.relative_to(configured) for file in configured.rglob("90-*")] == [Path(folder, name)]
    assert list(root.rglob("PipeWireServer.sc"))


def test_links_between_the_documents_hold(root):
    documents = root / "usr/share/doc/pw-scsynth"
    assert (documents / "README.md").is_file()
    assert broken_links(documents) == []


def test_it_plays(root, tmp_path):
    plugins, modules = (below(root, pkg_variable(package, variable)) for package, variable in
                        (("libspa-0.2", "plugindir"), ("libpipewire-0.3", "moduledir")))
    port = free_port()
    with Session(env=session_config.where(tmp_path, [plugins, BUILD / "tests"], [modules])) as session:
        session.force_quantum(1024)
        child = session.start([root / "usr/bin/pw-scsynth", "-u", port], "pw-scsynth")
        child.wait_output("SuperCollider 3 server ready.\n")
        session.connect(f"scsynth-{port}", "test-sink")
        with Client(port) as client:
            client.command("/notify", 1)
            client.command("/d_load", str(SINE))
            client.request("/s_new", "test_sine", 1000, 0, 0, "freq", 440.0, "amp", 0.2, reply="/n_go")
            with Recording(session, tmp_path / "sine.wav") as recording:
                recording.wait(1.0)
    samples, rate = audio.read_wav(recording.path)
    for channel in samples.T:
        assert audio.frequency(channel, rate) == pytest.approx(440, abs=0.1)
        assert audio.peak(channel) == pytest.approx(0.2, rel=0.01)
