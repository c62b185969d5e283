# SPDX-License-Identifier: GPL-3.0-or-later
"""Plugin files in the user's Extensions: those that go wrong while they are loaded are named and left out, those that are
replaced while they are loaded change nothing but what starts later, and what isn't there is explained."""
import os
import shutil
import subprocess

import numpy as np
import pytest

from tests.hostile.test_packets import one_unit, synthdef, unit
from tests.hostile.test_ugen_path import OWN, module
from tests.lib.audio import read_wav
from tests.lib.build import BUILD, PW_SCSYNTH
from tests.lib.daemon import Session
from tests.lib.osc import Client, Failed
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.recording import Recording
from tests.lib.scsynth import score_bytes
from tests.lib.server import NodeServer, is_stock

pytestmark = pytest.mark.skipif(is_stock(), reason="it is about our node")

PLUGINS = BUILD / "tests/hostile"
DOES = {"crash": "crashed (SIGSEGV)", "abort": "called abort()", "throw": "threw an exception",
        "exit": "ended the process with exit status 3", "hang": "did not end", "deaf": "did not end",
        "noisy": "did not end", "thread": "crashed (SIGSEGV)", "greedy": "threw an exception"}
BAD = {f"{how}-in-{where}.so": does for where in ("constructor", "version", "load") for how, does in DOES.items()}
FIRST, SECOND = 0.25, 0.75  # what both versions play
NOT_PROBED = "/proc/none/pw-scsynth-probe"


def playing(name):
    """A SynthDef "evil" that plays that UGen on bus 0."""
    return synthdef(1, 0, 0, 2, 0, numbers=bytes(4),
                    tail=unit(name.encode(), 2, [], [2]) + unit(b"Out", 2, [(-1, 0), (0, 0)], []))


class User:
    """Somebody's home: Extensions, and the daemons that are started with them."""

    def __init__(self, home):
        self.home = home
        self.extensions = home / "data/SuperCollider/Extensions"
        self.extensions.mkdir(parents=True)
        self.env = {"XDG_DATA_HOME": str(home / "data"), "XDG_CACHE_HOME": str(home / "cache")}

    def install(self, plugin, name=None):
        target = self.extensions / (name or plugin)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PLUGINS / plugin, target)
        return target

    def session(self, *settings, **env):
        return Session(modules=[module(each) for each in settings], wireplumber=False, env=self.env | env)


@pytest.fixture
def user(tmp_path):
    return User(tmp_path)


def play(port, name, node=1000):
    with Client(port) as client:
        client.command("/d_recv", playing(name))
        client.send("/s_new", "evil", node, 0, 0)
        client.sync()


def commanded(port, name):
    """What a plugin's command and buffer generator set."""
    with Client(port) as client:
        client.send("/cmd", name)
        client.command("/b_alloc", 0, 16)
        client.command("/b_gen", 0, name)
        bus = client.request("/c_get", 0, reply="/c_set")
        sample = client.request("/b_get", 0, 0, reply="/b_set")
        return bus.args[1], sample.args[2]


def values(session, folder, node):
    """What it plays for a moment."""
    path = folder / "take.wav"
    with Recording(session, path, node) as recording:
        recording.wait(0.1)
    return set(np.unique(read_wav(path)[0][:, 0]))


def failure(port, name):
    with Client(port) as client, pytest.raises(Failed) as failed:
        client.command("/d_recv", one_unit(name.encode(), 2, [], [2]))
    return str(failed.value)


def state(session, name):
    node = session.node(name)
    return node and node["info"]["props"].get("scsynth.state")


def test_files_that_go_wrong_while_they_are_loaded(user):
    for name in BAD:
        user.install(name, f"bad/{name}")
    user.install("versioned-1.so")
    whole = (PLUGINS / "versioned-1.so").read_bytes()
    (user.extensions / "text.so").write_text("no library")
    (user.extensions / "short.so").write_bytes(whole[:9000])
    (user.extensions / "other.so").write_bytes(whole[:18] + b"\x28\0" + whole[20:])
    port = free_port()
    for probe in {}, {"SCS_UGEN_PROBE": NOT_PROBED}:  # the second start knows all of them
        with user.session(f"scsynth.osc.port = {port} node.name = configured", **probe) as session:
            session.wait_node("configured")
            session.pw_cli("info", "0")  # the daemon isn't kept waiting
            session.wait_until(lambda session=session: state(session, "configured") == "running", "the server", 180)
            log = session.daemon.output()
            for name, does in BAD.items():
                assert f"bad/{name}: {does} when it was tried in a process of its own" in log
            assert "text.so: not a shared library" in log
            assert "short.so: cut short" in log
            assert "other.so: built for 32-bit ARM" in log
            assert NOT_PROBED not in log
            session.connect("configured", "test-sink")
            play(port, "Versioned")
            assert values(session, user.home, "configured") == {np.float32(FIRST)}
            assert session.daemon.running()


def test_a_bad_file_offline_and_in_a_client(user):
    user.install("crash-in-load.so")
    user.install("versioned-1.so")
    score, made = user.home / "score.osc", user.home / "made.wav"
    score.write_bytes(score_bytes([(0, ("/d_recv", playing("Versioned"))), (0.01, ("/s_new", "evil", 1000, 0, 0))], 0.1))
    done = subprocess.run([PW_SCSYNTH, "-N", score, "_", made, "48000", "WAV", "float"], env=os.environ | user.env,
                          capture_output=True, text=True, timeout=60, check=True)
    assert "crash-in-load.so: crashed (SIGSEGV)" in done.stdout + done.stderr
    assert read_wav(made)[0][-100, 0] == FIRST
    with user.session() as session:
        port = free_port()
        server = session.start([str(PW_SCSYNTH), "-u", str(port), "-D", "0", "--client"], "pw-scsynth")
        session.wait_until(lambda: "ready" in server.output(), "a server in its own process")
        play(port, "Versioned")
        assert server.running()


def test_where_no_file_can_be_tried(user):
    """Then the plugins' load() runs under guard, and what it did is known at the next start."""
    does = {"crash-in-load.so": "crashed or threw an exception", "throw-in-load.so": "crashed or threw an exception",
            "abort-in-load.so": "called abort()", "crash-in-version.so": "crashed or threw an exception"}
    for name in ("versioned-1.so", *does):
        user.install(name)
    for times in 1, 0:
        with user.session(SCS_UGEN_PROBE=NOT_PROBED if times else "") as session:
            server = NodeServer(session, free_port())
            play(server.port, "Versioned")
            log = session.daemon.output()
            assert log.count(f"can't be tried before they are loaded: {NOT_PROBED}: No such file") == times
            for name, what in does.items():
                assert f"{name}: {what} when it was loaded; it is left out until the file changes" in log


def test_a_file_that_waits_only_where_it_is_loaded(user):
    user.install("wait-in-load.so")
    user.install("versioned-1.so")
    for waited in True, False:
        port = free_port()
        with user.session(f"scsynth.osc.port = {port} node.name = configured") as session:
            session.wait_until(lambda session=session: state(session, "configured") == "running", "the server",
                               60 if waited else 5)
            assert "wait-in-load.so: did not end when it was loaded; it is left out" in session.daemon.output()
            session.connect("configured", "test-sink")
            play(port, "Versioned")
            assert values(session, user.home, "configured") == {np.float32(FIRST)}


def test_it_is_tried_again_when_it_has_changed(user):
    bad = user.install("crash-in-load.so", "pack.so")
    with user.session() as session:
        one = NodeServer(session, free_port(), name="one")
        assert "pack.so has it" not in failure(one.port, "Versioned")
        shutil.copy(PLUGINS / "versioned-1.so", bad)
        two = NodeServer(session, free_port(), name="two")
        play(two.port, "Versioned")
        assert session.daemon.output().count("crashed (SIGSEGV)") == 1


def copy_over(new, old):
    shutil.copyfile(new, old)


def move_over(new, old):
    shutil.copy(new, old.with_suffix(".new"))
    old.with_suffix(".new").replace(old)


@pytest.mark.parametrize("cache", (True, False), ids=("cache", "no cache"))
@pytest.mark.parametrize("update", (copy_over, move_over))
def test_an_updated_pack(user, update, cache):
    plugin = user.install("versioned-1.so", "versioned.so")
    with user.session(**{} if cache else {"XDG_CACHE_HOME": "/dev/null/cache"}) as session:
        old, new = free_port(), free_port()
        first = NodeServer(session, old, name="old")
        session.connect("old", "test-sink")
        play(old, "Versioned")
        with Recording(session, user.home / "old.wav", "old") as recording:
            recording.wait(0.1)
            update(PLUGINS / "versioned-2.so", plugin)
            second = NodeServer(session, new, name="new")
            session.connect("new", "test-sink")
            play(new, "Versioned")
            play(old, "Versioned", 1001)  # a SynthDef that comes later has the server's own version, too
            assert commanded(old, "Versioned") == (FIRST, FIRST)
            assert commanded(new, "Versioned") == (SECOND, SECOND)
            recording.wait(0.2)
        samples, _ = read_wav(user.home / "old.wav")
        assert set(np.unique(samples[:, 0])) == {np.float32(FIRST), np.float32(2 * FIRST)}
        assert values(session, user.home, "new") == {np.float32(SECOND)}
        assert f"{plugin} has changed: servers that start from now on have the new one" in session.daemon.output()
        for each in first, second:
            each.stop()
        assert (user.home / "cache").exists() == cache
        assert len(list((user.home / "cache/pw-scsynth/ugens").glob("*-versioned.so"))) <= 2


def test_a_changed_file_that_looks_for_others_beside_itself(user):
    plugin = user.install("companions-1.so", "companions.so")
    with user.session() as session:
        NodeServer(session, free_port(), name="one").stop()
        move_over(PLUGINS / "companions-2.so", plugin)
        for _ in range(2):
            port = free_port()
            server = NodeServer(session, port, name="two")
            session.connect("two", "test-sink")
            play(port, "Companions")
            assert values(session, user.home, "two") == {np.float32(FIRST)}
            server.stop()
        log = session.daemon.output()
        assert log.count(f"{plugin} has changed. It looks for files beside itself") == 1
        assert "restart PipeWire" in log
        shutil.copy(plugin, plugin.with_suffix(".txt"))
    with user.session() as session:
        port = free_port()
        NodeServer(session, port, name="three")
        session.connect("three", "test-sink")
        play(port, "Companions")
        assert values(session, user.home, "three") == {np.float32(SECOND)}


def test_the_right_version_of_a_file_that_looks_for_others_beside_itself(user):
    plugin = user.install("companions-later.so", "companions.so")
    with user.session() as session:
        one, two = free_port(), free_port()
        NodeServer(session, one, name="one")
        assert "companions.so has it, but isn't loaded: plugin API version 8" in failure(one, "Companions")
        move_over(PLUGINS / "companions-1.so", plugin)
        NodeServer(session, two, name="two")
        session.connect("two", "test-sink")
        play(two, "Companions")
        assert values(session, user.home, "two") == {np.float32(FIRST)}


def test_an_update_of_a_pack_that_is_installed_twice(user):
    plugins = [user.install("versioned-1.so", f"{folder}/versioned.so") for folder in ("a", "b")]
    with user.session() as session:
        old, new = free_port(), free_port()
        NodeServer(session, old, name="old")
        for plugin in plugins:
            move_over(PLUGINS / "versioned-2.so", plugin)
        NodeServer(session, new, name="new")
        assert commanded(new, "Versioned") == (SECOND, SECOND)
        assert commanded(old, "Versioned") == (FIRST, FIRST)


def test_an_update_without_a_command_that_was_there(user):
    plugin = user.install("versioned-1.so", "versioned.so")
    with user.session() as session:
        old, new = free_port(), free_port()
        NodeServer(session, old, name="old")
        move_over(PLUGINS / "versioned-3.so", plugin)
        NodeServer(session, new, name="new")
        assert commanded(old, "Versioned") == (FIRST, FIRST)
        assert commanded(new, "Versioned") == (0, SECOND)


def test_linked_folders_and_sc_plugin_path(user, tmp_path_factory):
    pack, added = tmp_path_factory.mktemp("pack"), tmp_path_factory.mktemp("added")
    shutil.copy(PLUGINS / "versioned-1.so", pack)
    (pack / "back").symlink_to(user.extensions)
    (user.extensions / "pack").symlink_to(pack)
    shutil.copy(PLUGINS / "companions-1.so", added)
    with user.session(SC_PLUGIN_PATH=f"{added}:/proc/none") as session:
        port = free_port()
        NodeServer(session, port)
        play(port, "Versioned")
        play(port, "Companions")
        assert "SC_PLUGIN_PATH: /proc/none: No such file or directory" in session.daemon.output()


def test_a_clients_sc_plugin_path(user, tmp_path_factory):
    allowed, other = tmp_path_factory.mktemp("allowed"), tmp_path_factory.mktemp("other")
    shutil.copy(PLUGINS / "companions-1.so", allowed)
    user.install("versioned-1.so")
    with user.session(f'scsynth.node = false scsynth.ugen-paths.allowed = "{allowed}"') as session:
        port = free_port()
        command = [str(PW_SCSYNTH), "-u", str(port), "-D", "0"]
        refused = session.start(command, "refused", SC_PLUGIN_PATH=str(other))
        wait_for(lambda: refused.returncode() == 1, "the end of pw-scsynth")
        assert "SC_PLUGIN_PATH: UGens come only from" in refused.output()
        assert f"To allow {other}," in refused.output()
        server = session.start(command, "added", SC_PLUGIN_PATH=str(allowed))
        wait_for(lambda: "ready" in server.output(), "a server")
        play(port, "Companions")  # from the added folder
        play(port, "Versioned")  # and from the daemon's own


def test_why_a_unit_is_missing(user):
    user.install("versioned-1.so", "versioned_supernova.so")
    broken = (PLUGINS / "companions-1.so").read_bytes()
    (user.extensions / "companions.so").write_bytes(broken[:18] + b"\x28\0" + broken[20:])
    with user.session() as session:
        port = free_port()
        NodeServer(session, port)
        assert "versioned_supernova.so has it, but isn't loaded: a build for supernova" in failure(port, "Versioned")
        assert "companions.so has it, but isn't loaded: built for 32-bit ARM" in failure(port, "Companions")
        assert "FluCoMa" in failure(port, "FluidAmpGate")
        assert "Extensions" in failure(port, "Nobodys")
        for unit_of_stk in "StkBowed", "StkPluck":
            assert "reads files in its units' constructors" in failure(port, unit_of_stk)
        other = free_port()
        NodeServer(session, other, {"ugen-path": OWN}, name="other")
        assert "Nobodys" in failure(other, "Nobodys")
