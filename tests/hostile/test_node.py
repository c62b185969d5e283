# SPDX-License-Identifier: GPL-3.0-or-later
"""Hostile settings, params and moments: the daemon lives and a good node still works."""
import os
import time

import pytest

from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.server import NodeServer, is_stock

pytestmark = pytest.mark.skipif(is_stock(), reason="it is about our node")

BAD = [{key: value} for key, values in {
    "inputs": ("-1", "129", "x", "nan", "2147483648", "1e3"), "outputs": ("-1", "129", "''"),
    "audio-buses": ("0", "-5", "99999999999"), "control-buses": ("0",), "buffers": ("0", "-1"),
    "max-nodes": ("0",), "rt-memory": ("0", "-1", "999999999"), "block-size": ("0", "-64", "1000000"),
    "wire-buffers": ("0",), "random-seeds": ("-1",), "max-logins": ("0", "1025"),
    "osc.port": ("-1", "65536", "port"), "osc.bind": ("1.2.3.4.5", "nowhere"), "rate": ("0", "nan"),
    "load-synthdefs": ("perhaps",), "verbosity": ("99",)}.items() for value in values]
GOOD = [{"inputs": 0, "outputs": 0}, {"inputs": 128, "outputs": 128}, {"block-size": 1},
        {"block-size": 1024}, {"rt-memory": 64}, {"max-nodes": 2}, {"buffers": 1},
        {"audio-buses": 4}, {"wire-buffers": 1}, {"nothing": "x" * 1000}]


@pytest.fixture(scope="module")
def session():
    with Session() as session:
        yield session
        assert session.daemon.running(), session.logs()


def assert_works(session):
    server = NodeServer(session, free_port())
    server.stop()
    assert session.daemon.running(), session.logs()


def test_settings_that_are_refused(session):
    for number, settings in enumerate(BAD):
        port = settings.pop("osc.port", None)
        NodeServer.create(session, port or free_port(), settings, name=f"bad-{number}")
    session.run("pw-cli", "info", "0")
    assert not [n for n in range(len(BAD)) if session.node(f"bad-{n}")]
    assert_works(session)


@pytest.mark.parametrize("settings", GOOD, ids=str)
def test_settings_at_the_edge(session, settings):
    server = NodeServer(session, free_port(), settings, name="edge")
    with Client(server.port) as client:
        client.sync()
    server.stop()


def test_two_nodes_of_one_name(session):
    servers = [NodeServer(session, free_port(), name="same") for _ in range(2)]
    for server in servers:
        with Client(server.port) as client:
            client.sync()
    while node := session.node("same"):
        session.pw_cli("destroy", node["id"])
    session.wait_gone("same")
    assert_works(session)


def test_params_of_garbage(session):
    server = NodeServer(session, free_port())
    node = session.node("scsynth")["id"]
    for param, value in (("Props", "{ volume: 1e30 }"), ("Props", "{ params: [ 1 2 3 ] }"), ("Format", "{}"),
                         ("Latency", "{ direction: 99 }"), ("ProcessLatency", "{ ns: -9000000000 }"),
                         ("PortConfig", "{ mode: dsp }"), ("Profile", "{ index: -1 }"),
                         ("EnumFormat", "{ mediaType: 77 }"), ("Props", "[ ]")):
        session.run("pw-cli", "set-param", node, param, value)
    for command in ("Suspend", "Pause", "Start", "Enable", "Disable", "Flush", "Drain", "Marker",
                    "ParamBegin", "RequestProcess"):
        session.run("pw-cli", "send-command", node, command, "{}")
    with Client(server.port) as client:
        client.sync()
    server.stop()
    assert_works(session)


def test_removal_while_it_starts(session):
    for _ in range(10):
        NodeServer.create(session, free_port(), name="brief")
        node = session.wait_node("brief")["id"]
        session.pw_cli("destroy", node)
        session.wait_gone("brief")
    assert_works(session)


def test_removal_while_the_worker_is_stuck_in_a_file(session, tmp_path):
    pipe = tmp_path / "pipe.wav"
    os.mkfifo(pipe)
    server = NodeServer(session, free_port())
    with Client(server.port) as client:
        client.send("/b_allocRead", 1, str(pipe))
        client.status()
        began = time.monotonic()
        server.stop()
        session.run("pw-cli", "info", "0")
        assert time.monotonic() - began < 2
    assert_works(session)
    # Let the one who was left behind go on: what it used must still be there.
    with open(os.open(pipe, os.O_RDWR | os.O_NONBLOCK), "wb", buffering=0) as end:
        end.write(b"RIFF" + bytes(100))
    assert_works(session)


def test_a_synth_that_never_ends_its_block(session):
    """RunningSum over 10^9 samples; see docs/safety.md."""
    from tests.hostile.test_packets import evil_synth, one_unit
    server = NodeServer(session, free_port())
    session.connect("scsynth", "test-sink")
    with Client(server.port) as client:
        client.send_bytes(evil_synth(one_unit(b"Limiter", 2, [0.0, 1.0, 48000.0], [2])))
        client.sync(timeout=15)
        wait_for(lambda: client.status()[2] == 0 or client.status()[1] > 0, "an answer")
    server.stop()
