# SPDX-License-Identifier: GPL-3.0-or-later
import socket
import threading

import pytest

from tests.lib import osc
from tests.lib.osc import Bundle, Message, TimeTag


def test_bytes_of_a_message():
    assert osc.encode(Message("/n_set", 1000, "freq", 440.0)) == (
        b"/n_set\0\0,isf\0\0\0\0\0\0\x03\xe8freq\0\0\0\0\x43\xdc\0\0")


def test_bytes_of_a_numbered_command():
    assert osc.encode(Message(9, -1)) == b"\0\0\0\x09,i\0\0\xff\xff\xff\xff"


@pytest.mark.parametrize("args", [
    [], [1, -2**31, 2**40], [0.5], ["", "abc", "abcd"], [b"", b"\0\1\2"], [True, False, None],
    [TimeTag(1)], [["a", [1, 2.0], []], 3],
])
def test_round_trip(args):
    assert osc.decode(osc.encode(Message("/x", *args))) == Message("/x", *args)


def test_double_keeps_its_precision():
    assert osc.decode(osc.encode(Message("/x", osc.Double(0.1)))).args == [0.1]


def test_bundles_nest():
    bundle = Bundle(TimeTag(1), [Message("/a", 1), Bundle(TimeTag(77), [Message(9, "x")])])
    assert osc.decode(osc.encode(bundle)) == bundle


def test_a_message_as_argument_is_a_blob():
    outer = osc.decode(osc.encode(Message("/d_recv", b"def", Message("/sync", 1))))
    assert osc.decode(outer.args[1]) == Message("/sync", 1)


def test_time_tags():
    assert TimeTag.from_unix(0) == 2208988800 << 32
    assert TimeTag.from_unix(1.5) & 0xFFFFFFFF == 1 << 31
    assert TimeTag.from_unix(1700000000.25).unix() == 1700000000.25


def test_message_without_type_tags():
    assert osc.decode(b"/status\0") == Message("/status")


@pytest.mark.parametrize("data", [
    b"", b"abc", b"/x\0\0i\0\0\0", b"/x\0\0,i\0\0", b"/x\0\0,q\0\0", b"/x\0\0,[i\0\0\0\0\1",
    b"/x\0\0,]\0\0", b"/x\0\0,b\0\0\xff\xff\xff\xff", b"/x\0\0,b\0\0\0\0\0\x09abcd",
    b"#bundle\0\0\0\0\0", b"#bundle\0" + bytes(8) + b"\xff\xff\xff\xff",
    b"#bundle\0" + bytes(8) + b"\0\0\0\x10/x\0\0",
])
def test_malformed(data):
    with pytest.raises(osc.OscError):
        osc.decode(data)


def test_nested_without_end():
    packet = Message("/x")
    for _ in range(100):
        packet = Bundle(1, [packet])
    with pytest.raises(osc.OscError):
        osc.decode(osc.encode(packet))


def test_what_cannot_be_sent():
    with pytest.raises(osc.OscError):
        osc.encode(Message("/x", object()))


@pytest.fixture
def server():
    """Answers each message by what its handler in `answers` returns."""
    answers = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))

        def serve():
            while True:
                data, sender = sock.recvfrom(65536)
                message = osc.decode(data)
                if message.address == "/end":
                    return
                for reply in answers.get(message.address, lambda *_: [])(*message.args):
                    sock.sendto(osc.encode(reply), sender)

        thread = threading.Thread(target=serve)
        thread.start()
        with osc.Client(sock.getsockname()[1], timeout=1) as client:
            yield client, answers
            client.send("/end")
            thread.join()


def test_request_takes_its_reply_and_keeps_the_rest(server):
    client, answers = server
    answers["/sync"] = lambda n: [Message("/n_go", 1), Message("/synced", n), Message("/n_end", 1)]
    client.sync()
    client.sync()
    assert client.wait("/n_go").args == [1]
    assert client.wait("/n_end").args == [1]


def test_command_fails_by_fail(server):
    client, answers = server
    answers["/d_load"] = lambda *_: [Message("/fail", "/other", "no"), Message("/fail", "/d_load", "gone")]
    with pytest.raises(osc.Failed, match="gone"):
        client.command("/d_load", "x")


def test_no_reply_tells_what_came(server):
    client, answers = server
    answers["/status"] = lambda: [Message("/something", 5)]
    with pytest.raises(osc.NoReply, match=r"/something \[5\]"):
        client.request("/status", reply="/status.reply", timeout=0.2)


def test_an_old_reply_is_not_the_answer(server):
    client, answers = server
    answers["/get"] = lambda n: [Message("/got", n)]
    client.send("/get", 1)
    while not client.inbox:
        client.inbox.extend(client.collect(0.02))
    assert client.request("/get", 2, reply="/got").args == [2]


def test_bundle_elements_arrive_one_by_one(server):
    client, answers = server
    answers["/get"] = lambda: [Bundle(TimeTag(1), [Message("/a"), Message("/b")])]
    assert client.request("/get", reply="/b").address == "/b"
    assert client.wait("/a").address == "/a"
