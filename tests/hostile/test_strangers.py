# SPDX-License-Identifier: GPL-3.0-or-later
"""Another user of the machine sends to the server: nothing happens, nothing is answered, and it is counted."""
import os

import pytest

from tests.hostile.senders import answered_bytes, packed
from tests.lib.osc import Message, encode
from tests.lib.process import wait_for

NOBODY = 65534

pytestmark = [pytest.mark.usefixtures("survived"),
              pytest.mark.skipif(os.geteuid() != 0, reason="only root can send as another user")]


def send_as(user, kind, port, *packets):
    """How many bytes the answer had."""
    return answered_bytes(kind, port, packets, user=user, group=user, extra_groups=[])


@pytest.mark.parametrize("kind", ("udp", "tcp"))
def test_a_stranger(victim, kind):
    client, path = victim.client, victim.folder / f"stolen-{kind}.wav"
    client.command("/b_alloc", 1, 100)
    client.send("/b_setn", 1, 0, 1, 0.5)
    packets = [encode(Message("/b_setn", 1, 0, 1, 0.25)), encode(Message("/b_write", 1, str(path), "wav", "int16")),
               encode(Message("/status"))]
    before = victim.refused()
    assert send_as(NOBODY, kind, victim.server.port, *packets) == 0
    wait_for(lambda: victim.refused() == before + len(packed(kind, packets)), "the refused packets to be counted")
    client.sync()
    assert client.request("/b_getn", 1, 0, 1, reply="/b_setn").args[3] == 0.5
    assert not path.exists()


def test_the_owner_by_the_same_means(victim):
    """What the stranger does is right but for the user."""
    status = encode(Message("/status"))
    before = victim.refused()
    assert send_as(0, "udp", victim.server.port, status) > 0
    assert send_as(0, "tcp", victim.server.port, status) > 0
    assert victim.refused() == before
