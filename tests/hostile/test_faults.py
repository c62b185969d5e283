# SPDX-License-Identifier: GPL-3.0-or-later
"""UGens that break in every way they can, in a node of the daemon's configuration: what is contained ends their synth
alone; what isn't ends the daemon, and the node is in a process of its own afterwards. See docs/safety.md."""
import os
import resource
import signal
from pathlib import Path

import pytest

from tests.hostile.conftest import SINE
from tests.hostile.test_packets import one_unit
from tests.lib.build import BUILD
from tests.lib.daemon import Session
from tests.lib.osc import Client, NoReply
from tests.lib.ports import free_port
from tests.lib.process import threads
from tests.lib.server import is_stock

pytestmark = pytest.mark.skipif(is_stock(), reason="it is about our node")

CONTAINED = ("Crash", "Abort", "SmashStack", "Terminate", "ThrowNoexcept", "Endless", "EndlessStart",
             "Waits", "WaitsStart", "Deadlock")
ENDLESS = ("Endless", "EndlessStart", "Waits", "WaitsStart", "Deadlock")
CORRUPTED = "the heap is corrupted, most likely by a UGen; '{}' was running; the process ends"
LOST = {"FreeTwice": (signal.SIGABRT, CORRUPTED), "SpoilHeap": (signal.SIGABRT, CORRUPTED),
        "Exit": (signal.SIGABRT, "UGen '{}' has called exit(); the process ends"),
        "CrashThread": (signal.SIGSEGV, "' has crashed (SIGSEGV), where no UGen can be ended for it; the process ends")}
PASSWORD = "not-for-everyone"


class Configured:
    """A daemon whose configuration has a node with the UGens of misbehaving.cpp, and another node."""

    def __init__(self, folder, **settings):
        for plugin in ("IOUGens", "OscUGens", "BinaryOpUGens"):
            (folder / f"{plugin}.so").symlink_to(f"/usr/lib/SuperCollider/plugins/{plugin}.so")
        name = "misbehaving.so"
        (folder / name).symlink_to(BUILD / "tests/hostile" / name)
        self.port, self.other_port = free_port(), free_port()
        self.has_password = "password" in settings
        settings = {"osc.port": self.port, "ugen-path": f'"{folder}"'} | settings
        args = " ".join(f"scsynth.{key} = {value}" for key, value in settings.items())
        modules = [entry(args), entry(f"scsynth.osc.port = {self.other_port}")]
        self.session = Session(modules=modules, wireplumber=False)
        self.names = f"scsynth-{self.port}", f"scsynth-{self.other_port}"

    def __enter__(self):
        self.session.__enter__()
        self.wait_up()
        return self

    def __exit__(self, *_):
        self.session.close()

    def wait_up(self):
        """Until both nodes serve."""
        for name, port in zip(self.names, (self.port, self.other_port)):
            self.session.wait_until(lambda name=name: self.props(name).get("scsynth.state") == "running",
                                    f"the node {name}")
            if not (self.has_password and port == self.port):  # then it doesn't answer UDP
                with Client(port) as client:
                    client.wait_ready()

    def wait_logged(self, text):
        """pw-dump may wait for ever for a process that ends while it asks it for its node's parameters."""
        self.session.wait_until(lambda: text in self.session.daemon.output(), text)

    def props(self, name=None):
        node = self.session.node(name or self.names[0])
        return node["info"]["props"] if node else {}

    def process(self):
        """The process that the node is in: the daemon's own, or a client's."""
        client = self.props().get("client.id")
        if client is None:
            return self.session.daemon.pid
        clients = {item["id"]: item["info"]["props"] for item in self.session.objects("Client")}
        return int(clients[client]["pipewire.sec.pid"])

    def restart(self):
        """The same configuration in a new daemon."""
        old = self.session.daemon
        (self.session.dir / "run/pipewire-0").unlink(missing_ok=True)
        self.session.daemon = self.session.start(old.command, "pipewire")
        self.session.wait_until((self.session.dir / "run/pipewire-0").exists, "the daemon's socket")
        self.wait_up()

    def play(self, ugen, *nodes):
        """Make synths of the UGen, all at once."""
        with Client(self.port) as client:
            client.command("/d_recv", one_unit(ugen.encode(), 2, [], [2]))
            client.send_at(None, *[("/s_new", "evil", node, 1, 0) for node in nodes])
            try:  # a packet is refused if its sender is gone when it is read
                client.sync()
            except (NoReply, OSError):
                pass  # the process may have ended


def entry(args):
    program = f"program.name = {BUILD}/src/cli/pw-scsynth"
    return f"{{ name = libpipewire-module-scsynth args = {{ {args} {program} }} }}"


@pytest.fixture(name="configured")
def fixture_configured(tmp_path):
    with Configured(tmp_path) as made:
        yield made


def test_what_is_contained(configured):
    session = configured.session
    with Client(configured.port) as client, Client(configured.other_port) as other:
        for each in (client, other):
            each.command("/notify", 1)
            each.command("/d_recv", SINE.read_bytes())
            each.send("/s_new", "test_sine", 1000, 0, 0)
        session.connect(configured.names[0], "test-sink")
        for number, ugen in enumerate(CONTAINED):
            node = 2000 + number
            configured.play(ugen, node)
            client.wait("/n_go", where=lambda args, node=node: args[0] == node)
            client.wait("/n_end", where=lambda args, node=node: args[0] == node)
            what = "took too long" if ugen in ENDLESS else "crashed"
            assert f"UGen '{ugen}' of synth {node} (evil) {what}; the synth is freed" in session.daemon.output()
            for each in (client, other):
                assert each.request("/n_query", 1000, reply="/n_info").args[:4] == [1000, 0, -1, -1]
        assert session.daemon.running(), session.logs()
        assert "the engine crashed" not in session.daemon.output()


def test_a_generator_without_end(tmp_path):
    """Plugins' jobs may take as long as they like. It keeps their thread busy, and nothing else."""
    with Configured(tmp_path) as configured, Client(configured.port) as client:
        client.command("/b_alloc", 1, 100)
        client.send("/b_gen", 1, "endless")
        for number in range(2, 20):
            client.command("/b_alloc", number, 100)
        assert configured.session.daemon.running()


def test_many_endless_synths_under_rtkits_limit(tmp_path):
    """It has the kernel kill whoever computes for 200 ms at real-time priority. Without a deadline all of them have
    their turn in one cycle."""
    with Configured(tmp_path, **{"cpu-limit": 0, "overload": "none"}) as configured:
        session = configured.session
        loops = [thread for thread, info in threads(session.daemon.pid).items()
                 if info["name"] == "data-loop.0" or info["name"] == "pipewire" and thread != session.daemon.pid]
        assert loops
        try:
            resource.prlimit(session.daemon.pid, resource.RLIMIT_RTTIME, (200_000, 200_000))
            for thread in loops:
                os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(10))
        except PermissionError:
            pytest.skip("real-time priority is not permitted")
        session.connect(configured.names[0], "test-sink")
        with Client(configured.port) as client:
            client.command("/notify", 1)
            nodes = range(3000, 3010)
            configured.play("Endless", *nodes)
            for node in nodes:
                client.wait("/n_end", where=lambda args, node=node: args[0] == node)
        assert session.daemon.running(), session.logs()


@pytest.mark.parametrize("ugen", LOST)
def test_what_ends_the_process(configured, ugen):
    session = configured.session
    ends, line = LOST[ugen][0], LOST[ugen][1].format(ugen)
    assert configured.props()["scsynth.isolation"] == "loop"
    assert configured.process() == session.daemon.pid
    session.connect(configured.names[0], "test-sink")
    first = session.daemon
    configured.play(ugen, 1000)
    session.wait_until(lambda: not first.running(), "the end of the daemon")
    assert first.returncode() == -ends
    assert line in first.output()

    configured.restart()
    assert configured.props()["scsynth.isolation"] == "process (the last run crashed)"
    log = session.daemon.output()
    told = log.index("the last run crashed (scsynth: ")
    assert line in log[told:log.index(": this time the node runs in a process of its own", told)]
    apart = configured.process()
    assert apart != session.daemon.pid
    session.connect(configured.names[0], "test-sink")
    configured.play(ugen, 1000)
    configured.wait_logged(f"the node's process was ended by signal {ends.value}")
    session.wait_until(lambda: configured.props().get("scsynth.state") == "running" and configured.process() != apart,
                       "another process for the node")
    assert session.daemon.running(), session.logs()
    assert line in session.daemon.output()[told + len(line):]


def test_a_process_of_its_own(tmp_path):
    with Configured(tmp_path, isolation="process", password=PASSWORD, inputs=3) as configured:
        session = configured.session
        assert configured.props()["scsynth.isolation"] == "process"
        assert len(session.ports(configured.names[0], "in")) == 4  # with the control input
        assert len(session.ports(configured.names[0], "out")) == 2  # the node's default, not that of the program
        first = configured.process()
        assert first != session.daemon.pid
        for what in ("cmdline", "environ"):
            assert PASSWORD.encode() not in Path(f"/proc/{first}/{what}").read_bytes()

        os.kill(first, signal.SIGKILL)
        configured.wait_logged("the node's process was ended by signal 9")
        session.wait_until(lambda: configured.props().get("scsynth.state") == "running"
                           and configured.process() != first, "another process")
        second = configured.process()

        modules = [item["id"] for item in session.objects("Module")
                   if item["info"]["name"] == "libpipewire-module-scsynth"]
        session.pw_cli("destroy", min(modules))
        session.wait_gone(configured.names[0])
        session.wait_until(lambda: not Path(f"/proc/{second}").exists(), "the end of the process")
        assert session.node(configured.names[1])


def test_the_process_ends_with_the_daemon(tmp_path):
    with Configured(tmp_path, isolation="process") as configured:
        apart = configured.process()
        os.kill(configured.session.daemon.pid, signal.SIGKILL)
        configured.session.wait_until(lambda: not Path(f"/proc/{apart}").exists(), "the end of the process")
