# SPDX-License-Identifier: GPL-3.0-or-later
"""A playing server beside a desktop's mixer and recorders, and where nobody hears it."""
import os
import signal
import subprocess
import time

import numpy as np
import pytest

from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, pipewire, pulse
from tests.lib.build import PW_SCSYNTH
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.server import NODE, NodeServer

pytestmark = pytest.mark.usefixtures("ours")
SINKS = {"test-sink": 2, "second-sink": 2}
UNHEARD = "no output is linked, so nobody hears the synths"
RESTART = "systemctl --user restart wireplumber"


@pytest.fixture
def session():
    """With the policy, two sinks, and a silent microphone."""
    with Session(policy=True, sinks=SINKS, sources={"microphone": 2}) as session:
        session.force_quantum(1024)
        yield session
        assert session.daemon.running(), session.logs()


def play(port, amp=0.2):
    with Client(port) as client:
        client.wait_ready()
        client.command("/notify", 1)
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.request("/s_new", "test_sine", 1000, 0, 0, "freq", 440.0, "amp", amp, reply="/n_go")
        client.command("/notify", 0)


def outputs_at(session, node=NODE):
    return {link[1].split(":")[0] for link in session.links() if link[0].startswith(f"{node}:out_")}


def linked_to(session, sink, node=NODE):
    session.wait_until(lambda: outputs_at(session, node) == {sink}, f"links to {sink} alone")


def is_the_sine(samples, rate, amp=0.2):
    channel = samples[-rate // 2:]
    assert audio.frequency(channel, rate) == pytest.approx(440, abs=4)
    assert audio.rms(channel) * np.sqrt(2) == pytest.approx(amp, rel=0.1)


# Mixers

def test_a_pulseaudio_mixer_moves_it_and_back(session, tmp_path):
    server = NodeServer(session, free_port())
    play(server.port)
    default = session.default_sink()
    other = next(sink for sink in SINKS if sink != default)
    linked_to(session, default)
    stream, = session.wait_until(pulse.start(session, tmp_path), "a stream")

    def moved(sink):
        session.run("pactl", "move-sink-input", stream["index"], sink)
        return outputs_at(session) == {sink}

    # PipeWire's server says that it did so even if it hasn't seen the metadata yet.
    for sink in (other, default, other):
        session.wait_until(lambda sink=sink: moved(sink), f"links to {sink}")
    # WirePlumber stores that after a second.
    states = session.dir / "state" / "wireplumber"
    session.wait_until(lambda: any("target" in path.read_text() and other in path.read_text().split("target", 1)[1]
                                   for path in states.glob("*stream*")), "WirePlumber's memory")
    server.stop()
    server = NodeServer(session, server.port)
    linked_to(session, other)


# Recorders

def test_pw_record_gets_what_the_server_plays(session, tmp_path):
    play(NodeServer(session, free_port()).port)
    linked_to(session, session.default_sink())
    path = tmp_path / "take.wav"
    program = session.start(["pw-record", "--target", NODE, path], "pw-record")
    session.wait_until(lambda: "pw-record" in outputs_at(session), "its links")
    time.sleep(1.5)
    program.stop()
    samples, rate = audio.read_wav(path)
    for channel in samples.T:
        is_the_sine(channel, rate)


def test_a_meter_of_a_pulseaudio_mixer_gets_what_the_server_plays(session, tmp_path):
    play(NodeServer(session, free_port()).port)
    linked_to(session, session.default_sink())
    stream, = session.wait_until(pulse.start(session, tmp_path), "a stream")
    path = tmp_path / "take.raw"
    with open(path, "wb") as file:
        program = subprocess.Popen(["parec", f"--monitor-stream={stream['index']}", "--rate=48000", "--channels=1",
                                    "--format=float32le", "--raw"], env=session.env, stdout=file)
        try:
            session.wait_until(lambda: path.stat().st_size > 3 * 48000, "sound")
        finally:
            program.terminate()
            program.wait()
    # As PipeWire mixes two channels to one: a sum of their powers before 0.3.66, their mean since then.
    is_the_sine(np.fromfile(path, np.float32), 48000, 0.2 * (1 if pipewire.version() >= (0, 3, 66) else np.sqrt(2)))


# Nobody hears it

class Program:
    """pw-scsynth whose synth plays; what it prints is what a client's post window shows."""

    def __init__(self, session, *options):
        self.port = free_port()
        self.child = session.start([PW_SCSYNTH, "-u", self.port, *options], "pw-scsynth")
        self.child.wait_output("SuperCollider 3 server ready.\n")
        self.name = f"scsynth-{self.port}"
        play(self.port)

    def said(self):
        return [line for line in self.child.output().splitlines() if UNHEARD in line]

    def says(self, text):
        """Wait until it is said, and check that it was once."""
        self.child.wait_output(UNHEARD, timeout=20)
        time.sleep(3)
        assert len(self.said()) == 1 and text in self.said()[0], self.child.output()

    def stays_silent(self):
        time.sleep(5)
        assert self.said() == []


@pytest.mark.parametrize("place", [[], ["--client"]], ids=["daemon", "client"])
@pytest.mark.parametrize("manager", [True, False], ids=["without-policy", "without-wireplumber"])
def test_without_the_policy_it_says_so(place, manager):
    with Session(wireplumber=manager) as session:
        program = Program(session, *place)
        program.says("without the policy" if manager else "PipeWire has no session manager")
        assert RESTART in program.said()[0]
        session.connect(program.name, "test-sink")
        session.wait_until(lambda: session.node(program.name)["info"]["props"]["scsynth.unheard"] is False, "to be heard")
        if place and pipewire.version() < (1, 0):
            return  # it doesn't tell a client that its links are gone
        for output, inlet in session.links():
            session.run("pw-link", "-d", output, inlet)
        session.wait_until(lambda: len(program.said()) == 2, "the next silence to be said", timeout=20)


def test_without_a_sink_it_says_so():
    with Session(policy=True, sinks={}) as session:
        Program(session).says("PipeWire has no sink")


def test_without_its_device_it_says_so(session):
    program = Program(session, "-H", "", "Scarlett", "--set", "strict-device=true")
    program.says('there is no sink "Scarlett"')
    assert 'scsynth.sink: there is no sink "Scarlett" now; the outputs are not linked until it is there' in \
        program.child.output()


def test_another_device_than_asked_for_is_said(session):
    program = Program(session, "-H", "", "Scarlett")
    program.child.wait_output('scsynth.sink: there is no sink "Scarlett" now; until it is there, the outputs are linked to '
                              f'the default one, "{session.default_sink()}"\n', timeout=20)
    program.stays_silent()


def test_when_wireplumber_ends_it_says_so(session):
    program = Program(session)
    linked_to(session, session.default_sink(), program.name)
    program.stays_silent()
    session.wireplumber.stop()
    program.says("PipeWire has no session manager")


def test_who_links_by_hand_is_told_nothing(session):
    program = Program(session, "--set", "autoconnect=false")
    program.stays_silent()


def test_who_removed_the_links_is_told_nothing(session):
    program = Program(session)
    linked_to(session, session.default_sink(), program.name)
    for output, inlet in session.links():
        if output.startswith(program.name):
            session.run("pw-link", "-d", output, inlet)
    program.stays_silent()


def test_devices_are_listed(session):
    lines = session.run(PW_SCSYNTH, "--devices").splitlines()
    assert lines == ["sink\tsecond-sink\tsecond-sink\tFL,FR", "sink\ttest-sink\ttest-sink\tFL,FR",
                     "source\tmicrophone\tmicrophone\tFL,FR"]


def test_a_signal_that_comes_with_the_question_ends_the_program():
    """A daemon that doesn't answer is no reason to stay."""
    with Session(policy=False, wireplumber=False, sinks={}) as session:
        port = free_port()
        child = session.start([PW_SCSYNTH, "-u", port], "pw-scsynth")
        child.wait_output("ready.")
        os.kill(child.pid, signal.SIGSTOP)  # so that it reads both at once
        play(port)
        session.wait_until(lambda: session.node(f"scsynth-{port}")["info"]["props"].get("scsynth.unheard") is True,
                           "the question")
        os.kill(session.daemon.pid, signal.SIGSTOP)
        try:
            os.kill(child.pid, signal.SIGTERM)
            os.kill(child.pid, signal.SIGCONT)
            assert child.wait(10) == 0  # it waits 5 s for the end of the node
        finally:
            os.kill(session.daemon.pid, signal.SIGCONT)
