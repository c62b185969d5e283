# SPDX-License-Identifier: GPL-3.0-or-later
"""In a session whose locale has a decimal comma, everything is still printed and read with a point."""
import re
import subprocess
import time

import pytest

from tests.cli.test_rate import PLACES, RESAMPLED, linked
from tests.integration.conftest import SYNTHDEFS
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.server import NodeServer

COMMA = re.compile(r"\d,\d")


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    """The environment for it."""
    folder = tmp_path_factory.mktemp("locales")
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], check=True)
    env = {"LOCPATH": str(folder), "LC_ALL": "de_DE.UTF-8"}
    assert subprocess.run(["/usr/bin/printf", "%.2f", "0,25"], env=env, check=True, capture_output=True).stdout == b"0,25"
    return env


@pytest.fixture(scope="module")
def session(german):
    with Session(policy=True, env=german) as session:
        session.force_quantum(1024)
        yield session
        assert session.daemon.running(), session.logs()


@PLACES
def test_all_that_is_printed_has_points(launch, session, place):
    server = launch("-i", 0, "-o", 2, "-S", 44100, "--set", "cpu-limit=0.5", *place)
    linked(session, server.name)
    with Client(server.port) as client:
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.send("/dumpOSC", 1)
        client.sync()
        client.send("/s_new", "test_tell", 1000, 0, 0, "value", 42.25)
        client.send("/s_new", "test_sine", 1001, 0, 0, "amp", 0.125)
        client.send("/g_dumpTree", 0, 1)
        client.send("/n_trace", 1001)
        client.send_at(time.time() - 3, ("/n_free", 1001))
        for text in ("test_tell: 42.25", '"amp", 0.125', "amp: 0.125", "late "):
            server.child.wait_output(text)
        client.sync()
    session.wait_until(lambda: RESAMPLED.search(server.child.output()), "what is said of resampling")
    assert re.search(r"resampled, adds \d+ frames \(\d+\.\d ms\)", server.properties()["scsynth.resampling"])
    assert re.search(r"SC_AudioDriver: sample rate = \d+\.\d+,", server.child.output())
    assert COMMA.findall(server.child.output()) == []
    assert COMMA.findall(session.daemon.output()) == []


def test_the_log_of_the_daemon_has_points(session):
    server = NodeServer(session, free_port(), {"sample-rate": 44100})
    with Client(server.port) as client:
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.send("/s_new", "test_tell", 1000, 0, 0, "value", 43.25)
        client.sync()
    for text in "test_tell: 43.25", "resampled, adds ":
        session.wait_until(lambda text=text: text in session.daemon.output(), text)
    assert COMMA.findall(session.daemon.output()) == []
    server.stop()
