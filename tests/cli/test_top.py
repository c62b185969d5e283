# SPDX-License-Identifier: GPL-3.0-or-later
"""pw-scsynth top: what it says of a server, and what it does with a terminal."""
import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pyte
import pytest

from tests.cli.conftest import PW_SCSYNTH, Program
from tests.integration.conftest import SYNTHDEFS
from tests.lib.answering import Answering
from tests.lib.osc import Client, Message, encode
from tests.lib.ports import free_port
from tests.lib.process import wait_for

SHOWN_BY_TOP = "COST %  RUNNING   PAUSED  BATCHES  GROUP"


def top(*options, env=None):
    """Run it to its end; (status, standard output, standard error)."""
    done = subprocess.run([PW_SCSYNTH, "top", *map(str, options)], env=env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def sample(port, *options):
    status, output, said = top("-u", port, "--once", "--json", *options)
    assert (status, said) == (0, ""), said
    assert output.count("\n") == 1
    return json.loads(output)


def by_id(shown):
    return {group["id"]: group for group in shown["groups"]}


def play(port):
    """Groups 1 and 2 with 3 in it: 40 sines in 1, of which 4 are paused, and 5 in 3."""
    with Client(port) as client:
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.send("/g_new", 1, 1, 0, 2, 1, 0, 3, 0, 2)
        for number in range(45):
            client.send("/s_new", "test_sine", 1000 + number, 1, 1 if number < 40 else 3, "amp", 0.001)
        for number in range(4):
            client.send("/n_run", 1000 + number, 0)
        client.sync()


# What it says

def test_counts_and_costs(launch):
    server = launch()
    play(server.port)
    # A SynthDef is measured when it plays.
    shown = wait_for(lambda: (found := sample(server.port)) and not found["groups"][0]["unmeasured"] and found,
                     "a measured SynthDef")
    assert (shown["host"], shown["port"], shown["block"], shown["rate"]) == ("127.0.0.1", server.port, 64, 48000)
    assert (shown["synths"], shown["group_count"], shown["limit"]) == (45, 4, 70)
    assert 1 <= shown["threads"] <= min(os.cpu_count(), 4)
    assert (shown["ended"], shown["paused"], shown["whole"]) == (0, 0, True)
    groups = by_id(shown)
    assert [group["id"] for group in shown["groups"]] == [0, 1, 2, 3]
    assert [groups[n]["parent"] for n in range(4)] == [None, 0, 0, 2]
    assert [groups[n]["running"] for n in range(4)] == [41, 36, 5, 5]
    assert [groups[n]["paused"] for n in range(4)] == [4, 4, 0, 0]
    assert [each["name"] for each in groups[1]["synthdefs"]] == ["test_sine"]
    assert groups[2]["synthdefs"] == []
    # Each of them costs the same mean.
    assert groups[3]["cost"] > 0
    assert groups[1]["cost"] == pytest.approx(groups[3]["cost"] * 36 / 5, rel=1e-3)
    assert groups[0]["cost"] == pytest.approx(groups[1]["cost"] + groups[2]["cost"], rel=1e-3)
    assert groups[0]["estimated"]
    assert shown["load"] > 0
    wait_for(lambda: (sample(server.port)["worst_block"] or 0) > 0, "a block that was timed")

    with Client(server.port) as client:
        client.send("/n_run", 1, 0)
        client.sync()
    groups = by_id(sample(server.port))
    assert (groups[1]["runs"], groups[1]["cost"], groups[1]["running"], groups[1]["paused"]) == (False, 0, 0, 40)
    assert groups[0]["cost"] == groups[2]["cost"] > 0


def test_plain_lines(launch):
    server = launch()
    play(server.port)
    status, output, said = top("-u", server.port, "--once")
    assert (status, said) == (0, "")
    lines = output.splitlines()
    threads = sample(server.port)["threads"]
    assert lines[0] == (f"pw-scsynth top  127.0.0.1:{server.port}  64 frames a block, 48000 Hz, "
                        f"{threads} thread{'s' * (threads > 1)}")
    assert lines[2].startswith("synths 45  groups 4  cuts ")
    assert lines[4].strip() == SHOWN_BY_TOP
    assert re.fullmatch(r" *\S+ +36 +4 +\d+    1  test_sine ×40 \(4 paused\)", lines[6]), output
    assert "\x1b" not in output
    filtered = top("-u", server.port, "--once", "--filter", "sine", "--sort", "name")[1].splitlines()
    assert [line.split()[4] for line in filtered[5:]] == ["0", "1", "2", "3"]
    assert len(top("-u", server.port, "--once", "--filter", "nothing like it")[1].splitlines()) == 5


def test_samples_go_on(launch):
    server = launch()
    child = subprocess.Popen([PW_SCSYNTH, "top", "-u", str(server.port), "--json", "-d", "0.1"],
                             stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    try:
        for _ in range(3):
            assert json.loads(child.stdout.readline())["port"] == server.port
        child.send_signal(signal.SIGTERM)
        assert child.wait(10) == 0
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_it_while_nobody_reads(launch, number):
    server = launch()
    with Client(server.port) as client:
        client.send("/g_new", *(value for group in range(1, 101) for value in (group, 1, 0)))
        client.sync()
    with subprocess.Popen([PW_SCSYNTH, "top", "-u", str(server.port), "--json", "-d", "0.1"],
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as child:
        try:
            room = fcntl.fcntl(child.stdout, fcntl.F_SETPIPE_SZ, 4096)  # less than a line

            def waiting():
                return struct.unpack("i", fcntl.ioctl(child.stdout, termios.FIONREAD, bytes(4)))[0]
            wait_for(lambda: waiting() == room, "a full pipe")
            child.send_signal(number)
            assert child.wait(5) == 0
        finally:
            child.kill()


def test_a_hundred_thousand_nodes(launch):
    server = launch("-n", 131072, "-m", 131072)
    with Client(server.port, timeout=20) as client:
        client.send("/g_new", 1, 1, 0)
        client.send("/n_run", 1, 0)  # else no block would have time for them
        for first in range(1000, 101_000, 1000):
            client.send("/g_new", *(value for number in range(first, first + 1000) for value in (number, 1, 1)))
            client.sync()
    shown = sample(server.port)
    assert shown["whole"]
    assert shown["group_count"] == len(shown["groups"]) == len(by_id(shown)) == 100_002


def test_tcp_and_its_password(session):
    port = free_port()
    child = session.start([PW_SCSYNTH, "-t", port, "-p", "secret"], "pw-scsynth")
    child.wait_output("ready.")
    status, output, said = top("-t", port, "-p", "secret", "--once", "--json")
    assert (status, said) == (0, "")
    assert json.loads(output)["port"] == port
    for options in (("-t", port, "-p", "wrong"), ("-t", port), ("-u", port)):
        status, output, said = top(*options, "--once")
        assert (status, output) == (1, "")
        expected = "by TCP, with a password: -t PORT" if "-u" in options else "another password (-p)"
        assert expected in said
    watcher = subprocess.Popen([PW_SCSYNTH, "top", "-t", str(port), "-p", "secret", "--json"],
                               stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        watcher.stdout.readline()
        with open(f"/proc/{watcher.pid}/cmdline", "rb") as arguments:
            assert b"secret" not in arguments.read()
    finally:
        watcher.terminate()
        watcher.wait(10)
        watcher.stdout.close()
    child.stop()
    session.wait_gone(f"scsynth-{port}")


def test_without_a_server(launch, session):
    server = launch()
    port = free_port()
    status, output, said = top("-u", port, "--once", env=session.env)
    assert (status, output) == (1, "")
    assert said.startswith(f"ERROR: pw-scsynth: no server answers at 127.0.0.1:{port}\n")
    assert "systemctl --user start pw-scsynth" in said
    assert f"PipeWire has \"{server.name}\": pw-scsynth top -u {server.port} (with a password: -t {server.port} -p WORD)\n" in said


@pytest.mark.parametrize("answer, text", [
    (lambda message: encode(Message("/fail", message.address, "Command not found")), "it is scsynth, or an older"),
    (lambda message: encode(Message("/fail", message.address, "\x1b[2J\n")), r"refuses /g_queryCost: \x1b[2J\x0a"),
    (lambda message: encode(Message("/g_queryCost.reply", 1, "x")), "not as this program knows it"),
    (lambda message: b"nonsense", "no server answers at"),
    (lambda message: None, "no server answers at"),
], ids=["stock", "escapes", "other", "nonsense", "silent"])
def test_servers_of_another_kind(answer, text):
    with Answering(answer) as other:
        status, output, said = top("-u", other.port, "--once")
    assert (status, output) == (1, "")
    assert text in said
    assert "\x1b" not in said


@pytest.mark.parametrize("options, text", [
    (("-x",), "top: -x: no such option\npw-scsynth top --help"),
    (("-u", 0), "expected a port"),
    ((), "this is no terminal; --once prints one sample"),
])
def test_wrong_options(options, text):
    status, output, said = top(*options)
    assert (status, output) == (1, "")
    assert said.startswith("ERROR: pw-scsynth: top: ")
    assert text in said


def test_help():
    for option in ("-h", "--help"):
        status, output, said = top(option)
        assert (status, said) == (0, "")
        assert output.startswith("usage: pw-scsynth top")


# Several servers

def test_several_servers(launch):
    servers = [launch(), launch()]
    play(servers[0].port)
    gone = free_port()
    names = [f"127.0.0.1:{servers[0].port}", f"localhost:{servers[1].port}", f"127.0.0.1:{gone}"]
    status, output, said = top(*names, "--once", "--sort", "voices")
    assert (status, said) == (0, "")
    lines = output.splitlines()
    assert lines[0].startswith("pw-scsynth top  3 servers, of which 2 answer  load ")
    assert lines[0].endswith("  synths 45")
    assert lines[2].split()[:2] == ["LOAD", "%"]
    assert [line.split()[4] for line in lines[3:]] == ["45", "0", "?"]
    assert [line.split()[7] for line in lines[3:]] == names
    assert lines[5].endswith(f"  no server answers at {names[2]}")

    status, output, said = top(*names, "--once", "--json")
    assert status == 0
    shown = [json.loads(line) for line in output.splitlines()]
    assert {each["port"]: each["synths"] for each in shown} == {servers[0].port: 45, servers[1].port: 0}
    assert said == f"pw-scsynth: no server answers at {names[2]}\n"


def test_once_is_once(launch):
    """Those that answer are not asked again while another one doesn't."""
    servers = [launch(), launch()]
    with Answering(lambda message: None) as silent:
        names = [f"127.0.0.1:{port}" for port in (servers[0].port, silent.port, servers[1].port)]
        status, output, said = top(*names, "--once", "--json", "-d", "0.1")
        assert status == 0
        assert sorted(json.loads(line)["port"] for line in output.splitlines()) == sorted(server.port for server in servers)
        assert said == f"pw-scsynth: no server answers at {names[1]}\n"


def test_a_named_server_has_its_tree(launch):
    server = launch()
    status, output, said = top(f"localhost:{server.port}", "--once")
    assert (status, said) == (0, "")
    assert output.startswith(f"pw-scsynth top  localhost:{server.port}  64 frames a block")
    assert SHOWN_BY_TOP in output


@pytest.mark.parametrize("options, text", [
    (("studio:x", "--once"), "top: studio:x: expected a port after the colon, 1 to 65535\npw-scsynth top --help"),
    (("::1", "--once"), "top: ::1: expected a host's name or IPv4 address, and a port if it isn't 57110, as in studio:57120"),
    (("no-such-host.invalid", "--once"), "no-such-host.invalid: no IPv4 address is known of this host ("),
    (("127.0.0.1:1", "127.0.0.1:2", "--once"), "none of the servers answers: no server answers at 127.0.0.1:1, and so on\nto start one: "),
])
def test_wrong_hosts(options, text):
    status, output, said = top(*options)
    assert (status, output) == (1, "")
    assert said.startswith(f"ERROR: pw-scsynth: {text}")


# What it does with a terminal

class Screen:
    """The program in a terminal of its own."""

    def __init__(self, port, *options, rows=24, columns=80, kind="screen"):
        self._ours, theirs = os.openpty()
        self._set_size(rows, columns)
        self.before = termios.tcgetattr(theirs)
        self._theirs = theirs
        self.seen = b""
        self._picture = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._picture)
        self.child = subprocess.Popen([PW_SCSYNTH, "top", "-u", str(port), "-d", "0.2", *options], stdin=theirs,
                                      stdout=theirs, stderr=theirs, start_new_session=True, env=os.environ | {"TERM": kind},
                                      preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0))

    def resize(self, rows, columns):
        self._read()
        self._picture.resize(rows, columns)
        self._set_size(rows, columns)

    def clear(self):
        """As if another program had drawn there."""
        self._read()
        self.seen = b""
        self._picture.reset()

    def _set_size(self, rows, columns):
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self):
        self.child.kill()
        self.child.wait()
        os.close(self._ours)
        os.close(self._theirs)

    def press(self, keys):
        os.write(self._ours, keys.encode())

    def _read(self):
        while select.select([self._ours], [], [], 0.05)[0]:
            new = os.read(self._ours, 65536)
            self.seen += new
            self._stream.feed(new)

    def lines(self):
        """What is on the screen, each line without the spaces at its end."""
        self._read()
        return [line.rstrip() for line in self._picture.display]

    def wait(self, pattern, absent=False):
        """Until a line of the picture matches, or none does."""
        def found():
            lines = self.lines()
            return absent != any(re.search(pattern, line) for line in lines) and lines
        try:
            return wait_for(found, pattern, timeout=15)
        except TimeoutError as error:
            raise AssertionError(f"{error}; it shows:\n" + "\n".join(self.lines())) from None

    def restored(self):
        self._read()
        last = {end: self.seen.rfind(b"\x1b[?" + end) for end in (b"1049h", b"1049l", b"25h", b"25l")}
        return (termios.tcgetattr(self._theirs) == self.before and
                last[b"1049l"] > last[b"1049h"] >= 0 and last[b"25h"] > last[b"25l"] >= 0)

    def ended(self):
        status = self.child.wait(10)
        return status, self.restored()


@pytest.fixture
def screen():
    started = []

    def start(*args, **how):
        started.append(Screen(*args, **how))
        return started[-1]

    yield start
    for each in started:
        each.close()


def test_several_servers_come_and_go(launch, screen):
    here, late = launch(), free_port()
    shown = screen(here.port, f"127.0.0.1:{here.port}", f"127.0.0.1:{late}", columns=150)
    shown.wait(rf"no server answers at 127.0.0.1:{late}$")
    shown.wait("2 servers, of which 1 answers")
    play(here.port)
    shown.wait(rf" 45 .*127.0.0.1:{here.port}$")
    launch(port=late)
    shown.wait(rf"0  127.0.0.1:{late}$")
    shown.wait("^pw-scsynth top  2 servers  load ")
    shown.press(f"/{late}\r")
    shown.wait(rf"127.0.0.1:{here.port}$", absent=True)
    shown.press("q")
    assert shown.ended() == (0, True)


def test_keys(launch, screen):
    server = launch()
    play(server.port)
    shown = screen(server.port)
    lines = shown.wait(r"1  test_sine ×40 \(4 paused\)")
    assert lines[4].strip() == SHOWN_BY_TOP
    assert lines[-1].startswith("q quit")
    assert termios.tcgetattr(shown._theirs) != shown.before
    shown.press("n")
    wait_for(lambda: [line.split()[4] for line in shown.lines()[5:9]] == ["0", "1", "2", "3"], "the order of IDs")
    shown.press("-")
    shown.wait(r"    2 and 1 group  test_sine ×5$")
    shown.press("-")
    shown.wait(r"  0 and 3 groups  test_sine ×45 \(4 paused\)$")
    shown.press("++")
    shown.wait(r"      3  test_sine ×5$")
    shown.press("/3\r")
    shown.wait("1  test_sine", absent=True)
    shown.wait("with \"3\"")
    shown.press("\x1b")
    shown.wait("1  test_sine")
    shown.press("h")
    shown.wait("hold the picture")
    shown.press("h")
    shown.wait("hold the picture", absent=True)
    shown.press("p")
    shown.wait("the picture is held")
    with Client(server.port) as client:
        client.send("/g_freeAll", 3)
        client.sync()
    time.sleep(0.6)
    shown.wait(r"3  test_sine ×5$")
    shown.press(" ")
    shown.wait(r"3  test_sine ×5$", absent=True)
    shown.press("q")
    assert shown.ended() == (0, True)


def test_keys_without_a_character(launch, screen):
    """As a terminal of this kind sends them: up, down, page up and down, home, end; characters of several bytes."""
    server = launch()
    play(server.port)
    shown = screen(server.port, rows=8)  # two rows of the tree
    shown.press("n")

    def wait_rows(*ids):
        wait_for(lambda: [line.split()[4] for line in shown.lines()[5:7] if line] == list(ids), f"rows {ids}")

    wait_rows("0", "1")
    for keys, ids in (("\x1bOB", ("1", "2")), ("\x1b[6~", ("2", "3")), ("\x1bOA", ("1", "2")), ("\x1b[5~", ("0", "1")),
                      ("\x1b[4~", ("2", "3")), ("\x1b[1~", ("0", "1")), ("\x1b[200~\x01", ("0", "1"))):
        shown.press(keys)
        wait_rows(*ids)
    shown.press("/é×日")
    shown.wait("show what has: é×日")
    shown.press("\x7f\x7f")
    shown.wait("show what has: é_")
    shown.press("\x1b")
    wait_rows("0", "1")
    shown.press("q")
    assert shown.ended() == (0, True)


def test_a_terminal_of_an_unknown_kind(launch, screen):
    shown = screen(launch().port, kind="none-such")
    assert shown.child.wait(15) == 1
    assert any("TERM=none-such" in line for line in shown.lines())
    assert termios.tcgetattr(shown._theirs) == shown.before


def test_resizing(launch, screen):
    server = launch()
    play(server.port)
    shown = screen(server.port, "-d", "100")
    shown.wait("test_sine ×40")
    shown.resize(8, 50)
    wait_for(lambda: shown.lines()[7].startswith("q quit"), "a smaller picture")
    lines = shown.lines()
    assert lines[3] == "" and lines[4].strip() == SHOWN_BY_TOP # longer lines are cut
    shown.press("\x1bOB")
    shown.wait(r"  0$", absent=True)
    shown.resize(30, 120)
    wait_for(lambda: shown.lines()[29].startswith("q quit"), "a larger picture")
    shown.wait("test_sine ×40")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_leaves_the_terminal_as_it_was(launch, screen, number):
    shown = screen(launch().port)
    shown.wait("GROUP")
    shown.child.send_signal(number)
    assert shown.ended() == (0, True)


def test_control_c(launch, screen):
    shown = screen(launch().port)
    shown.wait("GROUP")
    shown.press("\x03")
    assert shown.ended() == (0, True)


def test_it_can_be_stopped_and_continued(launch, screen):
    shown = screen(launch().port)
    shown.wait("GROUP")
    shown.child.send_signal(signal.SIGTSTP)

    def state():
        with open(f"/proc/{shown.child.pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0]
    wait_for(lambda: state() == "T", "a stopped program")
    assert shown.restored()
    shown.clear()
    shown.child.send_signal(signal.SIGCONT)
    shown.wait("GROUP")
    assert termios.tcgetattr(shown._theirs) != shown.before
    shown.press("q")
    assert shown.ended() == (0, True)


def test_without_a_server_the_terminal_is_left_as_it_was(screen):
    port = free_port()
    shown = screen(port)
    assert shown.child.wait(15) == 1
    assert f"no server answers at 127.0.0.1:{port}".encode() in shown.seen + os.read(shown._ours, 65536)
    assert termios.tcgetattr(shown._theirs) == shown.before


def test_a_server_that_goes_and_comes_back(launch, session, screen):
    server = launch()
    play(server.port)
    shown = screen(server.port)
    shown.wait("test_sine ×40")
    with Client(server.port) as client:
        client.command("/quit")
    assert server.ended()[0] == 0
    lines = shown.wait("no server answers at 127.0.0.1:.* trying again")
    assert any("test_sine ×40" in line for line in lines)  # the last that is known
    again = Program(session, port=server.port)
    try:
        shown.wait("trying again", absent=True)
        shown.wait("^synths 0  groups 1 ")
        shown.press("q")
        assert shown.ended() == (0, True)
    finally:
        again.child.stop()
        session.wait_gone(again.name)
