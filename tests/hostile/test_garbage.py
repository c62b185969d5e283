# SPDX-License-Identifier: GPL-3.0-or-later
"""After many packets of garbage the server works as before."""
import shutil
import time

import pytest

from tests.hostile.conftest import BUFFERS
from tests.hostile.garbage import Garbage
from tests.lib.daemon import ROOT

DEFINITIONS = sorted([*(ROOT / "tests/integration/synthdefs").glob("*.scsyndef"),
                      *(ROOT / "src/engine/synthdef/corpus").glob("*.scsyndef")])
AT_ONCE = 100
LARGE = 50_000_000  # bytes: of a file that takes long to be written, or read


def tidy(folder, client):
    """Garbage that allocates gigabytes, and then saves and restores them again and again, tries no more than once."""
    if large := [path for path in folder.iterdir() if path.is_file() and path.stat().st_size > LARGE]:
        client.send_at(None, *[("/b_free", buffer) for buffer in range(BUFFERS)])
        client.sync(timeout=30)
        for path in large:
            path.unlink()


def flood(victim, seed, count):
    """Send `count` packets, waiting for the server now and then."""
    folder = victim.folder
    for path in DEFINITIONS:
        shutil.copy(path, folder)
    files = [str(folder / name) for name in ("x.wav", "y.aiff", "*", "", "sine.scsyndef", "none/x")]
    garbage = Garbage(seed, [*files, "/etc/passwd", "../../x", "x\n", "~"],
                      [path.read_bytes() for path in DEFINITIONS])
    with victim.new_client() as client:
        for sent in range(1, count + 1):
            client.send_bytes(garbage.packet(time.time()))
            if sent % AT_ONCE == 0:
                client.sync(timeout=90)  # a packet may ask for a buffer of 8 GB
                client.inbox.clear()
                tidy(folder, client)


def survive(victim, seed, count):
    victim.reset()
    flood(victim, seed, count)
    victim.reset()
    victim.assert_alive()


def test_fifty_thousand(victim):
    survive(victim, 1, 50_000)
    seen = victim.settled_counters()
    assert seen["rejected"] > 1000 and seen["decoded"] > 20_000


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 22))
def test_a_million(victim, seed):
    survive(victim, seed, 50_000)
    victim.settled_counters()
