# SPDX-License-Identifier: GPL-3.0-or-later
"""meson says what another prefix than PipeWire's own means."""
import subprocess

from tests.lib.build import ROOT
from tests.lib.session_config import pkg_variable

WARNING = "the prefix is not PipeWire's"


def said(folder, prefix):
    """By meson setup."""
    return subprocess.run(["meson", "setup", folder, f"--prefix={prefix}", "-Dtests=false"], cwd=ROOT,
                          capture_output=True, text=True, check=True).stdout


def test_another_prefix(tmp_path):
    prefix = pkg_variable("libpipewire-0.3", "prefix")
    assert WARNING not in said(tmp_path / "own", prefix)
    text = said(tmp_path / "another", tmp_path / "prefix")
    assert WARNING in text
    assert f"--prefix={prefix} " in text
