# SPDX-License-Identifier: GPL-3.0-or-later
"""pw-scsynth as the launcher of a node: the node that it makes, what it prints and what it leaves behind."""
import os
import pty
import re
import select
import signal
import socket
import subprocess
import time

import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, session_config
from tests.lib.build import BUILD
from tests.lib.daemon import Session
from tests.lib.osc import Client, Failed
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.recording import Recording
from tests.lib.server import NodeServer

REMOVED = "another program has removed the node"
PLACES = pytest.mark.parametrize("place", [(), ("--client",)], ids=["daemon", "client"])


def run(*options, env=None):
    """Run it to its end; (status, standard output, standard error)."""
    done = subprocess.run([PW_SCSYNTH, *map(str, options)], env=env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=20, check=False)
    return done.returncode, done.stdout, done.stderr


def maps_the_plugin(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return "libspa-scsynth.so" in maps.read()


@PLACES
def test_a_server_with_these_settings(launch, session, place):
    before = maps_the_plugin(session.daemon.pid)
    server = launch("-i", 1, "-o", 3, "-l", 4, "-b", 100, "-Z", 200, *place)
    # As stock scsynth says it; the device's block size is as it was asked for.
    assert server.child.output().splitlines()[-2:] == [
        "SC_AudioDriver: sample rate = 48000.000000, driver's block size = 256", "SuperCollider 3 server ready."]
    assert session.ports(server.name, "out") == ["out_1", "out_2", "out_3"]
    assert session.ports(server.name, "in") == ["in_1", "control_1"]
    assert server.properties()["node.latency"] == "256/48000"
    with Client(server.port) as client:
        assert client.command("/notify", 1).args[1:] == [0, 4]
        assert client.request("/b_query", 127, reply="/b_info").args[0] == 127
        with pytest.raises(Failed):
            client.request("/b_query", 128, reply="/b_info")
    # The process that computes has mapped the plugin. (The daemon keeps what it has mapped before.)
    assert maps_the_plugin(server.child.pid) == bool(place)
    assert maps_the_plugin(session.daemon.pid) == (before or not place)


@PLACES
def test_quit_ends_it_with_the_node(launch, session, place):
    server = launch(*place)
    with Client(server.port) as client:
        client.command("/quit")
    status, output = server.ended()
    assert status == 0
    assert REMOVED not in output
    session.wait_gone(server.name)


@PLACES
@pytest.mark.parametrize("number, status", [(signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGHUP, 0),
                                            (signal.SIGKILL, -9)], ids=lambda value: getattr(value, "name", ""))
def test_a_signal_ends_it_with_the_node(launch, session, place, number, status):
    server = launch(*place)
    os.kill(server.child.pid, number)
    assert server.ended()[0] == status
    session.wait_gone(server.name)


def test_the_port_is_free_when_it_has_ended(launch):
    server = launch()
    os.kill(server.child.pid, signal.SIGTERM)
    assert server.ended()[0] == 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", server.port))


@PLACES
def test_it_ends_with_a_node_that_others_destroy_and_says_so(launch, session, place):
    server = launch(*place)
    session.pw_cli("destroy", session.node(server.name)["id"])
    status, output = server.ended()
    assert status == 0
    said = [line for line in output.splitlines() if REMOVED in line]
    assert len(said) == 1 and f"port {server.port} " in said[0] and "start pw-scsynth again" in said[0], output


@PLACES
def test_what_the_server_prints(launch, session, place):
    server = launch(*place)
    with Client(server.port) as client:
        client.send("/dumpOSC", 1)
        client.sync()
        client.send("/sync", 4711)
        client.send("/g_dumpTree", 0, 0)
        client.send("/n_free", 4712)
        client.send("/nothing")
        client.send("/s_new", "nobody", 1000, 0, 0)
        client.command("/quit")
    status, output = server.ended()
    assert status == 0
    lines = output.splitlines()
    assert lines.count("SuperCollider 3 server ready.") == 1
    assert lines.count('[ "/sync", 4711 ]') == 1 and lines.count("NODE TREE Group 0") == 1, output
    assert lines.count("FAILURE IN SERVER /n_free Node 4712 not found") == 1, output
    assert lines.count("FAILURE IN SERVER: /nothing Command not found") == 1, output
    assert lines.count("*** ERROR: SynthDef nobody not found") == 1, output
    assert lines.count("FAILURE IN SERVER /s_new SynthDef not found") == 1, output
    assert "471" not in session.daemon.output()


def test_a_launcher_that_is_killed_leaves_nothing_behind(launch, session):
    server = launch()
    os.kill(server.child.pid, signal.SIGKILL)
    session.wait_gone(server.name)
    assert not list((session.dir / "run").glob(f"pw-scsynth-{server.child.pid}"))


def test_what_is_printed_holds_nothing_up(session):
    """The parent process doesn't read its output."""
    port = free_port()
    pipe, end = os.pipe()
    child = subprocess.Popen([PW_SCSYNTH, "-u", str(port)], env=session.env, stdout=end)
    try:
        session.wait_node(f"scsynth-{port}")
        with Client(port) as client:
            client.wait_ready()
            client.send("/dumpOSC", 1)
            for number in range(20_000):
                client.send("/n_free", 77777)
                if number % 100 == 0:
                    client.sync()
            client.sync()
            child.send_signal(signal.SIGTERM)
        assert child.wait(5) == 0
    finally:
        os.close(end)
        os.close(pipe)
        child.kill()
        child.wait()
    session.wait_gone(f"scsynth-{port}")


def test_port_zero(launch, session):
    child = session.start([PW_SCSYNTH, "-u", 0], "pw-scsynth")
    output = child.wait_output("ready.")
    port = int(output.split("port ")[1].split()[0])
    with Client(port) as client:
        client.status()
    child.stop()
    session.wait_gone(f"scsynth-{port}")


def test_quiet_says_nothing(launch, session):
    server = launch("-V", "-1", "-L", ready=False)
    session.wait_node(server.name)
    with Client(server.port) as client:
        client.wait_ready()
        client.command("/quit")
    assert server.ended() == (0, "")


def test_tcp(launch, session):
    port = free_port()
    child = session.start([PW_SCSYNTH, "-t", port], "pw-scsynth")
    child.wait_output("ready.")
    with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
        sock.sendall(b"\0\0\0\x0c/status\0,\0\0\0")
        assert b"/status.reply" in sock.recv(256)
    child.stop()
    session.wait_gone(f"scsynth-{port}")


def test_without_tcp(launch):
    server = launch()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), timeout=5)


def screen_shows(env, pattern):
    """Waits until pw-top, in a terminal of its own, shows a match."""
    ours, theirs = pty.openpty()
    top = subprocess.Popen(["pw-top"], env=env | {"TERM": "xterm", "COLUMNS": "150", "LINES": "40"},
                           stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    try:
        def seen():
            nonlocal shown
            if select.select([ours], [], [], 0.1)[0]:
                shown += os.read(ours, 65536)
            return re.search(pattern, re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", shown))
        return wait_for(seen, f"{pattern} in {shown}")
    finally:
        top.terminate()
        top.wait(5)
        os.close(ours)


@PLACES
def test_the_graph_runs_as_asked_for(launch, session, tmp_path, place):
    session.force_quantum(0)
    try:
        server = launch("-Z", 512, "-S", 44100, *place)
        session.wait_until(session.links, "links")
        screen_shows(session.env, rb"512 +44100 .*" + server.name.encode())
        with Client(server.port) as client:
            assert client.status()[7] == 44100
        with Recording(session, tmp_path / "heard.wav") as recording:
            recording.wait(0.1)
        assert audio.read_wav(recording.path)[1] == 44100
        # The node checks both once a second.
        session.wait_until(lambda: int(server.properties()["scsynth.packets.received"]) > 0, "counted packets")
        assert server.properties()["scsynth.resampling"] == "no"
        assert "resampled" not in server.child.output()
    finally:
        session.force_quantum(1024)


# The port is taken

@PLACES
def test_a_port_of_a_node_of_ours(launch, session, place):
    first = launch()
    status, output = launch(*place, port=first.port, ready=False).ended()
    assert status == 1
    assert f"\"{first.name}\"" in output
    assert f"Server.remote(\\pipewire, NetAddr(\"127.0.0.1\", {first.port}), o)" in output
    assert "--take-over" in output
    with Client(first.port) as client:
        client.status()


@PLACES
def test_take_over(launch, session, place):
    first = launch("-o", 2, *place)
    second = launch("-o", 4, "--take-over", port=first.port)
    status, output = first.ended()
    assert status == 0
    assert REMOVED in output and "--take-over" in output
    assert len(session.ports(second.name, "out")) == 4


def test_take_over_of_a_node_that_nobody_waits_for(launch, session):
    port = free_port()
    NodeServer(session, port, name="lingering")
    server = launch("--take-over", port=port)
    session.wait_gone("lingering")
    assert len(session.ports(server.name, "out")) == 8


def test_a_port_whose_server_is_quitting_is_waited_for(launch, session):
    first = launch()
    session.force_quantum(8192)  # so that it takes a while
    with Client(first.port) as client:
        client.send("/quit")
        second = launch(port=first.port)
    session.force_quantum(1024)
    assert first.ended()[0] == 0
    assert second.child.running()


def test_take_over_of_nothing(launch):
    launch("--take-over")


@pytest.mark.parametrize("option", [(), ("--take-over",)], ids=["plain", "take-over"])
def test_a_port_of_another_program(session, option):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        status, output, said = run("-u", port, *option, env=session.env)
    assert (status, output) == (1, "")
    assert f"port {port} is taken by another server or program" in said


# Devices

@pytest.fixture
def outlets(session):
    def found(name):
        return {inlet.partition(":")[0] for output, inlet in session.links()
                if output.startswith(f"{name}:")}
    return found


def test_the_default_sink(launch, session, outlets):
    server = launch("-i", 0)
    session.wait_until(lambda: outlets(server.name) == {session.default_sink()}, "links to the default")


@pytest.mark.parametrize("option", [("-H", "{sink}"), ("-H", "{sink}:test-source"),
                                    ("-H", "test-source", "{sink}")], ids=["one", "colon", "two"])
def test_another_sink(launch, session, outlets, option):
    other = ({"test-sink", "second-sink"} - {session.default_sink()}).pop()
    server = launch("-i", 2, "-o", 2, *(word.format(sink=other) for word in option))
    session.wait_until(lambda: outlets(server.name) == {other}, f"links to {other}")
    session.wait_until(lambda: (f"{server.name}:in_1" in {inlet for _, inlet in session.links()}),
                       "a source")
    time.sleep(2)
    assert "there is no" not in server.child.output()


@pytest.mark.parametrize("text", ["Rack", "alsa_card.rack", "rack at usb", "{serial}"],
                         ids=["nick", "name", "longname", "serial"])
def test_a_device_by_what_only_its_card_is_called(launch, session, outlets, text):
    card = session.start([BUILD / "wireplumber/card", "device.name=alsa_card.rack", "device.nick=Rack 8",
                          "api.alsa.card.longname=Rack at USB"], "card")
    device = session.wait_until(lambda: next(iter(session.objects("Device")), None), "the card")
    sink = "on-a-card"
    session.pw_cli("create-node", "adapter",
                   "{ factory.name=support.null-audio-sink object.linger=true media.class=Audio/Sink priority.session=1 "
                   f"audio.position=[FL,FR] node.name={sink} device.id={device['id']} }}")
    try:
        session.wait_until(lambda: session.ports(sink, "in"), "the sink's ports")
        serial = session.node(sink)["info"]["props"]["object.serial"]
        server = launch("-i", 0, "-o", 2, "-H", text.format(serial=serial))
        session.wait_until(lambda: outlets(server.name) == {sink}, f"links to {sink}")
        assert "-H" not in server.child.output()
    finally:
        session.pw_cli("destroy", session.node(sink)["id"])
        session.wait_gone(sink)
        card.stop()


def test_a_device_that_is_not_there(launch, session, outlets):
    server = launch("-i", 2, "-H", "no.where")
    session.wait_until(lambda: outlets(server.name) == {session.default_sink()}, "links to the default")
    for kind, own, default in (("sink", "outputs", session.default_sink()), ("source", "inputs", "test-source")):
        server.child.wait_output(f'scsynth.{kind}: there is no {kind} "no.where" now; until it is there, the {own} are linked '
                                 f'to the default one, "{default}"\n')


# Errors

@pytest.mark.parametrize("options, text", [
    ((), "-u or -t"),
    (("-u", 57999, "-o", 2000), "-o: scsynth.outputs = \"2000\": expected a whole number from 0 to 1024"),
    (("-u", 57999, "-x"), "-x: no such option"),
    (("-u", 57999, "-l", 5000), "-l 5000: expected a whole number from 1 to 1024"),
    (("-u", 57999, "-B", "192.0.2.1"), "no address of this machine"),
    (("-u", 57999, "-B", "300.1.1.1"), "-B: scsynth.osc.bind = \"300.1.1.1\": expected an IPv4 address of this machine"),
    (("-u", 57999, "--set", "max-logins=5000"), "scsynth.max-logins = \"5000\": expected a whole number from 1 to 1024"),
    (("-u", 57999, "--set", "overload=later"), "scsynth.overload = \"later\": expected shed, mute or none"),
    (("-u", 57999, "--set", "osc.bind=here"), "scsynth.osc.bind = \"here\": expected an IPv4 address of this machine"),
])
def test_wrong_options(session, options, text):
    status, output, said = run(*options, env=session.env)
    assert (status, output) == (1, "")
    assert said.startswith("ERROR: pw-scsynth: ")
    assert text in said


def test_without_a_daemon(session):
    env = session.env | {"PIPEWIRE_RUNTIME_DIR": str(session.dir), "XDG_RUNTIME_DIR": str(session.dir)}
    status, _, said = run("-u", free_port(), "--wait", 0, env=env)
    assert status == 1
    assert "no connection to PipeWire" in said
    assert "systemctl --user start pipewire" in said


def test_without_the_plugin(session, tmp_path):
    status, _, said = run("-u", free_port(), "--client", env=session.env | session_config.where(tmp_path, [], []))
    assert status == 1
    assert "this program finds no library scsynth/libspa-scsynth" in said


def test_without_the_plugin_in_the_daemon(tmp_path):
    with Session(build=tmp_path, wireplumber=False, sinks={}) as bare:
        status, _, said = run("-u", free_port(), env=bare.env)
    assert status == 1
    assert "the PipeWire daemon finds no library scsynth/libspa-scsynth" in said


@PLACES
def test_the_reason_why_a_setting_is_refused(session, place):
    """The plugin finds out, not the program: PipeWire has no such loop."""
    status, output, said = run("-u", free_port(), "--set", "loop=nowhere", *place, env=session.env)
    assert status == 1
    assert output.startswith("ERROR: scsynth.loop = \"nowhere\": expected "), output
    assert "refuses the node, for the reason above" in said


def test_help_and_version():
    for option in ("-h", "--help"):
        status, output, _ = run(option)
        assert status == 0
        assert output.startswith("usage: pw-scsynth")
    for option in ("-v", "--version", "-version"):
        status, output, _ = run(option)
        assert status == 0
        assert re.match(r"scsynth 3\.13\.0 \(pw-scsynth 0\.", output)


# Sound

@PLACES
def test_it_is_heard(launch, session, outlets, tmp_path, place):
    server = launch("-i", 0, "-o", 2, "-H", "test-sink", *place)
    session.wait_until(lambda: outlets(server.name) == {"test-sink"}, "links to the sink")
    with Client(server.port) as client, Recording(session, tmp_path / "heard.wav") as recording:
        client.command("/notify", 1)
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.request("/s_new", "test_sine", 1000, 0, 0, "freq", 440.0, "amp", 0.2, reply="/n_go")
        time.sleep(1.0)
    heard = audio.trim(audio.read_wav(recording.path)[0][:, 0])[4800:-4800]
    assert len(heard) > 24000
    assert audio.frequency(heard, 48000) == pytest.approx(440, abs=2)
    assert audio.peak(heard) == pytest.approx(0.2, rel=0.05)
