# SPDX-License-Identifier: GPL-3.0-or-later
"""The server on a data loop of its own, where PipeWire has several (1.2), alone and with node.async."""
import time
from contextlib import ExitStack

import numpy as np
import pytest

from tests.lib import audio, pipewire
from tests.lib.build import PW_SCSYNTH, ROOT
from tests.lib.daemon import Session
from tests.lib.osc import Bundle, Client, Message, TimeTag
from tests.lib.ports import free_port
from tests.lib.process import threads, wait_for
from tests.lib.recording import Recording

RATE = 48000
SYNTHDEFS = ROOT / "tests/integration/synthdefs"
SINE, IMPULSE = SYNTHDEFS / "test_sine.scsyndef", SYNTHDEFS / "test_impulse.scsyndef"
# Nodes that ask for nothing get a loop of the first one's class.
LOOPS = """context.properties = { context.data-loops = [
    { loop.name = devices thread.name = devices loop.class = data.rt }
    { loop.name = synths thread.name = synths loop.class = synths }
] }
"""

several = pytest.mark.skipif(pipewire.one_loop() is not None, reason=str(pipewire.one_loop()))
pytestmark = pytest.mark.usefixtures("ours")


def entry(port, **settings):
    args = " ".join(f"{key} = {value}" for key, value in settings.items())
    return f"{{ name = libpipewire-module-scsynth args = {{ scsynth.osc.port = {port} {args} }} flags = [ nofail ] }}"


def play(session, name, port, path, seconds=1.0):
    """A second of a sine at the sink, and the switches of each thread of the daemon meanwhile."""
    session.connect(name, "test-sink")
    with Client(port) as client:
        client.wait_ready()
        client.command("/notify", 1)
        client.command("/d_load", str(SINE))
        client.request("/s_new", "test_sine", 1000, 0, 0, "freq", 440.0, "amp", 0.2, reply="/n_go")
        with Recording(session, path) as recording:
            before = threads(session.daemon.pid)
            recording.wait(seconds)
            after = threads(session.daemon.pid)
        client.command("/notify", 0)
        client.send("/g_freeAll", 0)
        client.sync()
    used = {each["name"]: each["cpu_nsec"] - before[number]["cpu_nsec"]
            for number, each in after.items() if number in before}
    return audio.read_wav(path)[0], used


def is_sine(samples):
    for channel in samples.T:
        assert audio.clicks(channel) == []
        assert audio.frequency(channel, RATE) == pytest.approx(440, abs=0.1)
        assert audio.rms(channel) == pytest.approx(0.2 / np.sqrt(2), rel=0.01)


def props(session, name):
    return session.node(name)["info"]["props"]


@several
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("way", ["configuration", "module", "program"])
def test_a_server_runs_on_the_loop_that_it_asks_for(tmp_path, way, is_async):
    port = free_port()
    name = f"scsynth-{port}"
    settings = {"scsynth.loop": "synths"} | ({"node.async": "true"} if is_async else {})
    modules = [entry(port, **settings)] if way == "configuration" else []
    with Session(modules=modules, fragments={"15-loops.conf": LOOPS}) as session:
        session.force_quantum(1024)
        if way == "module":
            words = " ".join(f"{key} = {value}" for key, value in settings.items())
            session.run("pw-cli", "load-module", "libpipewire-module-scsynth",
                        f"{{ scsynth.osc.port = {port} {words} }}")
        elif way == "program":
            if is_async:
                pytest.skip("pw-scsynth has no option for node.async")
            session.start([PW_SCSYNTH, "-u", port, "--set", "loop=synths"], "pw-scsynth").wait_output("server ready.\n")
        session.wait_node(name)
        samples, used = play(session, name, port, tmp_path / "sine.wav")
        is_sine(samples)
        assert props(session, name)["node.loop.name"] == "synths"
        assert used["synths"] > 1e6
        assert props(session, "test-sink")["node.loop.name"] == "devices"
        assert session.daemon.running()


@several
def test_all_sound_at_the_time_that_a_bundle_says(tmp_path):
    """However long an async node's sound takes: with the others'."""
    ways = {"main": {}, "loop": {"scsynth.loop": "synths"}, "async": {"scsynth.loop": "synths", "node.async": "true"}}
    ports = {way: free_port() for way in ways}
    with Session(modules=[entry(ports[way], **settings) for way, settings in ways.items()], sinks={"test-sink": 8},
                 fragments={"15-loops.conf": LOOPS}) as session, ExitStack() as stack:
        session.force_quantum(1024)
        clients = [stack.enter_context(Client(port)) for port in ports.values()]
        for number, (client, port) in enumerate(zip(clients, ports.values())):
            session.wait_node(f"scsynth-{port}")
            session.link(f"scsynth-{port}:out_1", f"test-sink:playback_AUX{number}")
            client.wait_ready()
            client.command("/d_load", str(IMPULSE))
        with Recording(session, tmp_path / "impulses.wav") as recording:
            recording.wait(0.1)
            start = TimeTag.from_unix(time.time() + 0.5)
            for number in range(10):
                due = TimeTag(start + (number * 2003 << 32) // RATE)
                for client in clients:
                    client.send_packet(Bundle(due, [Message("/s_new", "test_impulse", 2000 + number, 0, 0, "amp", 0.5)]))
            recording.wait(1.5)
        samples = audio.read_wav(recording.path)[0]
    main, loop, in_next = (audio.impulses(samples[:, channel], 0.25) for channel in range(3))
    assert len(main) == 10
    # Each node smooths the wall clock for itself, so that times between two frames may round differently.
    for other in (loop, in_next):
        assert len(other) == 10
        assert np.abs(np.array(other) - np.array(main)).max() <= 1


@several
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_quanta_change_and_links_come_and_go(tmp_path, is_async):
    port = free_port()
    name = f"scsynth-{port}"
    settings = {"scsynth.loop": "synths", "node.async": "true" if is_async else "false"}
    with Session(modules=[entry(port, **settings)], sinks={"test-sink": 2, "second": 2},
                 fragments={"15-loops.conf": LOOPS}) as session:
        session.wait_node(name)
        for quantum in (512, 1024, 441, 2048, 1000):
            session.set_quantum(quantum)
            session.connect(name, "second")
            samples, _ = play(session, name, port, tmp_path / f"{quantum}.wav", 0.3)
            is_sine(samples)
            for output, inlet in session.links():
                session.run("pw-link", "-d", output, inlet)
        assert session.daemon.running()


@several
def test_a_loop_that_is_not_there():
    port = free_port()
    with Session(modules=[entry(port, **{"scsynth.loop": "nowhere"})], fragments={"15-loops.conf": LOOPS}) as session:
        assert session.node(f"scsynth-{port}") is None
        wait_for(lambda: 'scsynth.loop = "nowhere": expected a data loop that PipeWire has' in session.daemon.output(),
                 "the reason in the log")


@pytest.mark.skipif(pipewire.one_loop() is None, reason="PipeWire has several data loops")
def test_there_is_one_loop():
    port = free_port()
    with Session(modules=[entry(port, **{"scsynth.loop": "synths"})]) as session:
        assert session.node(f"scsynth-{port}") is None
        wait_for(lambda: 'scsynth.loop = "synths": expected nothing, as PipeWire has' in session.daemon.output(),
                 "the reason in the log")
