# SPDX-License-Identifier: GPL-3.0-or-later
"""Overtone, which boots pw-scsynth as its scsynth, and which connects to a running server. SCS_OVERTONE names a folder
with a program `run` that runs a Clojure file with Overtone on its classpath: FILE [ARGUMENT ...]."""
from pathlib import Path

import pytest

from tests.clients.conftest import Heard, folder_of, needs, steps, tone
from tests.lib import audio
from tests.lib.ports import free_port
from tests.lib.process import wait_for

pytestmark = needs("SCS_OVERTONE", "run")
SCRIPT = Path(__file__).with_name("overtone.clj")
EXPECTED = {"connected": "true", "playing": "true", "ended": "true", "buffer": "true", "sample": "24000",
            "bus": "0.25", "tree": "true", "defs": "true", "done": "true"}


@pytest.mark.parametrize("way", ["boot", "connect"])
def test_session(session, listen, tmp_path, way):
    scsynth = listen("ours")
    server = None
    port = "boot"
    (session.dir / ".overtone").mkdir(exist_ok=True)
    (session.dir / ".overtone/config.clj").write_text(f'{{:sc-path "{scsynth.program}"}}\n')
    if way == "connect":
        port = free_port()
        server = session.start([scsynth.program, "-u", port], "server")
        server.wait_output("server ready")
    child = session.start([folder_of("SCS_OVERTONE") / "run", SCRIPT, port, tone(tmp_path), tmp_path / "recorded.wav"],
                          "overtone", JAVA_TOOL_OPTIONS=f"-Duser.home={session.dir}")
    status = child.wait(300) # compiles all of Overtone
    if server:
        server.stop()
    output = child.output()
    assert status == 0, output
    assert steps(output) == EXPECTED, output
    wait_for(scsynth.log.exists, "the end of its scsynth")
    heard = Heard.of(scsynth)
    assert heard.fails == [] and heard.sent["/d_recv"] > 20 and "no OSC" not in " ".join(heard.sent), heard
    # It also ends the program that it has booted, at times before another thread has sent /quit.
    assert heard.sent.get("/quit", 0) <= (1 if way == "boot" else 0)
    # The recording begins with the buffer's silence, and its end may be lost: docs/clients/overtone.md.
    assert audio.read_wav(tmp_path / "recorded.wav")[0].shape[1] == 2
