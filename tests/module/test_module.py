# SPDX-License-Identifier: GPL-3.0-or-later
"""The module in a private daemon and in clients of it. The environment names what was built:
MODULE, CYCLES and PLUGIN, the SPA library to use as scsynth/libspa-scsynth."""
import json
import os
import re
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "policy"))
from daemons import Session, wait_for  # noqa: E402
from tests.lib import pipewire, session_config  # noqa: E402
from tests.lib.ports import free_port  # noqa: E402

MODULE, PLUGIN, CYCLES = (Path(os.environ[name]) for name in ("MODULE", "PLUGIN", "CYCLES"))
REAL = "stand-in" not in PLUGIN.name
# In these tests the C library gives back what is freed: else it keeps up to 6 MiB, depending on which threads ran when.
GIVES_BACK = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "131072"}
GROWTH_KIB = 1024 if REAL else 256


def module_entry(args="", flags="ifexists nofail"):
    return f"{{ name = libpipewire-module-scsynth args = {{ {args} }} flags = [ {flags} ] }}"


class Daemon(Session):
    """A private daemon whose configuration has `modules` besides PipeWire's own."""

    def __init__(self, *modules, drop_in=None, plugin=PLUGIN, env=None, start=True):
        super().__init__()
        text = drop_in or "context.modules = [ " + " ".join(modules) + " ]\n"
        (self.drop_ins / "90-scsynth.conf").write_text(text)
        spa = self.folder / "spa"
        (spa / "scsynth").mkdir(parents=True)
        if plugin:
            (spa / "scsynth/libspa-scsynth.so").symlink_to(plugin)
        self.env |= session_config.where(self.folder / "with-ours", [spa], [MODULE.parent]) | (env or {})
        self.starts = start

    def __enter__(self):
        try:
            if self.starts:
                self.start_pipewire()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def process(self):
        return self.processes[1]

    def log(self):
        return (self.folder / "pipewire.log").read_text(errors="replace")

    def load(self, args=""):
        """Loads the module as a client; what pw-cli prints when it fails, else nothing."""
        # PipeWire 1.6's asks for all that is announced, and prints this of clients that are gone by then: here the
        # module's own connection.
        gone = re.compile(r"remote \d+: error .*: (no global \d+|unknown resource \d+ op:\d+)\n")
        done = subprocess.run(["pw-cli", "load-module", "libpipewire-module-scsynth",
                               f"{{ {args} }}"], env=self.env, capture_output=True, text=True,
                              timeout=15)
        assert done.returncode == 0
        return gone.sub("", done.stderr)

    def objects(self, kind):
        text = self.run("pw-dump")
        return {item["id"]: item["info"] for item in json.JSONDecoder().raw_decode(text)[0]
                if item["type"] == f"PipeWire:Interface:{kind}" and item.get("info")}

    def nodes(self):
        """The servers by name, with their properties."""
        return {info["props"]["node.name"]: info["props"]
                for info in self.objects("Node").values()
                if "scsynth.osc.port" in info["props"]}

    def modules(self):
        return [number for number, info in self.objects("Module").items()
                if info["name"] == "libpipewire-module-scsynth"]

    def destroy(self, number):
        self.run("pw-cli", "destroy", str(number))

    def wait_nodes(self, *names):
        wait_for(lambda: set(self.nodes()) == set(names), f"just the nodes {names}")

    def rss_kib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def ask(port, packet):
    """The server's answer."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(10)
        sock.sendto(packet, ("127.0.0.1", port))
        return sock.recv(256)


def send_quit(port):
    """Asks the server to quit and waits for its answer."""
    assert b"/quit" in ask(port, b"/quit\0\0\0,\0\0\0")


# In the daemon's configuration

def test_configuration_makes_the_node():
    port = free_port()
    with Daemon(module_entry(f"scsynth.osc.port = {port} default.note = kept")) as daemon:
        daemon.wait_nodes(f"scsynth-{port}")
        props = daemon.nodes()[f"scsynth-{port}"]
        assert props["module.id"] in daemon.modules()
        assert props["clock.quantum-limit"] == 8192
        assert props["scsynth.rate"] == 48000
        assert props["default.note"] == "kept"
        assert "client.id" not in props


def test_a_rate_of_the_users_is_left_alone():
    with Daemon(module_entry("scsynth.osc.port = 0 scsynth.rate = 96000")) as daemon:
        wait_for(daemon.nodes, "a node")
        assert [props["scsynth.rate"] for props in daemon.nodes().values()] == [96000]


def test_two_modules_make_two_nodes():
    ports = free_port(), free_port()
    entries = [module_entry(f"scsynth.osc.port = {port}") for port in ports]
    with Daemon(*entries) as daemon:
        daemon.wait_nodes(*(f"scsynth-{port}" for port in ports))
        assert len(daemon.modules()) == 2


def test_the_drop_in_that_is_installed():
    port = free_port()
    text = (ROOT / "conf/90-scsynth.conf").read_text()
    text, count = re.subn(r"scsynth\.osc\.port = 57110", f"scsynth.osc.port = {port}", text)
    assert count == 1
    with Daemon(drop_in=text) as daemon:
        daemon.wait_nodes(f"scsynth-{port}")


@pytest.mark.parametrize("args, reason", [
    ("scsynth.osc.port = seven", "a setting is wrong"),
    ("library.name = scsynth/nothing", "no library scsynth/nothing"),
    ("factory.name = audio.nothing", "a factory audio.nothing"),
    ("nonsense", "no list of key = value"),
    ("scsynth.isolation = elsewhere", "scsynth.isolation may be loop or process"),
    ("scsynth.isolation = process program.name = /nothing", "cannot run /nothing"),
])
def test_wrong_args_do_not_stop_the_daemon(args, reason):
    with Daemon(module_entry(args)) as daemon:
        assert daemon.nodes() == {}
        assert daemon.modules() == []
        # Newer ones leave out a file of their configuration that isn't SPA-JSON.
        assert reason in daemon.log() or (args == "nonsense" and "error in config" in daemon.log())
        assert daemon.process.poll() is None


@pytest.mark.parametrize("level, said", [(0, False), (1, True)])
def test_its_log_topic_has_a_level_of_its_own(level, said):
    daemon = Daemon(module_entry("scsynth.osc.port = seven"))
    daemon.env["PIPEWIRE_DEBUG"] = f"mod.scsynth:{level}"
    with daemon:
        assert daemon.nodes() == {}  # it answers once its modules are loaded
        assert ("a setting is wrong" in daemon.log()) == said


def test_without_the_plugin_the_drop_in_does_not_stop_the_daemon():
    with Daemon(drop_in=(ROOT / "conf/90-scsynth.conf").read_text(), plugin=None) as daemon:
        assert daemon.nodes() == {}
        assert "no library scsynth/libspa-scsynth" in daemon.log()


def test_a_failed_module_is_an_error_to_the_daemon():
    """Without nofail the daemon ends, which shows that the module's failure reached it."""
    port = free_port()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", port))
        with Daemon(module_entry(f"scsynth.osc.port = {port}", flags=""), start=False) as daemon:
            process = daemon.spawn("pipewire", "pipewire")
            process.wait(10)
            assert f"port {port} is taken by another server or program" in daemon.log()


def test_unloading_the_module_removes_the_node():
    with Daemon(module_entry("scsynth.osc.port = 0")) as daemon:
        wait_for(daemon.nodes, "a node")
        if pipewire.version() >= (0, 3, 77):
            pytest.skip("PipeWire lets no client unload a module since 0.3.77")
        daemon.destroy(daemon.modules()[0])
        daemon.wait_nodes()
        assert daemon.modules() == []


@pytest.mark.skipif(pipewire.one_loop() is not None, reason=str(pipewire.one_loop()))
@pytest.mark.skipif(REAL, reason="the stand-in tells its threads")
def test_cycles_run_on_the_loop_that_the_plugin_was_given():
    ports = [free_port() for _ in range(4)]
    with Daemon(drop_in="context.properties = { context.num-data-loops = 3 }\ncontext.modules = [ " +
                " ".join(module_entry(f"scsynth.osc.port = {port}") for port in ports) + " ]\n") as daemon:
        daemon.wait_nodes(*(f"scsynth-{port}" for port in ports))

        def threads():
            found = [struct.unpack("ii", ask(port, b"threads")) for port in ports]
            return found if all(of_cycle for _, of_cycle in found) else None

        found = wait_for(threads, "cycles of all nodes")
        assert [of_cycle for _, of_cycle in found] == [of_loop for of_loop, _ in found]
        assert len(set(found)) == 3
        assert len({props["node.loop.name"] for props in daemon.nodes().values()}) == 3


def test_destroying_the_node_unloads_the_module():
    with Daemon(module_entry("scsynth.osc.port = 0")) as daemon:
        wait_for(daemon.nodes, "a node")
        daemon.destroy(next(iter(daemon.nodes().values()))["object.id"])
        daemon.wait_nodes()
        wait_for(lambda: not daemon.modules(), "the module to go")


def test_quit_ends_a_node_that_may():
    port = free_port()
    with Daemon(module_entry(f"scsynth.osc.port = {port} scsynth.allow-quit = true")) as daemon:
        daemon.wait_nodes(f"scsynth-{port}")
        send_quit(port)
        daemon.wait_nodes()
        assert daemon.modules() == []
        assert daemon.process.poll() is None


def test_quit_leaves_a_node_of_the_configuration():
    port = free_port()
    with Daemon(module_entry(f"scsynth.osc.port = {port}")) as daemon:
        daemon.wait_nodes(f"scsynth-{port}")
        send_quit(port)
        assert set(daemon.nodes()) == {f"scsynth-{port}"}


def test_cycles_in_the_daemon_do_not_grow_it():
    with Daemon(env=GIVES_BACK) as daemon:
        grown = daemon.run(str(CYCLES), "daemon", "120", "{ scsynth.osc.port = 0 }")
        assert int(grown) < GROWTH_KIB


# In a client

def test_a_clients_node_is_the_daemons_and_stays():
    port = free_port()
    with Daemon() as daemon:
        assert daemon.load(f"scsynth.osc.port = {port}") == ""
        assert set(daemon.nodes()) == {f"scsynth-{port}"}
        props = daemon.nodes()[f"scsynth-{port}"]
        assert props["scsynth.rate"] == 48000
        assert "client.id" not in props and "remote.name" not in props
        maps = Path(f"/proc/{daemon.process.pid}/maps").read_text()
        assert PLUGIN.name in maps


def test_a_client_can_name_the_daemon():
    with Daemon() as daemon:
        assert "no connection to PipeWire" in daemon.load("remote.name = nobody")
        elsewhere = daemon.env | {"XDG_RUNTIME_DIR": str(daemon.folder)}
        args = f"scsynth.osc.port = 0 remote.name = {daemon.runtime}/pipewire-0"
        subprocess.run([str(CYCLES), "client", "1", f"{{ {args} }}"], env=elsewhere, timeout=15,
                       check=True)
        assert len(daemon.nodes()) == 1


@pytest.mark.parametrize("args, reason", [
    ("scsynth.osc.port = seven", 'scsynth.osc.port = "seven": expected a whole number from 0 to 65535'),
    ("scsynth.outputs = 5000", 'scsynth.outputs = "5000": expected a whole number from '),
    ("scsynth.autoconnect = maybe", 'scsynth.autoconnect = "maybe": expected true or false'),
    ("library.name = scsynth/nothing", "no library scsynth/nothing"),
    ("factory.name = audio.nothing", "a factory audio.nothing"),
    ("nonsense", "no list of key = value"),
    ("scsynth.isolation = process", "scsynth.isolation may be loop here: pw-scsynth --client runs a server in a process"),
])
def test_a_client_is_told_what_is_wrong(args, reason):
    with Daemon() as daemon:
        printed = daemon.load(args)
        assert reason in printed
        assert "Could not load module" in printed
        assert daemon.nodes() == {}


def test_a_client_is_told_of_keys_that_are_no_settings():
    with Daemon() as daemon:
        printed = daemon.load("scsynth.osc.port = 0 scsynth.output = 2")
        assert "scsynth.output is not a setting" in printed
        assert len(daemon.nodes()) == 1


def test_a_client_is_told_of_a_taken_port():
    port = free_port()
    with Daemon() as daemon:
        assert daemon.load(f"scsynth.osc.port = {port}") == ""
        printed = daemon.load(f"scsynth.osc.port = {port}")
        assert f"port {port} is taken by another server or program: choose another with scsynth.osc.port" \
            in printed
        assert len(daemon.nodes()) == 1


def test_a_client_does_not_wait_for_ever():
    """A socket that nobody answers."""
    with Daemon() as daemon:
        path = daemon.runtime / "silent-0"
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(str(path))
            sock.listen()
            printed = daemon.load(f"remote.name = {path}")
        assert "has not answered within 5 s" in printed


def test_ninety_nodes_of_clients_do_not_grow_the_daemon():
    held = []
    with Daemon(env=GIVES_BACK) as daemon:
        for number in range(90):
            held.append(daemon.rss_kib())
            assert daemon.load("scsynth.osc.port = 0") == ""
            if number == 0:
                wait_for(lambda: all(props["scsynth.state"] == "running"
                                     for props in daemon.nodes().values()), "the server to run")
            # By its number: a pattern may match a port.
            for props in daemon.nodes().values():
                daemon.destroy(props["object.id"])
        daemon.wait_nodes()
    # As in cycles.cpp; the first is without what all servers share.
    assert min(held[45:]) - min(held[1:45]) < GROWTH_KIB


def test_fifty_cycles_in_a_client_do_not_grow_it():
    with Daemon(env=GIVES_BACK) as daemon:
        grown = daemon.run(str(CYCLES), "client", "50", "{ scsynth.osc.port = 0 }")
        assert int(grown) < GROWTH_KIB
        assert len(daemon.nodes()) == 50
