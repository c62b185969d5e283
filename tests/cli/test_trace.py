# SPDX-License-Identifier: GPL-3.0-or-later
"""pw-scsynth trace: what it records of a server, and what it says when it can't."""
import json
import os
import signal
import subprocess
import time
from bisect import bisect

import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.cli.test_top import Answering
from tests.lib.build import ROOT
from tests.lib.osc import Client, Message, encode
from tests.lib.ports import free_port
from tests.lib.process import wait_for

DEFAULT = ROOT / "tests/oracle/synthdefs/default.scsyndef"
QUANTUM = 1024  # frames, of the session
BLOCK, RATE = 64, 48000
PERIOD = 1e6 * QUANTUM / RATE  # µs
VOICES = 4000  # of the default SynthDef: more than a tenth of the time for one thread
KINDS = {"cycle", "walk", "signal", "awake", "job", "write", "wait"}


def trace(*options, env=None):
    """Run it to its end; (status, standard output, standard error)."""
    done = subprocess.run([PW_SCSYNTH, "trace", *map(str, options)], env=env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=90, check=False)
    return done.returncode, done.stdout, done.stderr


class Trace:
    """The file, read: `tracks` are the names of the threads, `spans` the events of each."""

    def __init__(self, path):
        self.whole = json.loads(path.read_text(encoding="utf-8"))
        events = self.whole["traceEvents"]
        self.tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        self.spans = {tid: [event for event in events if event["ph"] == "X" and event["tid"] == tid]
                      for tid in self.tracks}
        assert {event["ph"] for event in events} <= {"M", "X"}
        assert {event["tid"] for event in events} == set(self.tracks)

    def of(self, kind, tid=1):
        return [event for event in self.spans[tid] if event["cat"] == kind]

    def check_nested(self):
        """In the order of their begins, each wholly within those that it begins in."""
        for spans in self.spans.values():
            around, last = [], 0
            for span in spans:
                begin, end = ns(span["ts"]), ns(span["ts"]) + ns(span["dur"])
                assert begin >= last, span
                last = begin
                while around and around[-1] <= begin:
                    around.pop()
                assert not around or end <= around[-1], span
                if end > begin:
                    around.append(end)


def ns(microseconds):
    return round(1000 * microseconds)


def outside(inner, outer):
    """Those that are in none of the outer ones, but for what may be in one whose begin or end wasn't recorded."""
    first, last = outer[0]["ts"], outer[-1]["ts"]
    begins = [span["ts"] for span in outer]
    return [span for span in inner if first <= span["ts"] < last and
            span["ts"] > (around := outer[bisect(begins, span["ts"]) - 1])["ts"] + around["dur"]]


def play(port, voices=VOICES):
    with Client(port) as client:
        client.command("/d_recv", DEFAULT.read_bytes())
        for number in range(voices):
            client.send("/s_new", "default", 1000 + number, 1, 0, "amp", 1e-5, "freq", 100 + number)
            if number % 200 == 199:
                client.sync()
        client.sync()


def check_cycles(found, seconds):
    """Cycles come once a period, and in them are the walks of all blocks, or one for several that are computed at once."""
    cycles, walks = found.of("cycle"), found.of("walk")
    assert 0.5 * seconds <= len(cycles) * PERIOD / 1e6 <= 1.5 * seconds + 0.5
    assert {event["args"]["frames"] for event in cycles} == {QUANTUM}
    assert 0 < max(event["dur"] for event in walks) <= max(event["dur"] for event in cycles) < 1e6
    begins = [event["ts"] for event in cycles]
    assert (begins[-1] - begins[0]) / (len(cycles) - 1) == pytest.approx(PERIOD, rel=0.3)
    numbers = [event["args"]["block"] for event in walks]
    assert numbers == sorted(set(numbers))
    assert abs(numbers[-1] - numbers[0] - len(cycles) * QUANTUM // BLOCK) <= 2 * QUANTUM // BLOCK
    if 2 not in found.tracks:
        assert numbers == list(range(numbers[0], numbers[0] + len(walks)))
    assert not outside(walks, cycles)


def test_two_threads(launch, tmp_path):
    # The limit would end voices on a busy machine.
    server = launch("-T", 2, "-n", 8192, "-m", 131072, "--set", "cpu-limit=0")
    play(server.port)
    file = tmp_path / "a.json"

    def helped():
        """Without a real-time priority helpers are left alone for a while when a walk had to wait for one."""
        status, output, said = trace("-u", server.port, "-o", file, "--seconds", 0.5)
        assert (status, said) == (0, ""), said
        found = Trace(file)
        return found.of("job", 2) and (found, output)

    found, output = wait_for(helped, "jobs done by the helper", timeout=60)
    assert found.tracks == {1: "data loop", 2: "helper 1"}
    assert found.whole["otherData"] == {"dropped": 0, "lost_pages": 0}
    found.check_nested()
    check_cycles(found, 0.5)
    assert {event["cat"] for event in found.spans[1]} <= KINDS - {"awake"}
    assert {event["cat"] for event in found.spans[2]} <= {"awake", "job", "write"}
    assert found.of("signal") and found.of("awake", 2)
    jobs = found.of("job") + found.of("job", 2)
    assert {event["name"] for event in jobs} == {"default"}
    # No block has a voice twice, whether a walk computes it or it is one of several at once.
    assert sum(event["args"]["voices"] for event in jobs) / VOICES <= (len(found.of("cycle")) + 2) * QUANTUM // BLOCK
    assert not outside(found.of("job"), found.of("walk"))
    assert not outside(found.of("job", 2), found.of("awake", 2))
    events = len(found.spans[1]) + len(found.spans[2])
    assert output.startswith(f"{file}: 2 threads, {len(found.of('cycle'))} cycles, {events} events in 0.")
    assert output.endswith("; open it in https://ui.perfetto.dev or chrome://tracing\n")


def test_one_thread(launch, tmp_path):
    server = launch("-T", 1)
    play(server.port, 40)
    file = tmp_path / "a.json"
    file.write_text("x" * 10_000_000)
    status, output, said = trace("-u", server.port, "-o", file, "--seconds", 1)
    assert (status, said) == (0, "")
    assert ": 1 thread, " in output
    found = Trace(file)
    assert found.tracks == {1: "data loop"}
    assert {event["cat"] for event in found.spans[1]} == {"cycle", "walk"}
    found.check_nested()
    check_cycles(found, 1)


def test_a_signal_ends_it_sooner(launch, tmp_path):
    server = launch()
    file = tmp_path / "a.json"
    with subprocess.Popen([PW_SCSYNTH, "trace", "-u", str(server.port), "-o", file, "--seconds", "60"],
                          stdout=subprocess.PIPE, text=True) as child:
        time.sleep(1)
        assert file.read_bytes() == b""
        status, _, said = trace("-u", server.port, "-o", tmp_path / "b.json")
        assert (status, said) == (1, f"ERROR: pw-scsynth: 127.0.0.1:{server.port}: another client records; "
                                     "one at a time can\n")
        assert not (tmp_path / "b.json").exists()
        child.send_signal(signal.SIGINT)
        assert "events in 1." in child.stdout.readline() or child.wait(10)
    assert child.returncode == 0
    assert 20 < len(Trace(file).of("cycle")) < 100
    assert trace("-u", server.port, "-o", file, "--seconds", 0.1)[0] == 0


def test_who_vanishes_lets_others_record(launch, tmp_path):
    server = launch()
    with Client(server.port) as client:
        assert client.command("/trace_start") == Message("/done", "/trace_start", 1)
    assert trace("-u", server.port, "-o", tmp_path / "b.json")[0] == 1
    wait_for(lambda: trace("-u", server.port, "-o", tmp_path / "b.json", "--seconds", 0.1)[0] == 0,
             "the end of the recording that nobody reads", timeout=20)


def test_tcp_and_its_password(session, tmp_path):
    port, file = free_port(), tmp_path / "a.json"
    child = session.start([PW_SCSYNTH, "-t", port, "-p", "secret"], "pw-scsynth")
    child.wait_output("ready.")
    status, _, said = trace("-t", port, "-p", "secret", "-o", file, "--seconds", 0.5)
    assert (status, said) == (0, "")
    check_cycles(Trace(file), 0.5)
    status, output, said = trace("-t", port, "-p", "wrong", "-o", file)
    assert (status, output) == (1, "")
    assert f"another password (-p), or none, and answers no other user; to start one: pw-scsynth -t {port} -p WORD" in said
    child.stop()
    session.wait_gone(f"scsynth-{port}")


def test_without_a_server(launch, session, tmp_path):
    server, port, file = launch(), free_port(), tmp_path / "a.json"
    status, output, said = trace("-u", port, "-o", file, env=session.env)
    assert (status, output) == (1, "")
    assert said.startswith(f"ERROR: pw-scsynth: no server answers at 127.0.0.1:{port}\n")
    assert f"PipeWire has \"{server.name}\": pw-scsynth trace -u {server.port} (with a password: -t {server.port} -p WORD)\n" in said
    assert not file.exists()
    file.write_text("as it was")
    assert trace("-u", port, "-o", file)[0] == 1
    assert file.read_text() == "as it was"


@pytest.mark.parametrize("path, why", [
    ("missing/a.json", "No such file or directory"), (".", "Is a directory"), ("/dev/full", "No space left on device"),
])
def test_a_file_that_cannot_be_written(launch, tmp_path, path, why):
    path = os.path.join(tmp_path, path)
    status, output, said = trace("-u", launch().port, "-o", path, "--seconds", 0.1)
    assert (status, output, said) == (1, "", f"ERROR: pw-scsynth: cannot write {path}: {why}\n")


@pytest.mark.parametrize("answer, text", [
    (lambda message: encode(Message("/fail", message.address, "Command not found")), "it is scsynth, or an older"),
    (lambda message: encode(Message("/done", "/trace_start", 1) if message.address == "/trace_start" else
                            Message("/trace_read.reply", 1, "x")), "not as this program knows it"),
    (lambda message: encode(Message("/done", "/trace_start", 1)) if message.address == "/trace_start" else None,
     "no server answers at 127.0.0.1:"),
    (lambda message: None, "no server answers at 127.0.0.1:"),
], ids=["stock", "other", "gone", "silent"])
def test_servers_of_another_kind(tmp_path, answer, text):
    with Answering(answer) as other:
        status, output, said = trace("-u", other.port, "-o", tmp_path / "a.json")
    assert (status, output) == (1, "")
    assert text in said
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize("options, text", [
    (("-x",), "trace: -x: no such option\npw-scsynth trace --help"),
    ((), "-o: expected a file to write"),
    (("-o", "a.json", "--seconds", 0), "--seconds 0: expected seconds"),
])
def test_wrong_options(options, text):
    status, output, said = trace(*options)
    assert (status, output) == (1, "")
    assert said.startswith("ERROR: pw-scsynth: trace: ")
    assert text in said


def test_help():
    for option in ("-h", "--help"):
        status, output, said = trace(option)
        assert (status, said) == (0, "")
        assert output.startswith("usage: pw-scsynth trace -o FILE")
