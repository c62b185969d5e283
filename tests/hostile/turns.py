# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens on a desktop, a row for each in KINDS. A turn ends when what it changed is visible."""
import functools
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Callable

import numpy as np

from tests.hostile.life import BUFFER, BUS, LATER
from tests.hostile.test_packets import one_unit
from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, midi_file
from tests.lib.build import PW_SCSYNTH
from tests.lib.osc import Client, Failed, Message, encode
from tests.lib.ports import free_port

RATES, QUANTA = (44100, 48000, 96000), (128, 256, 512, 1024, 2048)
CRASHES = ("Crash", "Abort", "SmashStack", "Terminate", "ThrowNoexcept")
DISK, LEFT = 1 << 20, 48 << 10  # bytes of the small disk, and how many are left before a recording
RECORDING, RECORDED = 7, 8  # buffers
ASLEEP = 0.25  # s
SOON = 11  # s; what breaks again before that may be the fault of what came back
ENGINES = 12  # broken ones of a daemon; after sixteen there is none
STEPS = (-3600, -1.5, 0, 0.4, 3600, 86400)  # s
STRANGER = """
import socket, sys
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.settimeout(0.1)
sock.connect(("127.0.0.1", int(sys.argv[1])))
try:
    for packet in sys.argv[2:]:
        sock.send(bytes.fromhex(packet))
    print(len(sock.recv(1000)))
except (TimeoutError, ConnectionError):
    print(0)
"""


class Wrong(AssertionError):
    """A turn didn't do what it should; the text says what."""


def check(right, what):
    if not right:
        raise Wrong(what)


# Devices

def plugs_in(life, _):
    if life.headphones:
        life.unplug()
    else:
        life.plug()


def chooses_sink(life, rng):
    life.set_default(rng.choice(life.sinks()))


def switches_rate(life, rng):
    life.set_rate(rng.choice(RATES))


def switches_quantum(life, rng):
    life.set_quantum(rng.choice(QUANTA))


# Daemons and the machine

def restarts_wireplumber(life, rng):
    """At rest: PipeWire 0.3.65 may crash otherwise, also without us and without our policy."""
    life.rest()
    life.restart_wireplumber(rng.choice((signal.SIGTERM, signal.SIGKILL)))
    life.settle()


def kills_daemon(life, _):
    life.wait_copied()
    life.restart_daemon(signal.SIGKILL)
    life.client.wait_ready()
    life.settle()


def may_kill(life):
    return time.monotonic() - max(life.killed, life.broken) > SOON


def sleeps(life, _):
    """All processes of the session stand still, as in a machine that is suspended. For how long, in seconds."""
    start = time.monotonic()
    pids = [life.session.daemon.pid, life.session.wireplumber.pid]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(ASLEEP)
    for pid in reversed(pids):
        os.kill(pid, signal.SIGCONT)
    return time.monotonic() - start


def suspends_node(life, rng):
    """The session manager does so with what is idle; here it plays."""
    name = rng.choice((life.node, *life.sinks()))
    life.session.pw_cli("send-command", life.session.node(name)["id"], "Suspend", "{}")


def steps_clock(life, rng):
    """A bundle for a moment of the new time is in time."""
    life.step_clock(rng.choice(STEPS))
    time.sleep(0.05)
    start = time.monotonic()
    life.client.send_at(life.wall_clock() + 0.1, ("/s_new", "test_sine", LATER, 1, 0, "amp", 0.0))
    life.client.wait("/n_go", where=lambda args: args[0] == LATER)
    took = time.monotonic() - start
    life.client.request("/n_free", LATER, reply="/n_end", where=lambda args: args[0] == LATER)
    check(0.04 < took < 0.5, f"a bundle for 0.1 s later was performed after {took:.3f} s")


# Clients

def logs_in(life, rng):
    how = rng.choice(("udp", "tcp", "unix"))
    if how == "udp":
        with Client(life.port) as client:
            client.command("/notify", 1)
            client.command("/notify", 0)
        return
    family, address = ((socket.AF_INET, ("127.0.0.1", life.port)) if how == "tcp" else
                       (socket.AF_UNIX, f"{life.session.dir}/run/pw-scsynth-{life.port}"))
    with socket.socket(family, socket.SOCK_STREAM) as stream:
        stream.settimeout(5)
        stream.connect(address)
        packet = encode(Message("/notify", 1))
        stream.sendall(struct.pack(">i", len(packet)) + packet)
        try:
            answer = stream.recv(1000)
        except TimeoutError:
            raise Wrong(f"no answer to a login by {how}") from None
        check(b"/done" in answer, f"no login by {how}")  # and it vanishes without a farewell


def stranger_sends(life, _):
    packets = [encode(Message("/g_freeAll", 0)), encode(Message("/b_zero", BUFFER)), encode(Message("/c_set", BUS, 0.0)),
               encode(Message("/status"))]
    before = int(life.props()["scsynth.packets.refused"])
    done = subprocess.run([*sandbox(), sys.executable, "-I", "-S", "-c", STRANGER, str(life.port),
                           *(packet.hex() for packet in packets)], capture_output=True, text=True, cwd="/", check=False)
    check(done.returncode == 0 and done.stdout.strip() == "0", f"a sandbox got {done.stdout} {done.stderr}")
    life.wait(lambda: int(life.props()["scsynth.packets.refused"]) == before + len(packets), "the refused packets to be counted")


@functools.cache
def sandbox(_=None):
    """The words before a command that has it run in a sandbox; None where there is none."""
    for words in (["bwrap", "--dev-bind", "/", "/"], ["unshare", "--mount"]):
        if shutil.which(words[0]) and subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            return words
    return None


def saves_and_restores(life, _):
    path = life.folder / "saved"
    for command in ("save", "restore"):
        life.session.run(PW_SCSYNTH, command, path, "-u", life.port)
        if command == "save":
            life.client.send("/g_freeAll", 0)
            life.client.sync()
    path.unlink()


def second_server(life, _):
    """Another one in the daemon, by pw-scsynth, and its end."""
    port = free_port()
    child = life.session.start([PW_SCSYNTH, "-u", port], "pw-scsynth")
    child.wait_output("ready.")
    with Client(port) as client:
        client.command("/notify", 1)
        client.command("/d_load", str(SYNTHDEFS / "test_sine.scsyndef"))
        client.request("/s_new", "test_sine", 1000, 0, 0, reply="/n_go")
    life.session.end(child)
    life.session.wait_gone(f"scsynth-{port}")


# Packs

def evil(life, ugen):
    """A synth of that UGen; its end isn't awaited."""
    life.client.command("/d_recv", one_unit(ugen.encode(), 2, [], [2]))
    life.client.send("/s_new", "evil", LATER, 1, 0)


def end_of(life):
    life.client.wait("/n_end", where=lambda args: args[0] == LATER)
    life.client.send("/d_free", "evil")
    life.client.inbox.clear()


def crashes(life, rng):
    evil(life, rng.choice(CRASHES))
    end_of(life)


def never_ends(life, rng):
    evil(life, rng.choice(("Endless", "EndlessStart")))
    end_of(life)


def only_waits(life, rng):
    evil(life, rng.choice(("Waits", "Deadlock")))
    end_of(life)


def breaks_engine(life, _):
    life.wait_copied()
    evil(life, "Scribble")
    life.client.send("/g_new", *(number for group in range(3000, 3100) for number in (group, 0, 0)))
    life.engines += 1
    life.wait(lambda: life.session.daemon.output().count("the engine crashed") == life.engines, "the engine to be given up")
    life.wait_whole()
    life.client.send("/d_free", "evil")
    life.client.inbox.clear()
    life.broken = time.monotonic()


def may_break(life):
    return may_kill(life) and life.engines < ENGINES


# Files

def records(life, _, folder=None):
    """What a DiskOut writes while the piece plays; the path."""
    client, path = life.client, (folder or life.folder) / "take.wav"
    client.command("/b_alloc", RECORDING, 8192, 2)
    client.command("/b_write", RECORDING, str(path), "wav", "float", 0, 0, 1)
    client.request("/s_new", "test_disk_out", LATER, 1, 0, "buf", RECORDING, reply="/n_go")
    failed = None
    if folder:
        failed = client.wait("/fail").args
    else:
        life.wait(lambda: path.stat().st_size > 64 << 10, "the file to grow")
    client.request("/n_free", LATER, reply="/n_end", where=lambda args: args[0] == LATER)
    client.command("/b_close", RECORDING)
    client.command("/b_free", RECORDING)
    ramp = audio.read_wav(path)[0][:, 0]
    path.unlink()
    check(len(ramp) > 1000 and np.array_equal(ramp, ramp[0] + np.arange(len(ramp))), "the recording isn't whole")
    if folder:
        check("No space left" in failed[1], f"the failure is {failed}")


def records_to_full_disk(life, rng):
    folder = life.folder / "small"
    (folder / "other").write_bytes(bytes(DISK - LEFT))
    try:
        records(life, rng, folder)
    finally:
        (folder / "other").unlink()


def writes_to_full_disk(life, _):
    client, folder = life.client, life.folder / "small"
    (folder / "other").write_bytes(bytes(DISK - LEFT))
    client.command("/b_alloc", RECORDED, 65536, 1)
    try:
        client.command("/b_write", RECORDED, str(folder / "buffer.wav"), "wav", "float")
        check(False, "a buffer fits a full disk")
    except Failed as failed:
        check("No space left" in str(failed), f"the failure is {failed}")
    finally:
        (folder / "other").unlink()
        (folder / "buffer.wav").unlink(missing_ok=True)
        client.command("/b_free", RECORDED)


def small_disk(life):
    """Mount it; False where that isn't allowed."""
    folder = life.folder / "small"
    if folder.exists():
        return True
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", folder], capture_output=True, check=False).returncode:
        folder.rmdir()
        return False
    life.session.at_close(lambda: subprocess.run(["umount", folder], check=True))
    return True


# Other programs

def come_and_go(life, child, node):
    """Its links aren't waited for: WirePlumber 0.4.13 makes none to a null sink once it was restarted, also without us."""
    life.wait(lambda: life.session.node(node), node)
    time.sleep(0.1)
    life.session.end(child)
    life.session.wait_gone(node)


def another_plays(life, rng):
    path = life.folder / "tone.wav"
    audio.write_wav(path, 0.01 * np.sin(np.arange(22050) / 10), 44100)
    child = life.session.start(["pw-play", "--target", rng.choice(life.sinks()), path], "pw-play")
    come_and_go(life, child, "pw-play")


def another_records(life, rng):
    target = rng.choice(("microphone", life.node))
    child = life.session.start(["pw-record", "--target", target, life.folder / "recorded.wav"], "pw-record")
    come_and_go(life, child, "pw-record")


def keyboard_vanishes(life, _):
    """While keys are down."""
    client, path = life.client, life.folder / "key.mid"
    synths = client.status()[2]
    client.send("/bind_keys", 1, "test_sine", 0, 0, "amp", "", "set", "amp", 0.05)
    # It plays from when it is linked on, and what comes in the first cycles may be lost.
    midi_file.write(path, [(0.05 * i, (0x90, 40 + i, 100)) for i in range(40)] + [(60, (0x80, 40, 0))])
    player = life.session.start(["pw-midiplay", "--target", "0", path], "pw-midiplay")
    life.wait(lambda: "pw-midiplay:out_0" in life.session.run("pw-link", "-o"), "the keyboard")
    life.session.run("pw-link", "pw-midiplay:out_0", f"{life.node}:control_1")
    life.wait(lambda: client.status()[2] > synths, "a note")
    life.session.end(player)
    client.send("/bind_free", 1)
    client.sync()
    client.inbox.clear()


@dataclass
class Kind:
    name: str
    do: Callable
    weight: float
    silence: float  # s; the longest that is allowed, beyond the seconds that do() returns
    may: Callable = lambda life: True  # whether it can be done now
    needs: Callable = None  # whether it can be done here at all, and what is missing if it can't
    lacking: str = ""
    longest: float = 0
    total: float = 0
    count: int = 0
    deaf: int = 0

    def note(self, silence):
        """How long nothing was heard in a turn, in seconds; None if the listener was cut off."""
        self.count += 1
        if silence is None:
            self.deaf += 1
            return
        self.total += silence
        self.longest = max(self.longest, silence)
        check(silence <= self.silence, f"{self.name}: nothing was heard for {silence:.3f} s")


def can(kind, life):
    """Whether it can be done here. If not, a line says why."""
    if kind.needs and not kind.needs(life):
        print(f"left out: {kind.name}: {kind.lacking}")
        return False
    return True


def kinds():
    """A new table."""
    return [
        Kind("headphones come or go", plugs_in, 10, 0.5),
        Kind("another default sink", chooses_sink, 8, 0.5),
        Kind("another sample rate", switches_rate, 5, 0.5),
        Kind("another quantum", switches_quantum, 6, 0.5),
        Kind("WirePlumber restarts", restarts_wireplumber, 3, 2),
        Kind("the daemon is killed, and starts", kills_daemon, 0.15, 3, may_kill),
        Kind("the machine sleeps (beyond that)", sleeps, 3, 0.5),
        Kind("a node is suspended", suspends_node, 3, 0.5),
        Kind("the clock steps", steps_clock, 5, 0.5),
        Kind("a client logs in and goes", logs_in, 12, 0.5),
        Kind("a sandboxed stranger sends", stranger_sends, 5, 0.5, needs=sandbox, lacking="neither bwrap nor unshare works"),
        Kind("pw-scsynth save, restore", saves_and_restores, 5, 0.5),
        Kind("a second server comes and goes", second_server, 4, 0.5),
        Kind("a UGen crashes", crashes, 8, 0.5),
        Kind("a UGen never ends", never_ends, 3, 0.5),
        Kind("a UGen only waits", only_waits, 1, 1),
        Kind("a UGen breaks the engine", breaks_engine, 0.5, 1, may_break),
        Kind("a recording", records, 6, 0.5),
        Kind("a recording, and the disk is full", records_to_full_disk, 4, 0.5, needs=small_disk, lacking="a small disk needs root"),
        Kind("a buffer for a full disk", writes_to_full_disk, 4, 0.5, needs=small_disk, lacking="a small disk needs root"),
        Kind("another program plays", another_plays, 6, 0.5),
        Kind("another program records", another_records, 6, 0.5),
        Kind("a keyboard vanishes, a key down", keyboard_vanishes, 4, 0.5),
    ]
