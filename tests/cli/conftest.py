# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from tests.lib.build import PW_SCSYNTH
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port

RATES = "context.properties = { default.clock.allowed-rates = [ 44100 48000 ] }\n"


@pytest.fixture(scope="module")
def session():
    """A private session with the policy, shared by a module's tests."""
    with Session(policy=True, sinks={"test-sink": 2, "second-sink": 2},
                 sources={"test-source": 2}, fragments={"40-rates.conf": RATES}) as session:
        session.force_quantum(1024)
        yield session
        assert session.daemon.running(), session.logs()


class Program:
    """pw-scsynth running in a session."""

    def __init__(self, session, *options, port=None, ready=True, **env):
        self.session, self.port = session, port or free_port()
        self.child = session.start([PW_SCSYNTH, "-u", self.port, *options], "pw-scsynth", **env)
        if ready:
            self.child.wait_output("SuperCollider 3 server ready.\n")

    @property
    def name(self):
        return f"scsynth-{self.port}"

    def properties(self):
        return self.session.node(self.name)["info"]["props"]

    def ended(self):
        """(status, output) once it has ended by itself."""
        return self.child.wait(10), self.child.output()


@pytest.fixture
def launch(session):
    """`launch(options...)` starts pw-scsynth; all are stopped afterwards."""
    started = []

    def start(*options, **how):
        started.append(Program(session, *options, **how))
        return started[-1]

    yield start
    for program in started:
        program.child.stop()
    for program in started:
        session.wait_gone(program.name)


@pytest.fixture
def server(launch):
    return launch()


@pytest.fixture
def client(server):
    with Client(server.port) as opened:
        yield opened


@pytest.fixture
def beside(session):
    """`beside(command, port, options…)` starts `pw-scsynth COMMAND` for the server at that port; all are stopped afterwards."""
    started = []

    def start(command, port, *options, **env):
        started.append(session.start([PW_SCSYNTH, command, "-u", port, *options], command, **env))
        return started[-1]

    yield start
    for child in started:
        child.stop()
