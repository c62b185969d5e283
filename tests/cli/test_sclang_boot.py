# SPDX-License-Identifier: GPL-3.0-or-later
"""Stock sclang boots pw-scsynth as its server, and renders with it."""
from pathlib import Path

import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.lib import sclang
from tests.lib.audio import read_wav, rms
from tests.lib.ports import free_port
from tests.lib.server import NodeServer

SCRIPT = Path(__file__).with_name("boot.scd")


def boot(script, *args, **where):
    """What sclang prints, errors included, until the script ends it."""
    child = sclang.start(script, PW_SCSYNTH, *args, **where)
    try:
        status = child.wait(60)
    finally:
        child.stop()
    assert status == 0, child.output()
    return child.output()


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_boot(session, tmp_path, protocol):
    port = free_port()
    output = boot(SCRIPT, port, protocol, folder=tmp_path, env=session.env)
    expected = {"booted": "true", "id": "0", "synth": "true", "quit": "true"}
    if protocol == "udp":
        expected |= {"stopped": "true", "rebooted": "true", "synths": "0"}
    assert sclang.steps(output) == expected, output
    assert "SuperCollider 3 server ready." in output
    assert output.count("exited with exit code 0") == (2 if protocol == "udp" else 1), output
    assert "ERROR:" not in output, output
    session.wait_gone(f"scsynth-{port}")


def test_boot_where_a_configured_server_has_the_port(session, tmp_path):
    """sclang sends /quit twice at each boot. The program says what to do, and takes over if it may."""
    server = NodeServer(session, free_port(), {"allow-quit": "false"}, name="configured")
    output = boot(SCRIPT.with_name("beside.scd"), server.port, folder=tmp_path, env=session.env)
    assert sclang.steps(output) == {"started": "true", "refused": "true", "booted": "true", "quit": "true"}, output
    assert f"port {server.port} is that of node" in output and "exited with exit code 1." in output, output
    # Once more at its end, if a late status of the server that has quit makes sclang believe that it runs again.
    assert output.count("'/quit' message sent to server") in (5, 6), output
    session.wait_gone("configured")


def test_score(tmp_path):
    output = sclang.run(SCRIPT.with_name("score.scd"), tmp_path, PW_SCSYNTH, "scsynth", folder=tmp_path)
    assert "RENDERED 0 0" in output and "RENDERED 1 0" in output, output
    ours, theirs = (read_wav(tmp_path / f"{index}.wav")[0] for index in (0, 1))
    assert ours.shape == theirs.shape
    assert rms(theirs) > 0.05
    assert rms(ours - theirs) < 1e-5 * rms(theirs)
