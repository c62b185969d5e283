# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables that scsynth reads with JACK, pipewire-jack and PipeWire's streams: start-up files set them."""
import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.cli.test_launcher import screen_shows
from tests.integration.conftest import SYNTHDEFS
from tests.lib.osc import Client
from tests.lib.ports import free_port

SINKS = {"test-sink", "second-sink"}


@pytest.fixture(name="start")
def fixture_start(session):
    """`start(options..., VARIABLE=value...)`: a server of two outputs and an input, as (child, name of the node)."""
    started = []

    def start(*options, name=None, **variables):
        port = free_port()
        child = session.start([PW_SCSYNTH, "-u", port, "-o", 2, "-i", 1, *options], "pw-scsynth", **variables)
        started.append((child, name or f"scsynth-{port}"))
        child.wait_output("ready.")
        return child, port, name or f"scsynth-{port}"

    yield start
    for child, name in started:
        child.stop()
        session.wait_gone(name)


def other_sink(session):
    return (SINKS - {session.default_sink()}).pop()


def links_of(session, name):
    return {(ours, theirs) for ours, theirs in session.links() if ours.startswith(f"{name}:")} | {
        (ours, theirs) for theirs, ours in session.links() if ours.startswith(f"{name}:")}


def witness(session):
    """Once the policy has linked another server, it has done all that it was to do before."""
    child = session.start([PW_SCSYNTH, "-u", free_port(), "-o", 2, "-i", 1, "--set", "name=witness"], "witness")
    session.wait_until(lambda: len(links_of(session, "witness")) == 3, "the links of the witness")
    child.stop()
    session.wait_gone("witness")


def wait_links(session, name, expected):
    """Exactly these, also when the policy, which may come after us, has done its part."""
    expected = {(f"{name}:{ours}", theirs) for ours, theirs in expected}
    session.wait_until(lambda: links_of(session, name) >= expected, f"at least {expected}")
    witness(session)
    assert links_of(session, name) == expected


MIC = ("in_1", "test-source:capture_FL")


def test_ports_in_another_order(session, start):
    default, other = session.default_sink(), other_sink(session)
    _, _, name = start(SC_JACK_DEFAULT_OUTPUTS=f"{other}:playback_FR,system:playback_1")
    wait_links(session, name, {("out_1", f"{other}:playback_FR"), ("out_2", f"{default}:playback_FL"), MIC})


@pytest.mark.parametrize("place", [(), ("--client",)], ids=["daemon", "client"])
def test_fewer_ports_than_the_server_has(session, start, place):
    _, _, name = start(*place, SC_JACK_DEFAULT_OUTPUTS="system:playback_2", SC_JACK_DEFAULT_INPUTS="system:capture_2")
    wait_links(session, name, {("out_1", f"{session.default_sink()}:playback_FR"), ("in_1", "test-source:capture_FR")})


def test_empty_means_no_links(session, start):
    _, _, name = start(SC_JACK_DEFAULT_OUTPUTS="", SC_JACK_DEFAULT_INPUTS="")
    _, _, beside = start(SC_JACK_DEFAULT_OUTPUTS="", SC_JACK_DEFAULT_INPUTS="system")
    wait_links(session, beside, {MIC})
    assert links_of(session, name) == set()


def test_what_sclang_sets_means_the_default_devices(session, start):
    default = session.default_sink()
    _, _, name = start(SC_JACK_DEFAULT_OUTPUTS="system", SC_JACK_DEFAULT_INPUTS="system")
    expected = {("out_1", f"{default}:playback_FL"), ("out_2", f"{default}:playback_FR"), MIC}
    wait_links(session, name, expected)
    _, _, both = start(SC_JACK_DEFAULT_OUTPUTS="system:playback_1,system:playback_2")
    wait_links(session, both, expected)


def test_a_device_by_its_name(session, start):
    other = other_sink(session)
    _, _, name = start(SC_JACK_DEFAULT_OUTPUTS=other)
    wait_links(session, name, {("out_1", f"{other}:playback_FL"), ("out_2", f"{other}:playback_FR"), MIC})


def test_a_part_of_the_ports_names(session, start):
    other = other_sink(session)
    _, _, name = start(SC_JACK_DEFAULT_OUTPUTS=f"^{other[:-2]}.*FR$")
    wait_links(session, name, {("out_1", f"{other}:playback_FR"), MIC})


def test_a_device_of_an_option_counts_first(session, start):
    default, other = session.default_sink(), other_sink(session)
    _, _, name = start("-H", other, SC_JACK_DEFAULT_OUTPUTS=f"{default}:playback_FR")
    wait_links(session, name, {("out_1", f"{other}:playback_FL"), ("out_2", f"{other}:playback_FR"), MIC})


def test_a_port_that_comes_later(session, start):
    """It is said that it isn't there. The links come with the port, and a link that the user removes stays away."""
    child, _, name = start("-i", 0, SC_JACK_DEFAULT_OUTPUTS="late:playback_FL,late:playback_FR")
    child.wait_output('there is no port "late:playback_FR" now')
    links = {(f"{name}:out_1", "late:playback_FL"), (f"{name}:out_2", "late:playback_FR")}
    for _ in range(2):
        session.pw_cli("create-node", "adapter",
                       "{ factory.name=support.null-audio-sink node.name=late media.class=Audio/Sink object.linger=true "
                       "audio.position=[FL FR] audio.rate=48000 audio.format=F32P priority.session=1 }")
        session.wait_until(lambda: links_of(session, name) == links, "links to the late sink")
        late = session.node("late")["id"]
        session.run("pw-link", "-d", f"{name}:out_2", "late:playback_FR")
        session.wait_until(lambda: len(links_of(session, name)) == 1, "one link less")
        session.force_quantum(512)  # something happens in the graph
        session.force_quantum(1024)
        assert links_of(session, name) == {(f"{name}:out_1", "late:playback_FL")}
        session.pw_cli("destroy", late)
        session.wait_gone("late")


def test_no_links_while_it_is_idle(session, start):
    _, port, name = start("-i", 0, "--set", "idle-after=1", SC_JACK_DEFAULT_OUTPUTS="system:playback_2")
    expected = {(f"{name}:out_1", f"{session.default_sink()}:playback_FR")}
    session.wait_until(lambda: links_of(session, name) == expected, "the link")
    session.wait_until(lambda: not links_of(session, name), "no links")
    with Client(port) as client:
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.send("/s_new", "test_sine", 1000, 0, 0)
        session.wait_until(lambda: links_of(session, name) == expected, "the link again")


def test_a_link_that_the_user_removed_stays_away_after_idling(session, start):
    sink = session.default_sink()
    _, port, name = start("-i", 0, "--set", "idle-after=1",
                          SC_JACK_DEFAULT_OUTPUTS="system:playback_2,system:playback_1")
    with Client(port) as client:
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.send("/s_new", "test_sine", 1000, 0, 0)
        kept, removed = (f"{name}:out_1", f"{sink}:playback_FR"), (f"{name}:out_2", f"{sink}:playback_FL")
        session.wait_until(lambda: links_of(session, name) == {kept, removed}, "both links")
        session.run("pw-link", "-d", *removed)
        session.wait_until(lambda: links_of(session, name) == {kept}, "one link less")
        client.send("/n_free", 1000)
        session.wait_until(lambda: not links_of(session, name), "no links")
        client.send("/s_new", "test_sine", 1001, 0, 0)
        wait_links(session, name, {("out_1", f"{sink}:playback_FR")})


def test_an_empty_name_leaves_a_port_out(session, start):
    sink = session.default_sink()
    child, _, name = start("-o", 3, "-i", 0, SC_JACK_DEFAULT_OUTPUTS=f"{sink}:playback_FR,,{sink}:playback_FL")
    wait_links(session, name, {("out_1", f"{sink}:playback_FR"), ("out_3", f"{sink}:playback_FL")})
    assert "there is no port" not in child.output()


def test_names_beyond_the_servers_ports_are_ignored(session, start):
    sink = session.default_sink()
    child, _, name = start("-i", 0, SC_JACK_DEFAULT_OUTPUTS=f"{sink}:playback_FR,late:a,{sink}:playback_FL")
    child.wait_output('there is no port "late:a" now')
    wait_links(session, name, {("out_1", f"{sink}:playback_FR")})
    assert child.output().count("there is no port") == 1


def test_properties_of_pipewires_variables(session, start):
    _, _, name = start(name="lute", PIPEWIRE_PROPS='{ node.name = lute, media.role = "Music" }',
                       PIPEWIRE_LATENCY="128/48000", PIPEWIRE_NODE="second-sink")
    properties = session.node(name)["info"]["props"]
    assert properties["node.description"] == "lute"
    assert properties["media.role"] == "Music"
    assert properties["node.latency"] == "128/48000"
    session.wait_until(lambda: {theirs.partition(":")[0] for ours, theirs in links_of(session, name)
                                if ":out_" in ours} == {"second-sink"}, "links to the node that is named")


def test_no_links_at_all(session, start):
    _, _, name = start(PIPEWIRE_AUTOCONNECT="false")
    _, _, beside = start()
    session.wait_until(lambda: links_of(session, beside), "links of another")
    assert links_of(session, name) == set()


def test_the_graph_has_the_forced_quantum(session, start):
    session.force_quantum(0)
    try:
        _, _, name = start(PIPEWIRE_QUANTUM="256/48000")
        session.wait_until(lambda: links_of(session, name), "links")
        screen_shows(session.env, rb"256 +48000 .*" + name.encode())
    finally:
        session.force_quantum(1024)


def test_what_cannot_be_obeyed_is_said(start):
    child, _, _ = start(PIPEWIRE_LATENCY="256", PIPEWIRE_PROPS="{ scsynth.outputs = 3 }")
    output = child.output()
    assert "PIPEWIRE_LATENCY=256 has no effect: expected two numbers, such as 256/48000" in output
    assert "PIPEWIRE_PROPS: scsynth.outputs has no effect there; --set takes it" in output
