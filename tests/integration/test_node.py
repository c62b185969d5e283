# SPDX-License-Identifier: GPL-3.0-or-later
"""The node in the graph: ports, properties, making and removing it."""
import time

import pytest

from tests.lib import process, scsynth
from tests.lib.build import ROOT
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.server import NodeServer

pytestmark = pytest.mark.usefixtures("ours")
DROP_IN = ROOT / "conf/80-scsynth-threads.conf"
SINE = str(ROOT / "tests/integration/synthdefs/test_sine.scsyndef")


def properties(session, name="scsynth"):
    return session.node(name)["info"]["props"]


def cpu_of(session):
    return sum(thread["cpu_seconds"] for thread in process.threads(session.daemon.pid).values())


def test_node_with_ports_and_properties(session):
    port = free_port()
    NodeServer(session, port)
    assert session.ports("scsynth", "out") == ["out_1", "out_2"]
    assert session.ports("scsynth", "in") == ["in_1", "in_2", "control_1"]
    props = properties(session)
    assert int(props["scsynth.osc.port"]) == port
    assert str(props["scsynth.autoconnect"]).lower() == "true"
    assert props["media.class"] == "Stream/Output/Audio"


@pytest.mark.parametrize("given, followed", [({}, ("3.13", "3.14")), ({"supercollider": "auto"}, ("3.13", "3.14")),
                                             ({"supercollider": "3.14"}, ("3.14",))], ids=["default", "auto", "chosen"])
def test_the_supercollider_that_native_units_follow_is_published(session, given, followed):
    NodeServer(session, free_port(), given)
    process.wait_for(lambda: str(properties(session).get("scsynth.supercollider")) in followed, "the release")


@pytest.mark.parametrize("given, sets", [({}, ("avx512", "avx2", "sse2", "plain")), ({"simd": "sse2"}, ("sse2", "plain"))],
                         ids=["auto", "chosen"])
def test_the_instruction_set_of_native_units_is_published(session, given, sets):
    NodeServer(session, free_port(), given)
    process.wait_for(lambda: str(properties(session).get("scsynth.simd")) in sets, "the set")


@pytest.mark.parametrize("given, threads", [({"threads": 2}, 2), ({"threads": 2, "parallel": "off"}, 1)],
                         ids=["plain", "not parallel"])
def test_the_threads_that_there_are_are_published(session, given, threads):
    server = NodeServer(session, free_port(), given)
    process.wait_for(lambda: int(properties(session)["scsynth.threads"]) == threads, "the number of threads")
    with Client(server.port) as client:
        costs = client.request("/g_queryCost", 0, reply="/g_queryCost.reply").args
    assert costs[9] == threads


def test_ports_as_many_as_asked_for(session):
    NodeServer(session, free_port(), {"inputs": 1, "outputs": 8, "control-inputs": 2})
    assert session.ports("scsynth", "out") == [f"out_{i}" for i in range(1, 9)]
    assert session.ports("scsynth", "in") == ["in_1", "control_1", "control_2"]


def test_port_zero_is_published(session):
    NodeServer.create(session, 0)
    session.wait_node("scsynth")
    port = process.wait_for(lambda: int(properties(session)["scsynth.osc.port"]), "an OSC port")
    with Client(port) as client:
        client.wait_ready()


def test_a_taken_port_is_an_error_that_names_it(session):
    port = free_port()
    NodeServer(session, port)
    NodeServer.create(session, port, name="scsynth-second")
    process.wait_for(lambda: str(port) in session.daemon.output(), "an error that names the port")
    assert session.node("scsynth-second") is None
    with Client(port) as client:
        client.status()


def test_answers_without_links_and_suspended(session):
    server = NodeServer(session, free_port())
    assert session.links() == []
    with Client(server.port) as client:
        client.status()
        node = session.node("scsynth")["id"]
        session.pw_cli("send-command", node, "Suspend", "{}")
        client.command("/d_load", SINE)
        client.sync()


def test_it_runs_without_links(session):
    server = NodeServer(session, free_port())
    with Client(server.port) as client:
        client.command("/d_load", SINE)
        client.send("/s_new", "test_sine", 1000, 0, 0)
        session.wait_until(lambda: client.status()[5] > 0, "processor time of its cycles")
    assert session.links() == []


def test_clients_that_quit_take_the_lingering_node_down(session):
    server = NodeServer(session, free_port())
    with Client(server.port) as client:
        client.command("/quit")
    process.wait_for(lambda: (session.node("scsynth") is None
                              or properties(session).get("scsynth.state") == "quit"), "the end")


def test_module_in_the_daemon():
    port = free_port()
    module = f"{{ name = libpipewire-module-scsynth args = {{ scsynth.osc.port = {port} }} }}"
    with Session(modules=[module]) as session:
        session.wait_node(f"scsynth-{port}")
        with Client(port) as client:
            client.wait_ready()


def test_module_from_pw_cli(session):
    port = free_port()
    session.pw_cli("load-module", "libpipewire-module-scsynth", f"{{ scsynth.osc.port = {port} }}")
    session.wait_node(f"scsynth-{port}")
    with Client(port) as client:
        client.wait_ready()


def test_two_nodes_side_by_side(session):
    first = NodeServer(session, free_port())
    second = NodeServer(session, free_port(), name="scsynth-second")
    for server in (first, second):
        with Client(server.port) as client:
            client.command("/d_load", SINE)
            client.command("/notify", 1)
            client.request("/s_new", "test_sine", 1000, 0, 0, reply="/n_go")
    first.stop()
    with Client(second.port) as client:
        assert client.status()[2] == 1


@pytest.fixture
def one_arena():
    """A session whose daemon takes all memory from one arena. With several, each thread uses whichever
    is free, and the daemon grows again when the work of a round first uses another one."""
    with Session(env={"MALLOC_ARENA_MAX": "1"}) as session:
        session.force_quantum(256)
        yield session
        assert session.daemon.running(), session.logs()


def churn(session, times):
    """Load, play, unload; returns the daemon's resident KiB after each round."""
    memory = []
    for _ in range(times):
        server = NodeServer(session, free_port())
        session.connect("scsynth", "test-sink")
        with Client(server.port) as client:
            client.command("/d_load", SINE)
            client.send("/s_new", "test_sine", 1000, 0, 0)
            client.sync()
        asked = time.monotonic()
        session.pw_cli("info", "0")
        assert time.monotonic() - asked < 0.5, "the daemon hesitated"
        server.stop()
        memory.append(process.resident_kib(session.daemon.pid))
    return memory


def test_loading_and_unloading_a_playing_node(one_arena):
    memory = churn(one_arena, 10)
    # A leak shows in every two rounds; a step that the heap takes once, as its pieces fit less well, in some.
    assert min(later - earlier for earlier, later in zip(memory[4:], memory[6:])) < 200, memory


@pytest.mark.long
def test_loading_and_unloading_a_hundred_times(one_arena):
    memory = churn(one_arena, 100)
    assert memory[-1] - memory[20] < 512, memory


def test_the_daemon_answers_while_the_node_comes_and_goes(session):
    """`pw-cli info 0`, with pw-cli's own start, takes less than 100 ms at its median and the
    daemon never blocks for long."""
    times = []
    server = NodeServer(session, free_port())
    for _ in range(20):
        asked = time.monotonic()
        session.pw_cli("info", "0")
        times.append(time.monotonic() - asked)
    server.stop()
    assert sorted(times)[10] < 0.1, times


@pytest.mark.skipif(not scsynth.available(), reason="needs stock scsynth and pw-jack")
def test_an_idle_node_wakes_nobody(session):
    """The node runs on the daemon's data loop. At quantum 64 all its other threads sleep."""
    session.force_quantum(64)
    NodeServer(session, free_port())
    session.connect("scsynth", "test-sink")
    session.wait_state("test-sink", "running")
    before = process.threads(session.daemon.pid)
    cpu, start = cpu_of(session), time.monotonic()
    time.sleep(2)
    seconds = time.monotonic() - start
    after = process.threads(session.daemon.pid)
    rates = {info["name"]: (info["voluntary_switches"] - before[tid]["voluntary_switches"]) / seconds
             for tid, info in after.items() if tid in before}
    busy = {name: rate for name, rate in rates.items() if rate > 100}
    assert len(busy) <= 1, f"context switches a second: {rates}"
    assert sum(rates.values()) < 2000, rates
    assert (cpu_of(session) - cpu) / seconds < 0.1


def test_in_a_daemon_that_loads_only_the_libraries_that_it_lists():
    """Versions before 1.7 know no such setting; they find the plugin by the list, too."""
    listed_only = "context.properties = { library.use-fallback = false }\n"
    fragments = {DROP_IN.name: DROP_IN.read_text(), "81-listed-only.conf": listed_only}
    with Session(sinks={}, wireplumber=False, fragments=fragments) as session:
        NodeServer(session, free_port(), library=None)
