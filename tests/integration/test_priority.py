# SPDX-License-Identifier: GPL-3.0-or-later
"""Threads that help the data loop have its priority, where PipeWire's module for that is and ours tells of it."""
import os

import pytest

from tests.lib import desktop
from tests.lib.build import PW_SCSYNTH, ROOT
from tests.lib.daemon import Session
from tests.lib.ports import free_port
from tests.lib.process import threads
from tests.lib.server import NodeServer

pytestmark = [pytest.mark.usefixtures("ours"),
              pytest.mark.skipif(desktop.lacking() is not None, reason=str(desktop.lacking()))]

DROP_IN = ROOT / "conf/80-scsynth-threads.conf"


def scheduling(thread):
    """(policy, priority)"""
    return os.sched_getscheduler(thread) & ~os.SCHED_RESET_ON_FORK, os.sched_getparam(thread).sched_priority


def of(pid, name):
    """How the threads of that name are scheduled."""
    return [scheduling(thread) for thread, info in threads(pid).items() if info["name"] == name]


def loop_of(pid):
    """How the data loop of PipeWire's daemon or a client of it is scheduled: as no other thread but helpers."""
    return max((scheduling(thread) for thread, info in threads(pid).items() if info["name"] != "scsynth-help"),
               key=lambda each: each[1])


def need_priority(session):
    if not loop_of(session.daemon.pid)[1]:
        pytest.skip("PipeWire's data loop gets no priority here")


def test_by_the_installed_drop_in():
    with Session(wireplumber=False, fragments={DROP_IN.name: DROP_IN.read_text()}) as session:
        need_priority(session)
        NodeServer(session, free_port(), {"threads": 3})
        NodeServer(session, free_port(), {"threads": 2})
        daemon = session.daemon.pid
        session.wait_until(lambda: of(daemon, "scsynth-help") == [loop_of(daemon)] * 2, "the priority of both")


def test_in_a_process_of_its_own():
    with Session(wireplumber=False) as session:
        need_priority(session)
        program = session.start([PW_SCSYNTH, "--client", "-u", str(free_port()), "-T", "2"], "pw-scsynth").pid
        session.wait_until(lambda: of(program, "scsynth-help") == [loop_of(program)] != [(os.SCHED_OTHER, 0)],
                           "the priority")


def test_none_without_the_module():
    with Session(wireplumber=False) as session:
        need_priority(session)
        NodeServer(session, free_port(), {"threads": 2})
        session.wait_until(lambda: of(session.daemon.pid, "scsynth-help"), "the thread")
        assert of(session.daemon.pid, "scsynth-help") == [(os.SCHED_OTHER, 0)]
