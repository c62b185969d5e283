# SPDX-License-Identifier: GPL-3.0-or-later
"""Threads that help the data loop and crash or hang in the midst of a job: the engine is given up, as docs/safety.md
says, and nothing else is. The node is that of planted.cpp."""
import os
import resource

import pytest

from tests.hostile.conftest import SINE
from tests.hostile.test_packets import one_unit
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import threads
from tests.lib.server import NodeServer, is_stock

pytestmark = pytest.mark.skipif(is_stock(), reason="it is about our node")

LIBRARY = "hostile/libspa-scsynth-planted"
HELPERS = 2
SETTINGS = {"threads": HELPERS + 1, "cpu-limit": 0, "overload": "none"}
LEFT = "a thread that helped the engine hangs, and is left behind"


def helpers(session):
    return [thread for thread, info in threads(session.daemon.pid).items() if info["name"] == "scsynth-help"]


def hurry(session):
    """The data loop and the helpers as RTKit makes them: the kernel kills who then computes for 200 ms."""
    loops = [thread for thread, info in threads(session.daemon.pid).items()
             if info["name"] == "data-loop.0" or info["name"] == "pipewire" and thread != session.daemon.pid]
    assert loops
    try:
        resource.prlimit(session.daemon.pid, resource.RLIMIT_RTTIME, (200_000, 200_000))
        for thread in loops + helpers(session):
            os.sched_setscheduler(thread, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(10))
    except PermissionError:
        print("real-time priority is not permitted")


def start(session, name, **settings):
    """A node that plays a sine, and its client."""
    server = NodeServer(session, free_port(), settings, name=name, library=LIBRARY)
    session.connect(server.node_name, "test-sink")
    client = Client(server.port)
    client.command("/notify", 1)
    client.command("/d_recv", SINE.read_bytes())
    client.send("/s_new", "test_sine", 1000, 0, 0)
    return client


@pytest.mark.parametrize("ugen, left", [("HelperCrash", 0), ("HelperEndless", 0), ("HelperBlocked", 1)])
def test_a_helper_that_goes_wrong(ugen, left):
    with Session(wireplumber=False) as session, start(session, "victim", **SETTINGS) as client, \
            start(session, "beside", threads=2) as beside:
        for node in range(2000, 2100):
            client.send("/s_new", "test_sine", node, 0, 0)
        client.command("/d_recv", one_unit(ugen.encode(), 2, [], [2]))
        session.wait_until(lambda: int(session.node("victim")["info"]["props"]["scsynth.ahead"]) > 0, "helpers' work")
        assert len(helpers(session)) == HELPERS
        hurry(session)
        client.send("/s_new", "evil", 3000, 1, 0)
        session.wait_until(lambda: "the engine crashed" in session.daemon.output(), "the end of the engine")

        client.send("/g_new", 5)  # it is still logged in, and there is another engine
        client.wait("/n_go", where=lambda args: args[0] == 5)
        session.wait_until(lambda: len(helpers(session)) == HELPERS + left, "the end of the helpers")
        assert (LEFT in session.daemon.output()) == bool(left)
        beside.send("/s_new", "test_sine", 1001, 0, 0)
        beside.wait("/n_go", where=lambda args: args[0] == 1001)
        assert beside.request("/n_query", 1000, reply="/n_info").args[:4] == [1000, 0, 1001, -1]
        assert session.daemon.running(), session.logs()
