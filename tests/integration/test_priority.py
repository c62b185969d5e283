# SPDX-License-Identifier: GPL-3.0-or-later
"""Threads that help the data loop have its priority, where PipeWire's module for that is and ours tells of it."""
import os

import pytest

from tests.lib import desktop
from tests.lib.build import PW_SCSYNTH
from tests.lib.daemon import Session
from tests.lib.ports import free_port
from tests.lib.process import threads
from tests.lib.server import NodeServer

pytestmark = [pytest.mark.usefixtures("ours"),
              pytest.mark.skipif(desktop.lacking() is not None, reason=str(desktop.lacking()))]

OURS = "{ name = libpipewire-module-scsynth args = { scsynth.node = false } }"


def scheduling(thread):
    """(policy, priority)"""
    return os.sched_getscheduler(thread) & ~os.SCHED_RESET_ON_FORK, os.sched_getparam(thread).sched_priority


def of(pid, name):
    """How the threads of that name are scheduled."""
    return [scheduling(thread) for thread, info in threads(pid).items() if info["name"] == name]


def loop_of(session):
    """How its data loop is scheduled; skips the test if that has no priority."""
    found = [scheduling(thread) for thread, info in threads(session.daemon.pid).items()
             if thread != session.daemon.pid and info["name"] in ("pipewire", "data-loop.0")]
    if not any(priority for _, priority in found):
        pytest.skip("PipeWire's data loop gets no priority here")
    return max(found, key=lambda each: each[1])


def test_as_the_module_tells():
    with Session(wireplumber=False, modules=[OURS]) as session:
        loop = loop_of(session)
        NodeServer(session, free_port(), {"threads": 3})
        session.wait_until(lambda: of(session.daemon.pid, "scsynth-help") == [loop, loop], "the priority")


def test_in_a_process_of_its_own():
    with Session(wireplumber=False) as session:
        loop = loop_of(session)
        program = session.start([PW_SCSYNTH, "--client", "-u", str(free_port()), "-T", "2"], "pw-scsynth")
        session.wait_until(lambda: of(program.pid, "scsynth-help") == [loop], "the priority")


def test_none_without_the_module():
    with Session(wireplumber=False) as session:
        loop_of(session)
        NodeServer(session, free_port(), {"threads": 2})
        session.wait_until(lambda: of(session.daemon.pid, "scsynth-help"), "the thread")
        assert of(session.daemon.pid, "scsynth-help") == [(os.SCHED_OTHER, 0)]
