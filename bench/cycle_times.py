# SPDX-License-Identifier: GPL-3.0-or-later
"""How long single blocks take: those of our engine (bench/block-times.cpp), those of a bare loop, and those of scsynth
and supernova, whose process function a stand-in for libjack calls (bench/jack-stand-in.cpp)."""
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.contenders import NODES, POOL_KIB
from tests.lib.osc import Client
from tests.lib.ports import free_port

SYNTHDEFS = Path(__file__).resolve().parent / "synthdefs"
PRIORITY = 20
PERIOD = 64 / 48000  # s of a cycle
TIME_LIMIT = 180     # s
_EDIT_IDS = 100000


@dataclass
class Graph:
    groups: list          # of each: (synths, SynthDef, whether all play to bus 0)
    edited: bool = False  # in each block a synth of the first group makes place for another one

    def words(self):
        """As block-times wants it."""
        return [f"{synths}:{SYNTHDEFS / name}.scsyndef:{'together' if together else 'apart'}"
                for synths, name, together in self.groups] + ["--edit", "--paced"] * self.edited

    def messages(self, new_group):
        """OSC: (address, *args) of each."""
        names = sorted({name for _, name, _ in self.groups})
        found = [("/d_recv", (SYNTHDEFS / f"{name}.scsyndef").read_bytes()) for name in names]
        number = 0
        for group, (synths, name, together) in enumerate(self.groups):
            found.append((new_group, 11 + group, 1, 0))
            for _ in range(synths):
                found.append(("/s_new", name, 1000 + number, 1, 11 + group, "freq", 100.0 + number % 1000, "out",
                              0 if together else number))
                number += 1
        return found


def urgent():
    """Whether a process of ours may be SCHED_FIFO."""
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        os.sched_setscheduler(0, *before)
        return True
    except PermissionError:
        return False


def hurry():
    """In a child, before it is what it is to be."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))


class Ours:
    """Our engine, or a bare loop: options of block-times."""

    def __init__(self, name, program, options, priority, bare=False):
        self.name, self._bare = name, bare
        self._command, self._priority = [program, *options], priority

    def run(self, graph, cycles, bare_nsec=0):
        """(ns of each cycle, what it has said)."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "times")
            what = ["--bare", str(bare_nsec), *["--paced"] * graph.edited] if self._bare else graph.words()
            done = subprocess.run([*self._command, "--cycles", str(cycles), "--out", out, *what],
                                  preexec_fn=hurry if self._priority else None, capture_output=True, text=True,
                                  timeout=TIME_LIMIT, check=False)
            if done.returncode:
                raise RuntimeError(f"{self.name} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
            return np.fromfile(out, np.uint32), done.stdout


class Server:
    """scsynth or supernova, driven from outside."""

    def __init__(self, name, program, options, new_group, stand_in, priority):
        self.name, self._program, self._options, self._new_group = name, program, options, new_group
        self._stand_in, self._priority = stand_in, priority

    def run(self, graph, cycles, bare_nsec=0):
        """As Ours'."""
        del bare_nsec
        port = free_port()
        with tempfile.TemporaryDirectory() as folder:
            out, log = Path(folder, "times"), Path(folder, "log")
            env = os.environ | {"LD_PRELOAD": str(self._stand_in), "HOME": folder, "CYCLE_TIMES": str(out),
                                "CYCLE_TIMES_COUNT": str(cycles), "SC_JACK_DEFAULT_INPUTS": "",
                                "SC_JACK_DEFAULT_OUTPUTS": ""}
            env |= {"CYCLE_TIMES_PRIORITY": str(PRIORITY)} if self._priority else {}
            env |= {"CYCLE_TIMES_PACED": "1"} if graph.edited else {}
            command = [self._program, "-u", str(port), "-B", "127.0.0.1", "-i", "0", "-o", "2", "-D", "0", "-R", "0",
                       "-m", str(POOL_KIB), "-n", str(NODES), "-w", "512", *self._options]
            with open(log, "w", encoding="utf-8") as said:
                child = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=said,
                                         stderr=subprocess.STDOUT)
            try:
                self._play(port, graph, out, child)
                return np.fromfile(out, np.uint32), ""
            except (TimeoutError, RuntimeError) as error:
                raise RuntimeError(f"{self.name}: {error}\n{log.read_text(errors='replace')[-1000:]}") from error
            finally:
                child.kill()
                child.wait()
                # Killed, they leave it behind.
                Path(f"/dev/shm/SuperColliderServer_{port}").unlink(missing_ok=True)

    def _play(self, port, graph, out, child):
        with Client(port) as client:
            client.wait_ready(timeout=30)
            for message in graph.messages(self._new_group):
                client.send(*message)
                if message[0] == "/d_recv" or message[2] % 64 == 0:
                    client.sync()
            client.sync()
            wanted = sum(synths for synths, _, _ in graph.groups)
            if (synths := client.status()[2]) != wanted:
                raise RuntimeError(f"{synths} of {wanted} synths play")
            time.sleep(0.5)
            out.with_suffix(".go").touch()
            self._edit(client, graph, out, child) if graph.edited else self._wait(out, child)

    @staticmethod
    def _wait(out, child):
        until = time.monotonic() + TIME_LIMIT
        while not out.exists():
            if child.poll() is not None or time.monotonic() > until:
                raise RuntimeError("it has ended" if child.poll() is not None else f"it hangs for {TIME_LIMIT} s")
            time.sleep(0.02)

    @staticmethod
    def _edit(client, graph, out, child):
        """At the same pace as the cycles, though not in step with them."""
        synths, name, _ = graph.groups[0]
        then, number = time.monotonic(), 0
        until = then + TIME_LIMIT
        while not out.exists():
            if child.poll() is not None or then > until:
                raise RuntimeError("it has ended or hangs")
            old = 1000 + number if number < synths else _EDIT_IDS + number - synths
            client.send_at(None, ("/s_new", name, _EDIT_IDS + number, 4, old, "freq", 100.0 + number % 1000))
            number += 1
            then += PERIOD
            time.sleep(max(0, then - time.monotonic()))
