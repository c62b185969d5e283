# SPDX-License-Identifier: GPL-3.0-or-later
"""pw-scsynth link beside a peer made of Link's own library, in a network of their own with nothing but loopback, as Link
speaks to all networks that it finds. SCS_FIGURES=1 prints what was measured."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.lib import jack_ear
from tests.lib.build import BUILD, ROOT
from tests.lib.osc import Failed
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.oracle.references import AUDIO, CONTROL, synthdef
from tools.check import alone

PEER = BUILD / "tests/link/link-peer"
QUANTUM, BUS, BLOCK = 4, 24, 64 / 48000
EXACT, OFFSET = 0.001, 0.06  # s
NETWORKS = {name for _, name in socket.if_nameindex()}
# What the ear hears: LinkPhase at audio rate; a binding's buses, a block later; LinkTempo, the same.
DEF = synthdef("link", [("LinkPhase", AUDIO, [QUANTUM], 1, 0), ("In", CONTROL, [BUS], 4, 0),
                        ("LinkTempo", CONTROL, [0, 0], 1, 0), *(("K2A", AUDIO, [(1, i)], 1, 0) for i in range(4)),
                        ("K2A", AUDIO, [(2, 0)], 1, 0),
                        ("Out", AUDIO, [0, (0, 0), *((3 + i, 0) for i in range(5))], 0, 0)])
PHASE, BEAT, TEMPO, PLAYING, BAR, UNIT_TEMPO = range(1, 7)  # columns of what is heard; 0 is the time

missing = [what for what, there in (("pw-jack", shutil.which("pw-jack")), ("Ableton Link", PEER.exists())) if not there]
pytestmark = pytest.mark.skipif(bool(missing), reason=f"not there: {', '.join(missing)}")
within = pytest.mark.skipif(NETWORKS != {"lo"}, reason="runs again in a network of its own, by the last test of this file")


def wall_minus_monotonic():
    before, wall, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
    return (wall - (before + after) / 2) * 1e-9


class Peer:
    """Another program in the session."""

    def __init__(self, session, tempo, *script):
        self._child = session.start([PEER, tempo, *script], "peer")

    def lines(self):
        """Rows of time (since 1970), phase, beats a minute, playing, peers."""
        rows = [line.split() for line in self._child.output().splitlines()[:-1] if not line.startswith("#")]
        return np.array(rows, float).reshape(-1, 5)

    def done(self, action):
        """When it has done that."""
        for line in self._child.output().splitlines()[:-1]:
            if line.startswith("#") and line.split()[2] == action:
                return float(line.split()[1])
        return None

    def wait_done(self, action):
        return wait_for(lambda: self.done(action), action)

    def wait(self, condition, what):
        wait_for(lambda: len(self.lines()) and condition(self.lines()[-1]), what)

    def stop(self):
        self._child.stop()


class Ear:
    """What the server's outputs have, with the time at which it is heard, in seconds since 1970."""

    def __init__(self, session, node, latency):
        self._child = session.start(["pw-jack", sys.executable, "-B", jack_ear.__file__, "ear", 6], "ear")
        self._latency = latency
        wait_for(lambda: len(session.ports("ear", "in")) == 6, "the ear's ports")
        for number in range(1, 7):
            session.link(f"{node}:out_{number}", f"ear:in_{number}")

    def heard(self):
        rows = [line.split() for line in self._child.output().splitlines()[:-1] if line[0].isdigit()]
        table = np.array(rows, float).reshape(-1, 7)
        table[:, 0] = table[:, 0] * 1e-6 + wall_minus_monotonic() + self._latency
        return table

    def wait(self, seconds):
        """What is heard from now on, for some seconds."""
        start = time.time()
        wait_for(lambda: len(heard := self.heard()) and heard[-1, 0] >= start + seconds, f"{seconds} s of sound")
        table = self.heard()
        return table[table[:, 0] >= start]

    def wait_heard(self, column, value):
        wait_for(lambda: len(heard := self.heard()) and abs(heard[-1, column] - value) < 1e-4, f"{value} in column {column}")

    def stop(self):
        self._child.stop()


def latency_of(session, node):
    """Of what the first output leads to, as its port says: s."""
    dump = session.pw_dump()
    ids = [item["id"] for item in dump if (item.get("info", {}).get("props") or {}).get("node.name") == node]
    port = next(item for item in dump if item["type"].endswith(":Port")
                and item["info"]["props"].get("node.id") in ids and item["info"]["props"]["port.name"] == "out_1")
    towards = [each for each in port["info"]["params"]["Latency"] if each["direction"] == "Input"]
    return sum(each["maxQuantum"] * 1024 / 48000 + each["maxRate"] / 48000 + each["maxNs"] * 1e-9 for each in towards)


def behind(heard, told, delay=0.0, column=PHASE):
    """By how many seconds phases are late beside what a peer says of the same time."""
    times = heard[:, 0] - delay
    last = np.clip(np.searchsorted(told[:, 0], times) - 1, 0, None)
    tempo = told[last, 2] / 60
    expected = told[last, 1] + (times - told[last, 0]) * tempo
    beats = (expected - heard[:, column] + QUANTUM / 2) % QUANTUM - QUANTUM / 2
    return beats / tempo


def say(what, seconds):
    if os.environ.get("SCS_FIGURES"):
        print(f"{what}: within {1000 * np.abs(seconds).max():.3f} ms, on average {1000 * np.mean(seconds):+.3f} ms")


@pytest.fixture
def server(launch):
    return launch("-o", 8)


@pytest.fixture
def client(client):
    client.command("/d_recv", DEF)
    client.send("/bind_beat", 1, "link", f"c{BUS}")
    client.send("/s_new", "link", 1000, 0, 0)
    client.sync()
    return client


@pytest.fixture
def join(beside):
    """`join(port, options…)` starts pw-scsynth link for the server of that port."""
    return lambda port, *options: beside("link", port, *options)


@pytest.fixture
def peer(session):
    started = []

    def start(*words):
        started.append(Peer(session, *words))
        return started[-1]

    yield start
    for child in started:
        child.stop()


@pytest.fixture
def ear(session, server, client):
    session.wait_links(lambda links: any(inlet.startswith("test-sink:") for output, inlet in links
                                         if output.startswith(f"{server.name}:")), "the server's links")
    # As a user does whose loudspeakers are late by more than the graph knows.
    session.pw_cli("set-param", session.node(server.name)["id"], "Props", f"{{ latencyOffsetNsec: {int(OFFSET * 1e9)} }}")
    opened = Ear(session, server.name, latency_of(session, server.name) + OFFSET)
    yield opened
    opened.stop()
    session.wait_gone("ear")


@within
def test_phases_are_the_peers_to_the_millisecond_and_tempo_is_followed(server, client, ear, join, peer):
    other = peer(97.3, 12, "tempo", 151.3, 16, "jump", 1.7)
    # Of two sessions the older one stays, but only if it is more than half a second older.
    wait_for(lambda: len(lines := other.lines()) and lines[-1, 0] > lines[0, 0] + 1.5, "a session of the peer's")
    link = join(server.port)
    other.wait(lambda row: row[4] == 1, "a peer of the peer's")
    link.wait_output("1 other peer,")
    ear.wait_heard(TEMPO, 97.3 / 60)
    ear.wait(2)  # the clocks of two peers are compared meanwhile
    heard = ear.wait(6)
    told = other.lines()
    for what, column, delay in (("LinkPhase.ar", PHASE, 0), ("/bind_beat", BEAT, BLOCK)):
        late = behind(heard, told, delay, column)
        say(what, late)
        assert np.abs(late).max() < EXACT, what
    assert np.allclose(heard[:, [TEMPO, UNIT_TEMPO]], 97.3 / 60, rtol=1e-5)
    bars = heard[:, BAR] * QUANTUM + heard[:, BEAT]
    assert np.allclose(np.diff(bars), np.diff(heard[:, 0]) * 97.3 / 60, atol=EXACT)

    changed = other.wait_done("tempo")
    ear.wait_heard(TEMPO, 151.3 / 60)
    ear.wait(1)
    heard = ear.heard()
    first = heard[(heard[:, 0] > changed) & (np.abs(heard[:, TEMPO] - 151.3 / 60) < 1e-4)][0, 0]
    say("another tempo is heard after", first - changed)
    assert first - changed < 0.25
    late = behind(heard[heard[:, 0] > first + 0.5], other.lines())
    say("LinkPhase.ar at another tempo", late)
    assert np.abs(late).max() < EXACT

    jumped = other.wait_done("jump")
    ear.wait(1)
    heard, told = ear.heard(), other.lines()
    after = heard[:, 0] > jumped
    wrong = heard[after][np.abs(behind(heard[after], told)) > EXACT]
    say("a jump is heard after", (wrong[-1, 0] if len(wrong) else jumped) - jumped)
    assert np.all(wrong[:, 0] < jumped + 0.25)


@within
def test_what_clients_ask_of_the_session_peers_get(server, client, join, peer):
    with pytest.raises(Failed, match="pw-scsynth link doesn't run"):
        client.command("/link_set", "tempo", 2.0)
    other = peer(120, 1, "play", 1)
    join(server.port, "--tempo", 90)
    wait_for(lambda: client.request("/c_get", BUS + 2, reply="/c_set").args[1] == 1, "playing")
    client.send("/link_set", "tempo", 2.25)
    other.wait(lambda row: abs(row[2] - 135) < 1e-3, "the tempo")
    wait_for(lambda: abs(client.request("/c_get", BUS + 1, reply="/c_set").args[1] - 2.25) < 1e-5, "the tempo on the bus")
    client.send("/link_set", "playing", 0)
    other.wait(lambda row: row[3] == 0, "a stop")
    wait_for(lambda: client.request("/c_get", BUS + 2, reply="/c_set").args[1] == 0, "a stop on the bus")
    client.command("/d_recv", synthdef("faster", [("LinkTempo", CONTROL, [1, 3], 1, 0)]))
    client.send("/s_new", "faster", 1001, 0, 0)
    other.wait(lambda row: abs(row[2] - 180) < 1e-3, "a synth's tempo")
    client.send("/n_free", 1001)


@within
def test_a_session_ends_when_the_program_is_quit_and_goes_on_when_it_crashes(server, client, join):
    def tempo():
        return client.request("/c_get", BUS + 1, reply="/c_set").args[1]

    link = join(server.port, "--tempo", 90)
    wait_for(lambda: tempo() == 1.5, "a tempo")
    link.interrupt()
    assert link.wait(5) == 0
    wait_for(lambda: tempo() == 0, "the end of the session")
    link = join(server.port)
    wait_for(lambda: tempo() == 2, "a tempo")
    os.kill(link.pid, signal.SIGKILL)
    link.wait(5)

    def beat():
        beat, bar = (client.request("/c_get", BUS + i, reply="/c_set").args[1] for i in (0, 3))
        return bar * QUANTUM + beat

    before = beat()
    wait_for(lambda: beat() > before + 2, "two more beats")


@within
def test_it_ends_with_the_server(server, client, join):
    link = join(server.port)
    link.wait_output("beats a minute")
    server.child.stop()
    assert link.wait(10) == 1
    assert "no server answers" in link.output()


def test_it_says_what_is_wrong():
    def run(*options):
        done = subprocess.run([PW_SCSYNTH, "link", *map(str, options)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=20, check=False)
        return done.returncode, done.stderr

    for tempo in ("19", "1000", "fast", ""):
        assert run("--tempo", tempo) == (1, f"ERROR: pw-scsynth: link: --tempo {tempo}: expected beats a minute, 20 to 999\n"
                                         "pw-scsynth link --help lists the options\n")
    if NETWORKS == {"lo"}:
        status, said = run("-u", free_port())
        assert status == 1
        assert "no server answers at 127.0.0.1:" in said
        assert "pw-scsynth link -u PORT" in said


@pytest.mark.skipif(NETWORKS == {"lo"}, reason="this is a network of its own")
def test_in_a_network_of_its_own():
    words = alone()
    if not words:
        pytest.skip("unshare --net is not allowed here")
    done = subprocess.run([*words, sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-c", "tests/pytest.ini", "-q", "-rs",
                           "-s", __file__], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
