# SPDX-License-Identifier: GPL-3.0-or-later
"""supercolliderjs boots pw-scsynth as its server. SCS_SUPERCOLLIDERJS names a node_modules with it."""
from pathlib import Path

import pytest

from tests.clients.conftest import PW_SCSYNTH, folder_of, needs, steps, tone
from tests.lib import audio
from tests.lib.ports import free_port
from tests.lib.recording import Recording
from tests.lib.sclang import HEADLESS

pytestmark = needs("SCS_SUPERCOLLIDERJS", "supercolliderjs")
SCRIPT = Path(__file__).with_name("supercolliderjs.js")


def test_boots_plays_and_quits(session, tmp_path):
    modules = folder_of("SCS_SUPERCOLLIDERJS")
    (session.dir / ".supercollider.yaml").write_text("sclang: /usr/bin/sclang\n")
    port = free_port()
    with Recording(session, tmp_path / "heard.wav") as recording:
        child = session.start(["node", SCRIPT, modules, PW_SCSYNTH, port, tone(tmp_path)], "supercolliderjs",
                              **HEADLESS)
        status = child.wait(60)
        recording.wait(0.2)
    output = child.output()
    assert status == 0, output
    assert steps(output) == {"booted": "true", "synth": "true", "buffers": "done", "status": "9", "exit": "0"}
    assert "FAIL" not in output, output
    session.wait_gone(f"scsynth-{port}")
    heard = audio.trim(audio.read_wav(tmp_path / "heard.wav")[0][:, 0])
    assert audio.rms(heard) == pytest.approx(0.2 / 2 ** 0.5, rel=0.02)
