# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server is called, for PipeWire's tools and for JACK's: public scripts link "SuperCollider:out_1"."""
import pytest

from tests.cli.conftest import Program
from tests.lib.daemon import Session
from tests.lib.ports import free_port

SINK = "test-sink"


@pytest.fixture
def bare():
    """A session whose default sink nothing is linked to but what the tests link."""
    with Session(policy=False, sinks={SINK: 2}) as session:
        yield session
        assert session.daemon.running(), session.logs()


def start(session, *options, port=None):
    return Program(session, "-o", 2, "-i", 1, *options, port=port)


def jack_ports(session):
    return session.run("pw-jack", "jack_lsp").splitlines()


def outputs(session):
    """The clients of JACK that have an out_1."""
    return [port.removesuffix(":out_1") for port in jack_ports(session) if port.endswith(":out_1")]


def test_scripts_link_it_by_scsynths_name(bare):
    server = start(bare)
    assert {"SuperCollider:out_1", "SuperCollider:out_2", "SuperCollider:in_1"} <= set(jack_ports(bare))
    bare.run("pw-link", "SuperCollider:out_1", f"{SINK}:playback_FR")
    bare.run("pw-jack", "jack_connect", "SuperCollider:out_2", "system:playback_1")
    bare.wait_until(lambda: bare.links() == [(f"{server.name}:out_1", f"{SINK}:playback_FR"),
                                             (f"{server.name}:out_2", f"{SINK}:playback_FL")], "both links")
    bare.run("pw-jack", "jack_disconnect", "SuperCollider:out_2", "system:playback_1")
    bare.run("pw-link", "-d", "SuperCollider:out_1", f"{SINK}:playback_FR")
    bare.wait_until(lambda: not bare.links(), "no links")


@pytest.mark.parametrize("place", [(), ("--client",)], ids=["daemon", "client"])
def test_a_second_server_has_a_number_as_with_jack(bare, place):
    first = start(bare, *place)
    second = start(bare, *place)
    assert sorted(outputs(bare)) == ["SuperCollider", "SuperCollider-01"]
    assert second.properties()["node.description"] == "SuperCollider-01"
    first.child.stop()
    bare.wait_gone(first.name)
    start(bare, *place)
    assert sorted(outputs(bare)) == ["SuperCollider", "SuperCollider-01"]


def test_servers_that_start_at_once_share_no_name(bare):
    programs = [Program(bare, "-o", 1, "-i", 0, *place, ready=False)
                for place in ((), ("--client",), (), ("--client",))]
    for program in programs:
        program.child.wait_output("ready.")
    assert sorted(outputs(bare)) == ["SuperCollider", "SuperCollider-01", "SuperCollider-02", "SuperCollider-03"]


def test_the_name_stays_when_pipewire_restarts(bare):
    start(bare)
    second = start(bare)
    bare.stop_daemons()
    bare.start_daemons()
    second.child.wait_output("PipeWire is back")
    bare.wait_until(lambda: sorted(outputs(bare)) == ["SuperCollider", "SuperCollider-01"], "both names")
    assert second.properties()["node.description"] == "SuperCollider-01"


def test_the_successor_at_a_port_has_the_same_name(bare):
    first = start(bare)
    second = start(bare, "--take-over", port=first.port)
    assert outputs(bare) == ["SuperCollider"]
    assert second.properties()["node.description"] == "SuperCollider"


@pytest.mark.parametrize("options", [("--set", "name=my piece"), ("-H", "my piece"), ("-H", "default:my piece")],
                         ids=["setting", "-H", "JACK's server"])
def test_a_name_of_the_users_choice(bare, options):
    first, second = start(bare, *options), start(bare, *options)
    properties = bare.node("my piece")["info"]["props"]
    assert properties["node.description"] == "my piece"
    assert properties["scsynth.osc.port"] == first.port
    assert bare.node("my piece-01")["info"]["props"]["scsynth.osc.port"] == second.port
    bare.run("pw-link", "my piece:out_1", f"{SINK}:playback_FL")
    assert sorted(outputs(bare)) == ["my piece", "my piece-01"]
    assert '"my piece-01"' in second.child.output()


def test_a_configured_node_has_them_too():
    port = free_port()
    objects = [f'{{ name = libpipewire-module-scsynth args = {{ scsynth.osc.port = {port} scsynth.name = lute }} }}']
    with Session(policy=False, sinks={}, wireplumber=False, modules=objects) as session:
        node = session.wait_node("lute")
        assert node["info"]["props"]["node.description"] == "lute"
