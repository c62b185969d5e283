# SPDX-License-Identifier: GPL-3.0-or-later
"""A private session whose daemon runs as a desktop's does that has its priority from RTKit: the data loop is SCHED_RR,
and the kernel kills the daemon if that thread runs for 200 ms without a rest."""
import os
import resource
from pathlib import Path

from tests.lib.daemon import Session
from tests.lib.process import wait_for

PRIORITY = 20
RTTIME = 200_000  # µs


def lacking():
    """Why there can be no such session here; None if there can."""
    try:
        child = os.fork()
        if child == 0:
            try:
                os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
                os._exit(0)
            except OSError:
                os._exit(1)
        return None if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 else "SCHED_RR isn't allowed here"
    except OSError as error:
        return str(error)


class Desktop(Session):
    """As Session."""

    def _start(self):
        super()._start()
        pid = self.daemon.pid
        for loop in wait_for(lambda: _data_loops(pid), "the daemon's data loop"):
            os.sched_setscheduler(loop, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(PRIORITY))
        resource.prlimit(pid, resource.RLIMIT_RTTIME, (RTTIME, RTTIME))


def _data_loops(pid):
    """All threads but the main one, and ours, which are there already if the configuration loads our module."""
    return [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()
            if int(task.name) != pid and not (task / "comm").read_text().startswith("scsynth-")]
