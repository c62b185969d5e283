# SPDX-License-Identifier: GPL-3.0-or-later
"""A program whose keys are linked to the server, and that plays too much."""
import time

import pytest

from tests.hostile.conftest import SINE

CONTROL, KEYS = "scsynth:control_1", "many-keys:out"
SECONDS, VOICES, LEAST = 3, 64, 10_000

pytestmark = pytest.mark.usefixtures("survived")


def test_hundreds_of_notes_in_each_cycle(victim):
    """They are bounded and counted, and the other program's tone goes on."""
    session, client = victim.session, victim.client

    def received():
        return int(session.node(victim.server.node_name)["info"]["props"]["scsynth.control.received"])

    def act():
        before = received()
        keys = session.start([session.build / "tests/hostile/many-keys"], "many-keys")
        session.wait_until(lambda: KEYS in session.run("pw-link", "-o"), "the port of the keys")
        session.link(KEYS, CONTROL)
        time.sleep(SECONDS)
        client.sync(timeout=20)
        assert keys.running()
        keys.stop()
        session.wait_gone("many-keys")
        session.wait_until(lambda: received() > before + LEAST, "the notes")

    client.command("/d_recv", SINE.read_bytes())
    client.send("/bind_keys", 1, "test_sine", 0, 0, "voices", VOICES)
    client.send("/bind_controller", 2, -1, "c5")
    client.send("/bind_midi", 3)
    client.sync()
    victim.assert_in_time(act)
    assert client.status()[2] <= VOICES
    client.send("/bind_free", 1, 2, 3)
    client.sync()
