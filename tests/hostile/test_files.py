# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths and files that could make the worker, and with it the daemon, run for ever or crash."""
import pytest

from tests.hostile.conftest import SINE
from tests.lib.osc import Failed

SECONDS = 20  # normally it takes some ms; a fault would never end


pytestmark = pytest.mark.usefixtures("survived")


def test_three_minutes_of_vorbis(victim):
    """libvorbis copies everything that it gets in one call onto the stack."""
    client = victim.client
    client.command("/b_alloc", 1, 180 * 48000, 1)
    path = victim.folder / "long.ogg"
    client.command("/b_write", 1, str(path), "ogg", "vorbis", timeout=60)
    client.command("/b_allocRead", 2, str(path), timeout=60)
    assert client.request("/b_query", 2, reply="/b_info").args[1] == 180 * 48000


def test_a_pattern_of_ten_thousands_of_parts(victim):
    """glob() recurses for each part."""
    with pytest.raises(Failed):
        victim.client.command("/d_load", "/*" * 30_000, timeout=SECONDS)


def test_a_pattern_that_multiplies(victim):
    """Its matches wouldn't fit into memory."""
    for number in range(10):
        (victim.folder / f"many-{number}").mkdir(exist_ok=True)
    with pytest.raises(Failed):
        victim.client.command("/d_load", "*/../" * 40 + "*.nothing", timeout=SECONDS)


def test_links_round_in_circles(victim):
    """Each of the links doubles the number of ways at each level."""
    circle = victim.folder / "circle"
    circle.mkdir()
    for name in ("a", "b", "c"):
        (circle / name).symlink_to(circle)
    client = victim.client
    client.send("/d_freeAll")
    (circle / "sine.scsyndef").write_bytes(SINE.read_bytes())
    client.command("/d_loadDir", str(circle), timeout=SECONDS)
    assert client.status()[4] == 1
