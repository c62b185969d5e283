# SPDX-License-Identifier: GPL-3.0-or-later
"""What packs of UGens ask of a server beyond SuperCollider's own plugins, in a daemon: see pack.cpp."""
import time

import pytest

from tests.hostile.test_packets import one_unit
from tests.lib.osc import Client, Message, encode
from tests.lib.ports import free_port
from tests.lib.server import NodeServer
from tests.packs.conftest import TcpClient

STAGES = {2: "its second stage", 3: "its third stage", 4: "its fourth stage", 5: "its cleanup"}
OLD_LIMIT = 5  # seconds of processor time that a job once had


def answers(messages):
    return sorted(tuple(message.args) for message in messages if message.address == "/pack/answer")


def test_threads_answer_by_copied_addresses_over_udp(client):
    client.send("/cmd", "/pack/answers", 4, 20)
    client.wait("/done", lambda args: args == ["/pack/answers"])
    expected = [(thread, i) for thread in range(4) for i in range(20)]
    got = [tuple(client.wait("/pack/answer").args) for _ in expected]
    assert sorted(got) == expected
    for thread in range(4):  # in the order in which it sent them
        assert [i for t, i in got if t == thread] == list(range(20))


def test_threads_answer_by_copied_addresses_over_tcp(shared):
    with TcpClient(shared.ports[0]) as client:
        client.send("/cmd", "/pack/answers", 2, 10)
        messages = [client.receive() for _ in range(21)]
    assert Message("/done", "/pack/answers") in messages
    assert answers(messages) == [(thread, i) for thread in range(2) for i in range(10)]


def test_a_client_that_leaves_before_it_is_answered(shared, client):
    with TcpClient(shared.ports[0]) as gone:
        gone.send("/cmd", "/pack/answers", 2, 200)
        gone.receive()
    shared.wait_logged("a reply of a plugin, 28 bytes, is lost")
    client.status()


def test_a_server_that_ends_before_its_plugins_threads(servers):
    with Client(servers.ports[0]) as client, Client(servers.ports[1]) as other:
        client.send("/cmd", "/pack/answers", 4, 300)
        client.send("/cmd", "/pack/return", 1)
        client.send("/cmd", "/pack/compute", 200, 0)
        client.wait("/pack/begins")
        servers.destroy(servers.ports[0])
        # Its job goes on, but the other server's don't wait for it.
        other.send("/cmd", "/pack/add", 1, 1)
        other.wait("/pack/sum")
        time.sleep(2.5)  # until all that it left behind has come to its end
        other.status()


def test_memory_of_the_plugins_own_in_buffers(client):
    client.command("/b_alloc", 3, 1000)
    for frames in (500, 2000, 64):
        client.send("/cmd", "/pack/swap", 3, frames)
        client.wait("/done", lambda args: args == ["/pack/swap"])
        assert client.request("/b_query", 3, reply="/b_info").args[1] == frames
        assert client.request("/b_get", 3, frames - 1, reply="/b_set").args == [3, frames - 1, float(frames - 1)]
    client.command("/b_free", 3)
    client.command("/b_alloc", 3, 100)
    client.send("/cmd", "/pack/swap", 3, 200)
    client.send("/b_alloc", 3, 50)  # waits, as the command has the buffer's number
    client.sync()
    assert client.request("/b_query", 3, reply="/b_info").args[1] == 50
    client.command("/b_free", 3)


def test_a_long_job(shared, client):
    """Longer than the limit that there once was, and others are answered meanwhile."""
    client.command("/b_alloc", 9, 48000)
    client.send("/cmd", "/pack/compute", 100 * OLD_LIMIT + 100, 9)
    client.wait("/pack/begins")
    client.send("/b_free", 9)
    client.send("/sync", 77)
    rounds = 0
    with Client(shared.ports[0], timeout=20) as other:
        while not (arrived := client.collect(0.05)):
            other.command("/b_alloc", 10, 1000)
            other.status()
            other.command("/d_recv", one_unit(b"PackMemory", 2, [], [2]))
            other.command("/b_free", 10)
            rounds += 1
    assert rounds > 1, "the others wait for the job"
    order = [(message.address, *message.args) for message in arrived + client.collect(1)]
    assert order[0] == ("/done", "/pack/compute")
    assert sorted(order[1:]) == [("/done", "/b_free", 9), ("/synced", 77)]


def test_synced_comes_last(client):
    for i in range(100):
        client.send("/cmd", "/pack/add", 100, 1)
        client.send("/cmd", "/pack/compute", 0, 0)
        client.send("/sync", i)
        addresses = []
        while not addresses or addresses[-1] != "/synced":
            addresses += [message.address for message in client.collect(0.002)]
        assert sorted(addresses[:-1]) == ["/done", "/pack/begins", "/pack/sum"], addresses
        assert addresses[-1] == "/synced"


def test_the_completion_comes_before_the_fourth_stage(client):
    client.send("/c_set", 5, 7.0)
    for _ in range(20):
        client.send("/cmd", "/pack/add", 200, 1, encode(Message("/c_get", 5)))
        client.wait("/pack/sum")
        assert [message.address for message in client.collect(0)] == ["/c_set"]


def test_data_sets_of_two_servers(shared):
    """They are one, as plugins' static memory is the daemon's; nobody's is spoilt."""
    with Client(shared.ports[0], timeout=20) as first, Client(shared.ports[1], timeout=20) as second:
        for i in range(200):
            for client in (first, second):
                client.send("/cmd", "/pack/add", 1000 + i % 50, 1)
        sums = [message for client in (first, second) for message in
                [client.wait("/pack/sum") for _ in range(200)]]
        assert max(message.args[1] for message in sums) == 8


@pytest.mark.parametrize("stage", STAGES)
def test_a_crash_in_a_stage(shared, client, stage):
    client.send("/cmd", "/pack/crash", stage)
    what = f"/pack/crash crashed in {STAGES[stage]}"
    assert client.wait("/fail").args == ["/cmd", what]
    shared.wait_logged(f"FAILURE IN SERVER /cmd {what}")
    client.sync()
    client.send("/cmd", "/pack/add", 2000 + stage, 5)
    assert client.wait("/pack/sum").args == [2000 + stage, 5]


def test_lines_that_threads_print_in_pieces(shared, client):
    client.send("/cmd", "/pack/print", 5)
    client.wait("/done", lambda args: args == ["/pack/print"])
    for thread in range(5):
        shared.wait_logged(f"pieces of thread {thread}\n")


def test_a_process(client):
    client.send("/cmd", "/pack/spawn")
    assert client.wait("/pack/status").args == [7]


def test_a_thread_that_comes_back_by_the_data_loop(client):
    for number in range(20):
        client.send("/cmd", "/pack/return", number)
    assert sorted(client.wait("/pack/result").args[0] for _ in range(20)) == list(range(20))


def test_memory_taken_by_constructors(client):
    before = client.request("/rtMemoryStatus", reply="/rtMemoryStatus.reply").args[0]
    client.command("/d_recv", one_unit(b"PackMemory", 2, [], [2]))
    for round_ in range(20):
        client.send_at(None, *[("/s_new", "evil", node, 1, 0) for node in range(3000, 3020)])
        client.sync()
        client.send("/n_free", *range(3000, 3020))
        client.sync()
    assert client.request("/rtMemoryStatus", reply="/rtMemoryStatus.reply").args[0] == before


def test_memory_that_threads_keep_when_its_server_has_ended(servers):
    """As FluCoMa's cache of the data loop's thread, which is destroyed with it."""
    first, second = servers.ports

    def keep(client, begin):
        client.send("/cmd", "/pack/keep", 50, begin)
        kept = client.wait("/pack/kept").args
        client.wait("/done", lambda args: args == ["/pack/keep"])
        return kept

    with Client(second, timeout=20) as other:
        with Client(first, timeout=20) as client:
            assert keep(client, 1) == [50, 50]
        assert keep(other, 101) == [100, 50]
        servers.destroy(first)
        for begin in range(201, 1201, 100):
            by_loop, by_jobs = keep(other, begin)
            assert (by_loop, by_jobs) == (50 + (begin - 1) // 2, (begin - 1) // 2)
        for number in range(3):  # servers that come and go take over what is left of the others' memory
            later = NodeServer(servers.session, free_port(), name=f"later-{number}")
            with Client(later.port, timeout=20) as client:
                assert keep(client, 2001 + 100 * number)[1] == 50
            later.stop()
        assert keep(other, 5001)[0] == 600 + 3 * 50 + 50
    servers.stop_daemon()


@pytest.mark.parametrize("servers", [{"plugin_job_limit": 1}], indirect=True)
def test_a_job_beyond_the_limit(servers):
    with Client(servers.ports[0], timeout=20) as client, Client(servers.ports[1], timeout=20) as other:
        client.send("/cmd", "/pack/compute", 1_000_000, 0)
        client.wait("/pack/begins")
        other.send("/cmd", "/pack/add", 1, 1)  # waits for it
        what = "/pack/compute took too long in its second stage"
        assert client.wait("/fail").args == ["/cmd", what]
        servers.wait_logged(f"FAILURE IN SERVER /cmd {what}")
        assert other.wait("/pack/sum").args == [1, 1]
        client.send("/cmd", "/pack/add", 1, 2)
        assert client.wait("/pack/sum").args == [1, 3]
