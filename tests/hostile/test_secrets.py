# SPDX-License-Identifier: GPL-3.0-or-later
"""The password is what no other program can read: not in PipeWire's objects, not in the list of processes."""
import socket
import struct
from pathlib import Path

import pytest

from tests.lib.build import BUILD
from tests.lib.daemon import Session
from tests.lib.osc import Message, encode
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.server import LIBRARY, NodeServer, is_stock

pytestmark = pytest.mark.skipif(is_stock(), reason="it is about our node")

WORD = "open-sesame"


def answers(port, password):
    """Whether the server by TCP takes the password and answers."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
        for packet in (password.encode() + b"\0", encode(Message("/sync", 1))):
            sock.sendall(struct.pack(">i", len(packet)) + packet)
        return b"/synced" in sock.recv(100)


def assert_unseen(session):
    for command in (("pw-dump",), ("pw-cli", "info", "all")):
        text = session.run(*command)
        assert "scsynth" in text
        assert WORD not in text


def test_in_the_daemons_configuration():
    port, quoted, bare = free_port(), free_port(), free_port()
    names = {port: "one", quoted: "two", bare: "three"}
    modules = [f"{{ name = libpipewire-module-scsynth args = {{ {text} }} }}" for text in (
        f"scsynth.osc.port = {port} node.name = one list = [ a b ] scsynth.password = {WORD}",
        f'"scsynth.password": "{WORD}", scsynth.osc.port = {quoted} node.name = two',
        f"scsynth.password={WORD} scsynth.osc.port={bare} node.name=three")]
    with Session(modules=modules) as session:
        for each, name in names.items():
            session.wait_node(name)
            assert_unseen(session)
            assert answers(each, WORD)


@pytest.mark.parametrize("factory", ("spa-node-factory", "adapter"))
def test_a_node_that_a_client_makes(factory):
    with Session() as session:
        port = free_port()
        words = (f"factory.name=audio.scsynth library.name={LIBRARY} node.name=secret object.linger=1 "
                 f"scsynth.osc.port={port} scsynth.password={WORD}")
        session.pw_cli("create-node", factory, words)
        session.wait_node("secret")
        assert_unseen(session)
        assert answers(port, WORD)


@pytest.mark.parametrize("options", (("-p", WORD), ("--set", f"password={WORD}"), ("-p", WORD, "--client")))
def test_pw_scsynth(options):
    with Session() as session:
        port = free_port()
        child = session.start([str(BUILD / "src/cli/pw-scsynth"), "-t", str(port), "-D", "0", *options], "pw-scsynth")
        wait_for(lambda: "ready" in child.output(), "the server")
        assert_unseen(session)
        assert WORD.encode() not in Path(f"/proc/{child.pid}/cmdline").read_bytes()
        assert answers(port, WORD)
