# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user has of the installed package, in a private session with the system's own PipeWire and WirePlumber: run in
a clean system by ./check package: python3 -B -m tests.package.session CASE"""
import array
import subprocess
import sys
import wave
from pathlib import Path

from tests.lib.daemon import Session
from tests.lib.documents import broken_links
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import wait_for

SINK = "test-sink"
SINE = Path(__file__).resolve().parents[1] / "integration/synthdefs/test_sine.scsyndef"
UNIT = Path("/usr/lib/systemd/user/pw-scsynth.service")
DROP_IN = Path("/usr/share/pw-scsynth/pipewire.conf.d/90-scsynth.conf")
THREADS = Path("/usr/share/pipewire/pipewire.conf.d/80-scsynth-threads.conf")
DOCUMENTS = Path("/usr/share/doc/pw-scsynth")
PLAY = DOCUMENTS / "examples/play.py"
READY = "SuperCollider 3 server ready.\n"
DEFAULT_PORT = "57110"


class Take:
    """What a sink plays, recorded by PipeWire's own program as 16-bit samples while it is entered."""
    HEADER = 44

    def __init__(self, session, name):
        self._session, self._path = session, session.dir / f"{name}.wav"
        self._recorder = None

    def __enter__(self):
        self._recorder = self._session.start(
            ["pw-record", "-P", "{ stream.capture.sink=true }", f"--target={SINK}", "--format=s16", "--rate=48000",
             "--channels=2", self._path], "pw-record")
        self.wait(0.3)
        return self

    def __exit__(self, *_):
        self._recorder.interrupt()
        self._recorder.wait(10)

    def wait(self, seconds):
        """Until that much more is there."""
        end = self._size() + seconds * 48000 * 4
        wait_for(lambda: self._size() >= end, f"{seconds} s more of {SINK}: {self._recorder.output()}")

    def _size(self):
        return self._path.stat().st_size if self._path.exists() else self.HEADER

    def left(self):
        """The left channel's samples, full scale is 1."""
        with wave.open(str(self._path)) as file:
            samples = array.array("h", file.readframes(file.getnframes()))
        return [value / 32768 for value in samples[::2]]


def frequency(samples, rate=48000):
    """Of a sine, by its upward zero crossings."""
    ups = [i for i in range(1, len(samples)) if samples[i - 1] < 0 <= samples[i]]
    return rate * (len(ups) - 1) / (ups[-1] - ups[0])


def peak(samples):
    return max(map(abs, samples))


def play_sine(session, port):
    """The server is linked to the sink by the policy, and a synth of it is heard there."""
    session.wait_until(lambda: any(output.startswith("scsynth") and inlet.startswith(SINK)
                                   for output, inlet in session.links()), "links to the sink")
    with Client(port) as client:
        client.wait_ready()
        client.command("/notify", 1)
        client.command("/d_recv", SINE.read_bytes())
        with Take(session, "silence") as silence:
            silence.wait(0.5)
        client.request("/s_new", "test_sine", 1000, 0, 0, "freq", 440.0, "amp", 0.2, reply="/n_go")
        with Take(session, "sine") as sine:
            sine.wait(2)
        client.request("/n_free", 1000, reply="/n_end")
    assert peak(silence.left()) == 0, "something sounds before anything plays"
    middle = sine.left()[24000:72000]
    assert abs(peak(middle) - 0.2) < 0.01, f"peak {peak(middle)}"
    assert abs(frequency(middle) - 440) < 0.5, f"{frequency(middle)} Hz"


def unit():
    """What the unit starts plays, and ends when it is told to."""
    lines = UNIT.read_text().splitlines()
    command = next(line.partition("=")[2] for line in lines if line.startswith("ExecStart=")).split()
    assert command[1:3] == ["-u", DEFAULT_PORT], command
    port = free_port()
    command[2] = str(port)
    with Session(build=None) as session:
        server = session.start(command, "pw-scsynth")
        server.wait_output(READY)
        play_sine(session, port)
        with Take(session, "piece") as piece:
            player = session.start(["python3", PLAY, port], "play")
            assert player.wait(60) == 0, player.output()
        assert peak(piece.left()) > 0.1, "the example isn't heard"
        server.stop()
        session.wait_gone(f"scsynth-{port}")


def drop_in():
    """The drop-in for PipeWire's configuration has the daemon load the server."""
    port = free_port()
    text = DROP_IN.read_text()
    assert DEFAULT_PORT in text
    with Session(build=None, fragments={DROP_IN.name: text.replace(DEFAULT_PORT, str(port))}) as session:
        play_sine(session, port)


def threads():
    """The drop-in that PipeWire finds by itself has the daemon load the module, which makes no node."""
    with Session(build=None, fragments={THREADS.name: THREADS.read_text()}) as session:
        session.wait_until(lambda: any(each["info"]["name"] == "libpipewire-module-scsynth"
                                       for each in session.objects("Module")), "the module")
        assert not session.node("scsynth")


def offline():
    """Without PipeWire: help and version."""
    for option, expected in (("--version", "scsynth"), ("--help", "usage: pw-scsynth")):
        done = subprocess.run(["pw-scsynth", option], capture_output=True, text=True, check=True)
        assert expected in done.stdout


def documents():
    """Their links lead somewhere; none is compressed."""
    assert (DOCUMENTS / "README.md").is_file()
    assert broken_links(DOCUMENTS) == []


CASES = {case.__name__: case for case in (unit, drop_in, threads, offline, documents)}

if __name__ == "__main__":
    CASES[sys.argv[1]]()
