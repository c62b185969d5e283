# SPDX-License-Identifier: GPL-3.0-or-later
"""pw-scsynth transport: the graph's transport does what a server's clients say, and JACK's clients see it."""
import shutil
import subprocess
import sys

import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.lib import jack_watcher
from tests.lib.build import ROOT
from tests.lib.osc import Failed, NoReply
from tests.lib.ports import free_port
from tests.lib.process import wait_for

pytestmark = pytest.mark.skipif(not shutil.which("pw-jack"), reason="needs pw-jack")
BUS = 20


class Watcher:
    """Another JACK client: what it sees of the transport."""

    def __init__(self, session):
        self._child = session.start(["pw-jack", sys.executable, "-B", "-m", jack_watcher.__name__], "watcher",
                                    PYTHONPATH=str(ROOT))

    def all_seen(self):
        """(rolling, bar, beat, beats a minute, beats a bar, frame), whenever one of these was another one."""
        whole = self._child.output().rpartition("\n")[0]
        return [[float(word) for word in line.split()] for line in whole.splitlines()] or [[0.0] * 6]

    def seen(self):
        return self.all_seen()[-1]

    def wait(self, what, condition):
        wait_for(lambda: condition(*self.seen()), f"{what}, not {self.seen()}", timeout=10)

    def stop(self):
        self._child.stop()


@pytest.fixture
def client(client):
    client.send("/bind_beat", 1, "transport", f"c{BUS}")
    return client


@pytest.fixture
def drive(beside):
    """`drive(port, options…)` starts pw-scsynth transport for the server of that port."""
    return lambda port, *options: beside("transport", port, *options)


@pytest.fixture
def watcher(session):
    watching = Watcher(session)
    yield watching
    watching.stop()


def buses(client):
    """Beat in its bar, tempo, playing, bar."""
    return client.request("/c_getn", BUS, 4, reply="/c_setn").args[2:]


@pytest.fixture
def server(launch):
    """In the group of JACK's clients: PipeWire 1.4 gives another driver to a client without links, as pw-scsynth transport is."""
    return launch(PIPEWIRE_PROPS="{ node.group = group.dsp.0 }")


def test_start_stop_tempo_and_locate(client, server, drive, watcher):
    drive(server.port, "--tempo", 90, "--beats-per-bar", 3)
    watcher.wait("the tempo", lambda rolling, bar, beat, tempo, beats, _: (rolling, tempo, beats) == (0, 90, 3))
    wait_for(lambda: buses(client)[:3] == [0, 1.5, 0], "the tempo on the bus")
    client.send("/transport", "locate", 30.5)
    watcher.wait("the place", lambda rolling, bar, beat, *_: abs((bar - 1) * 3 + beat - 1 - 30.5) < 1e-4)
    wait_for(lambda: abs(buses(client)[3] * 3 + buses(client)[0] - 30.5) < 1e-4, "the place on the bus")
    client.send("/transport", "start")
    watcher.wait("it rolls", lambda rolling, bar, *_: rolling and bar > 11)
    assert buses(client)[2] == 1
    client.send("/transport", "tempo", 4.0)
    watcher.wait("another tempo", lambda rolling, bar, beat, tempo, *_: tempo == 240)
    wait_for(lambda: buses(client)[1] == 4, "another tempo on the bus")
    client.send("/transport", "stop")
    watcher.wait("it stands", lambda rolling, *_: not rolling)
    wait_for(lambda: buses(client)[2] == 0, "it stands on the bus")
    beat, _, _, bar = buses(client)
    watcher.wait("the same place", lambda _, seen_bar, seen_beat, *__: abs(
        (seen_bar - 1) * 3 + seen_beat - 1 - bar * 3 - beat) < 0.2)
    client.send("/transport", "locate", 6)
    client.send("/transport", "tempo", 1.0)
    watcher.wait("a place and a tempo while it stands",
                 lambda rolling, bar, beat, tempo, *_: (rolling, bar, beat, tempo) == (0, 3, 1, 60))


def test_a_tempo_turns_the_beats_where_they_are(client, server, drive, watcher):
    drive(server.port)
    watcher.wait("the tempo", lambda rolling, bar, beat, tempo, *_: tempo == 120)
    client.send("/bind_command", 2, "beat", "division", 0.25, "/c_set", 30, "$1")
    client.send("/transport", "locate", 0)
    client.send("/transport", "start")
    watcher.wait("it rolls", lambda rolling, bar, beat, *_: rolling and bar == 1 and beat > 1.5)
    begun = len(watcher.all_seen())
    for step in range(20):
        client.send("/transport", "tempo", 1.0 + step % 5)
        before = watcher.seen()
        wait_for(lambda before=before: watcher.seen() != before, "a cycle")
    client.send("/transport", "stop")
    wait_for(lambda: buses(client)[2] == 0, "it stands")
    beat, _, _, bar = buses(client)
    last = client.request("/c_get", 30, reply="/c_set").args[1]
    assert abs(bar * 4 + beat - last) < 0.5  # the last sixteenth was carried out
    places = [((bar - 1) * 4 + beat - 1, tempo / 60, frame) for rolling, bar, beat, tempo, _, frame
              in watcher.all_seen()[begun:] if rolling]
    cycle = 1024 / 48000 * 5  # beats
    assert len({tempo for _, tempo, _ in places}) == 5
    for (beat, tempo, frame), (next_beat, next_tempo, next_frame) in zip(places, places[1:]):
        slow, fast = sorted((tempo, next_tempo))
        seconds = (next_frame - frame) / 48000
        assert seconds * slow - cycle < next_beat - beat < seconds * fast + cycle


def refused(client):
    """What is said to somebody who wants the same tempo as before; empty: nothing, as the program drives the transport."""
    try:
        client.request("/transport", "tempo", 2.0, reply="/none", timeout=0.3)
    except Failed as failed:
        return str(failed)
    except NoReply:
        return ""


def test_without_the_program_a_command_fails_and_says_what_to_start(client, server, drive):
    assert "pw-scsynth transport" in refused(client)
    child = drive(server.port)
    wait_for(lambda: not refused(client), "it drives")
    child.stop()
    wait_for(lambda: refused(client), "it is gone")


def test_a_signal_ends_it_and_the_transport_goes_on(client, server, drive):
    for _ in range(5):  # a thread of libjack's must not take it either
        child = drive(server.port)
        wait_for(lambda: not refused(client), "it drives")
        client.send("/transport", "start")
        wait_for(lambda: buses(client)[1:3] == [2, 1], "it plays")
        child.interrupt()
        assert child.wait(5) == 0
        place = buses(client)
        wait_for(lambda before=place: buses(client)[0] != before[0] and buses(client)[1:3] == [2, 1], "it goes on")
        wait_for(lambda: refused(client), "it is gone")


def test_what_cannot_be_driven_is_said(drive):
    def run(*options):
        done = subprocess.run([PW_SCSYNTH, "transport", *map(str, options)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=20, check=False)
        return done.returncode, done.stderr

    for options, text in (("--tempo", 0), "expected beats a minute"), (("--beats-per-bar", 2.5), "expected 1 to 64"):
        status, said = run(*options)
        assert status == 1 and text in said
    child = drive(free_port())
    assert child.wait(10) == 1 and "no server answers" in child.output()
