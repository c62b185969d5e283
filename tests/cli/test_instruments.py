# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyboards and pw-scsynth --bind: sound without a client."""
import pytest

from tests.lib.build import BUILD
from tests.lib.osc import Client, Failed
from tests.lib.process import wait_for


@pytest.fixture
def keyboard(session):
    """A node with a control output as a keyboard's."""
    child = session.start([BUILD / "wireplumber/dsp-node", 0, 0, "node.name=keyboard", "+out:keys"], "keyboard")
    session.wait_until(lambda: "keyboard:keys" in session.run("pw-link", "-o"), "the keyboard's port")
    yield "keyboard:keys"
    child.stop()


@pytest.mark.parametrize("place", [(), ("--client",)], ids=["daemon", "client"])
def test_a_keyboard_is_linked_and_the_instrument_is_there(launch, session, keyboard, place):
    server = launch("--bind", "pad voices 4", "--bind", "bass channel 1 mode mono", *place)
    assert server.properties()["scsynth.bindings"] == "pad voices 4;bass channel 1 mode mono"
    wait_for(lambda: (keyboard, f"{server.name}:control_1") in session.links(), "the keyboard's link")
    with Client(server.port) as client:
        for node, name in enumerate(("pad", "bass", "keys"), 1000):
            client.send("/s_new", name, node, 0, 0, "amp", 0)
        tree = client.request("/g_queryTree", 0, 0, reply="/g_queryTree.reply").args
        assert {"pad", "bass"} < set(tree) and "keys" not in tree  # what --bind names, and nothing else of the package
        client.collect(0.1)
        client.send("/bind_free", -1, -2)
        client.sync()
        assert client.collect(0.1) == []
        with pytest.raises(Failed, match="no such binding"):
            client.command("/bind_free", -1)
