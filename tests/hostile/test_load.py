# SPDX-License-Identifier: GPL-3.0-or-later
"""Too much of everything: nodes, packets, bundles, clients."""
import contextlib
import time

import pytest

from tests.hostile.conftest import SINE
from tests.hostile.garbage import Garbage
from tests.lib.osc import Bundle, Failed, Message, encode
from tests.lib.process import wait_for

DEPTH = 100_000
FLAT = 9000        # children whose /g_queryTree.reply takes more than a datagram
FLOOD = 200_000
AHEAD, IN_FLIGHT = 10_000, 8192
CLIENTS, LOGINS = 1000, 4
SYNTHS = 1000
ANSWER_SECONDS = 20


@pytest.fixture(scope="module")
def victim_settings():
    return {"max-nodes": DEPTH + 10, "rt-memory": 131072, "max-logins": LOGINS}


pytestmark = pytest.mark.usefixtures("survived")


def assert_answer(client, *message, answer=()):
    """These messages arrive before the answer to a /sync."""
    client.sync()
    client.inbox.clear()
    client.send(*message)
    client.sync(timeout=ANSWER_SECONDS)
    came = [(m.address, *m.args) for m in client.inbox if not m.address.startswith("/n_")]
    assert came == list(answer), came


def quiet_client(victim):
    """A client without notifications of nodes: 100,000 of them would fill its socket."""
    victim.client.send("/notify", 0)
    victim.client.sync()
    return victim.new_client()


def make_nested(client, depth):
    """Groups 1 ... depth, each in the one before."""
    at_once = 1000
    for first in range(1, depth, at_once):
        numbers = [number for group in range(first, min(first + at_once, depth + 1)) for number in (group, 0, group - 1)]
        client.send("/g_new", *numbers)
        client.sync(timeout=20)
    assert client.status()[3] == depth + 1


def make_flat(client, count):
    """Groups 2 ... count + 1 in group 1."""
    client.send("/g_new", 1, 0, 0)
    for first in range(2, count + 2, 1000):
        client.send("/g_new", *[number for group in range(first, min(first + 1000, count + 2))
                                for number in (group, 1, 1)])
        client.sync(timeout=20)
    assert client.status()[3] == count + 2


def test_a_hundred_thousand_nested_groups(victim):
    def act():
        make_nested(client, DEPTH)
        use_nested(client)

    with quiet_client(victim) as client:
        client.command("/d_recv", SINE.read_bytes())
        victim.assert_in_time(act)


def use_nested(client):
    too_much = ("/fail", "/g_queryTree", "buffer overflow")
    assert_answer(client, "/g_queryTree", 0, 1, answer=[too_much])
    assert_answer(client, "/g_queryTree", DEPTH, 1, answer=[("/g_queryTree.reply", 1, DEPTH, 0)])
    assert_answer(client, "/g_dumpTree", 0, 1, answer=[("/fail", "/g_dumpTree", "buffer overflow")])
    assert_answer(client, "/g_dumpTree", DEPTH - 5, 0)
    assert_answer(client, "/n_set", 0, "freq", 1.0, 0, 2.0)
    # Moves: a deep group to the top, the top group into a deep one, and a group into itself.
    middle = DEPTH // 2
    knot = ("/fail", "/g_head", "a group can't be moved into itself")
    assert_answer(client, "/g_head", DEPTH, 1, answer=[knot])
    assert_answer(client, "/g_tail", 0, middle)
    assert_answer(client, "/n_before", middle, 1)
    assert_answer(client, "/g_head", DEPTH, 1)
    assert_answer(client, "/g_queryTree", middle - 2, 0,
                 answer=[("/g_queryTree.reply", 0, middle - 2, 1, middle - 1, 0)])
    client.send("/s_new", "test_sine", 200_000, 0, middle - 1)
    client.sync()
    assert client.status()[2] == 1
    assert_answer(client, "/g_deepFree", 0)
    assert client.status()[2:4] == [0, DEPTH + 1]
    assert_answer(client, "/n_free", middle)
    assert client.status()[3] == 1


def free_flat(client):
    make_flat(client, DEPTH)
    assert_answer(client, "/g_dumpTree", 0, 0, answer=[("/fail", "/g_dumpTree", "buffer overflow")])
    assert_answer(client, "/g_queryTree", 0, 0, answer=[("/fail", "/g_queryTree", "buffer overflow")])
    assert_answer(client, "/g_freeAll", 1)
    assert client.status()[3] == 2
    client.send("/n_free", 1)


def move_thousands(client):
    make_flat(client, FLAT)
    assert_answer(client, "/n_order", 1, 0, *range(2, FLAT + 2))
    assert_answer(client, "/n_free", *range(2, FLAT + 2))
    assert client.status()[3] == 2
    client.send("/n_free", 1)


def set_thousands(client):
    client.send("/g_new", 1, 0, 0)
    client.send("/n_run", 1, 0)
    for first in range(0, SYNTHS, 100):
        client.send_at(None, *[("/s_new", "test_sine", 1000 + first + i, 0, 1) for i in range(100)])
        client.sync(timeout=20)
    assert client.status()[2] == SYNTHS
    assert_answer(client, "/n_set", 1, *["freq", 300.0] * 4000)  # 64 kB
    assert client.request("/s_get", 1000, "freq", reply="/n_set").args[-1] == 300.0
    client.send("/n_free", 1)


@pytest.mark.parametrize("act", [free_flat, move_thousands, set_thousands])
def test_long_commands_make_no_cycle_too_long(victim, act):
    with quiet_client(victim) as client:
        client.command("/d_recv", SINE.read_bytes())
        victim.assert_in_time(lambda: act(client))


def test_a_tree_too_large_for_a_datagram(victim):
    """As in scsynth, the answer is /fail and no part of the tree."""
    with quiet_client(victim) as client:
        for first in range(1, FLAT + 1, 500):
            client.send("/g_new", *[number for group in range(first, first + 500) for number in (group, 1, 0)])
            client.sync()
        assert client.status()[3] == FLAT + 1
        assert_answer(client, "/g_queryTree", 0, 0, answer=[("/fail", "/g_queryTree", "buffer overflow")])
        assert_answer(client, "/g_queryTree", 7, 0, answer=[("/g_queryTree.reply", 0, 7, 0)])
        # As many nodes as fit are all in the answer.
        client.send("/g_new", FLAT + 1, 0, 0)
        client.send("/g_head", *[number for group in range(1, 4001) for number in (FLAT + 1, group)])
        tree = client.request("/g_queryTree", FLAT + 1, 0, reply="/g_queryTree.reply").args
        assert tree[:3] == [0, FLAT + 1, 4000] and len(tree) == 3 + 2 * 4000


def test_a_flood_without_pause(victim):
    """More than the server can fetch: some packets ask for a hundred answers each."""
    packets = [encode(Message("/c_set", number, 1.0)) for number in range(19)]
    packets.append(encode(Bundle(1, [Message("/nothing")] * 100)))
    with victim.new_client() as client:
        began = time.monotonic()
        for number in range(FLOOD):
            client.send_bytes(packets[number % len(packets)])
        print(f"{FLOOD} packets in {time.monotonic() - began:.2f} s")
    seen = victim.settled_counters()
    assert seen["rejected"] == 0 and seen["kernel-dropped"] > 0


def test_ten_thousand_bundles_ahead(victim):
    """Bundles that don't fit are refused, each with an error; the others are carried out in time."""
    with victim.new_client() as client:
        client.send("/c_fill", 0, AHEAD, 0.0)
        client.sync()
        due = time.time() + 6
        for bus in range(AHEAD):
            client.send_at(due, ("/c_set", bus, 1.0))
            if bus % 50 == 0:
                try:
                    client.sync()
                except Failed:
                    pass  # refused, too: the queue is full
        client.collect_into_inbox(0.2)
        assert time.time() < due, "the packets were not all sent in time"
        refused = [m.args for m in client.inbox if m.address == "/fail" and m.args[0] == "/c_set"]
        assert all(args == ["/c_set", "command queue full"] for args in refused)
        wait_for(lambda: time.time() > due, "the time of the bundles", timeout=10)
        client.sync(timeout=10)
        done = 0
        for bus in range(0, AHEAD, 1000):
            done += client.request("/c_getn", bus, 1000, reply="/c_setn").args[2:].count(1.0)
        assert done + len(refused) == AHEAD
        assert IN_FLIGHT - 10 <= done <= IN_FLIGHT


def test_a_thousand_logins_from_different_ports(victim):
    """The allowed number is logged in, the others are told why not. A client that has gone does no harm."""
    free = LOGINS - 1  # the fixture's client is there
    answered = []
    with contextlib.ExitStack() as logged_in:  # so that no later client gets their ports
        for number in range(CLIENTS):
            with contextlib.ExitStack() as refused:
                client = (logged_in if number < free else refused).enter_context(victim.new_client())
                client.send("/notify", 1)
                answered.append(client.wait_any(("/done", "/fail")).args)
    assert [args[0] for args in answered] == ["/notify"] * CLIENTS
    assert [len(args) for args in answered[:free]] == [3] * free
    assert answered[free:] == [["/notify", "too many users\n"]] * (CLIENTS - free)
    client = victim.client
    client.send("/g_new", 1, 0, 0)
    assert client.wait("/n_go", where=lambda args: args[0] == 1)
    client.command("/quit")  # logs everyone out; the node stays
    client.command("/notify", 1)


@pytest.mark.parametrize("mode", [1, 2, 3, -1, 2**31 - 1, float("nan"), "text", b"\xff" * 9, None])
def test_dumping_garbage(victim, mode):
    definitions = [SINE.read_bytes()]
    garbage = Garbage(77, [str(victim.folder / "x.wav"), "%s%n"], definitions)
    with victim.new_client() as client:
        client.send("/dumpOSC", *([] if mode is None else [mode]))
        for size in (0, 1, 15, 16, 17, 65507):
            client.send_bytes(b"\xff" * size)
        client.send("/x", "%s%n%n%n\x01\x1b[2J" * 100, b"\0" * 30000, float("nan"), [[], [1, [2]]])
        for sent in range(1, 501):
            client.send_bytes(garbage.packet(time.time()))
            if sent % 50 == 0:
                client.sync(timeout=20)
                client.inbox.clear()
        client.send("/dumpOSC", 0)
        client.sync(timeout=20)
