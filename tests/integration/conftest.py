# SPDX-License-Identifier: GPL-3.0-or-later
import os
from pathlib import Path

import pytest

from tests.lib import server as servers
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.recording import Recording

SYNTHDEFS = Path(__file__).parent / "synthdefs"


def pytest_collection_modifyitems(items):
    if os.environ.get("SCS_LONG") == "1":
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="long: runs with SCS_LONG=1"))


@pytest.fixture(scope="session")
def ours():
    """Skip tests of what stock scsynth can't do, if it is the server under test."""
    if servers.is_stock():
        pytest.skip("stock scsynth stands in for the server")


@pytest.fixture
def session():
    """A private session of the test's own."""
    with Session() as session:
        session.force_quantum(256)
        yield session
        assert session.daemon.running(), session.logs()


@pytest.fixture(scope="module")
def playing():
    """A session with the server under test, linked to "test-sink"; shared by a module's tests."""
    with Session() as session:
        session.force_quantum(1024)
        server = servers.start(session)
        yield server
        assert session.daemon.running(), session.logs()
        server.stop()


@pytest.fixture
def client(playing):
    """A logged in client with the tests' SynthDefs loaded; all nodes are freed afterwards."""
    with Client(playing.port) as client:
        client.command("/notify", 1)
        client.command("/d_loadDir", str(SYNTHDEFS))
        yield client
        client.send("/clearSched")
        client.send("/g_freeAll", 0)
        client.command("/notify", 0)


@pytest.fixture
def record(playing, tmp_path):
    """`with record(name) as recording:` records what the sink plays to recording.path."""
    return lambda name="out": Recording(playing.session, tmp_path / f"{name}.wav")
