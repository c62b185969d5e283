# SPDX-License-Identifier: GPL-3.0-or-later
"""Overtone, which boots pw-scsynth as its scsynth, and which connects to a running server. SCS_OVERTONE names a program
that runs a Clojure file with Overtone on its classpath: FILE [ARGUMENT ...]."""
import os
from pathlib import Path

import pytest

from tests.clients.conftest import Heard, steps, tone
from tests.lib import audio
from tests.lib.ports import free_port

pytestmark = pytest.mark.skipif(not os.environ.get("SCS_OVERTONE"), reason="SCS_OVERTONE names no program")
SCRIPT = Path(__file__).with_name("overtone.clj")
EXPECTED = {"connected": "true", "playing": "true", "ended": "true", "buffer": "true", "sample": "24000",
            "bus": "0.25", "tree": "true", "defs": "true", "done": "true"}


@pytest.mark.parametrize("way", ["boot", "connect"])
def test_session(session, listen, tmp_path, way):
    scsynth = listen("ours")
    server = None
    port = "boot"
    if way == "connect":
        port = free_port()
        server = session.start([scsynth.program, "-u", port], "server")
        server.wait_output("server ready")
    child = session.start([os.environ["SCS_OVERTONE"], SCRIPT, port, tone(tmp_path), tmp_path / "recorded.wav"],
                          "overtone", PATH=scsynth.path)
    status = child.wait(120)
    if server:
        server.stop()
    output = child.output()
    assert status == 0, output
    assert steps(output) == EXPECTED, output
    heard = Heard.of(scsynth)
    assert heard.fails == [] and heard.sent["/d_recv"] > 20 and "no OSC" not in " ".join(heard.sent), heard
    # The disk buffer's silence comes first.
    assert audio.read_wav(tmp_path / "recorded.wav")[0].shape[1] == 2
