# SPDX-License-Identifier: GPL-3.0-or-later
"""A program whose keys are linked to the server, and that plays too much, or sends too many commands."""
import time

import pytest

from tests.hostile.conftest import SINE
from tests.lib.osc import Bundle, Message, encode

CONTROL, KEYS = "scsynth:control_1", "many-keys:out"
SECONDS, VOICES, LEAST = 3, 64, 10_000
PACKETS, COMMANDS = 500, 20

pytestmark = pytest.mark.usefixtures("survived")


@pytest.fixture(scope="module")
def victim_settings():
    return {"control-osc": "true"}


def count(victim, name):
    return int(victim.session.node(victim.server.node_name)["info"]["props"][f"scsynth.control.{name}"])


def flood(victim, least, *arguments):
    """Link a program's port for some seconds; at least that many events come."""
    session = victim.session
    before = count(victim, "received")
    keys = session.start([session.build / "tests/hostile/many-keys", *arguments], "many-keys")
    session.wait_until(lambda: KEYS in session.run("pw-link", "-o"), "the port of the keys")
    session.link(KEYS, CONTROL)
    time.sleep(SECONDS)
    victim.client.sync(timeout=20)
    assert keys.running()
    keys.stop()
    session.wait_gone("many-keys")
    session.wait_until(lambda: count(victim, "received") > before + least, "the events")


def test_hundreds_of_notes_in_each_cycle(victim):
    """They are bounded and counted, and the other program's tone goes on."""
    client = victim.client
    client.command("/d_recv", SINE.read_bytes())
    client.send("/bind_keys", 1, "test_sine", 0, 0, "voices", VOICES)
    client.send("/bind_controller", 2, -1, "c5")
    client.send("/bind_midi", 3)
    client.sync()
    victim.assert_in_time(lambda: flood(victim, LEAST))
    assert client.status()[2] <= VOICES
    client.send("/bind_free", 1, 2, 3)
    client.sync()


def test_hundreds_of_commands_in_each_cycle(victim, tmp_path):
    """The same with synths that are started without end, and commands that are refused."""
    packet = tmp_path / "packet"
    packet.write_bytes(encode(Bundle(1, [Message("/s_new", "test_sine", -1, 0, 0, "amp", 0.0)] * COMMANDS +
                                     [Message("/b_alloc", 1, 1 << 20)])))
    refused = count(victim, "refused")
    victim.assert_in_time(lambda: flood(victim, PACKETS, packet))
    victim.session.wait_until(lambda: count(victim, "refused") > refused, "what is refused")
    assert victim.client.status()[2] >= COMMANDS
