# SPDX-License-Identifier: GPL-3.0-or-later
"""supriya boots pw-scsynth as its server, and renders with it."""
import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.lib.audio import rms
from tests.lib import supriya
from tests.lib.ports import free_port

SCRIPT = Path(__file__).with_name("supriya_boot.py")


@pytest.fixture(scope="module")
def found(session, tmp_path_factory):
    output = session.run(supriya.python(), SCRIPT, PW_SCSYNTH, free_port(),
                         tmp_path_factory.mktemp("supriya"), timeout=60)
    return json.loads(output.splitlines()[-1])


def test_boots_twice_on_one_port(found):
    assert found["boots"] == [True, True]


def test_is_told_of_a_taken_port(found):
    assert found["taken"] == "ServerCannotBoot"


def test_renders_what_scsynth_renders(found):
    assert found["rendered"][:2] == found["reference"][:2] == [0, 0]
    ours, theirs = (samples(found[name][2]) for name in ("rendered", "reference"))
    assert ours.shape == theirs.shape
    assert rms(theirs) > 0.05
    # EnvGen.kr's attack and release are as long here as in SuperCollider 3.14 (docs/ugens.md).
    held = slice(1000, 22000)
    assert rms(ours[held] - theirs[held]) < 1e-5 * rms(theirs[held])
    assert rms(ours - theirs) < 0.05 * rms(theirs)


def samples(digits):
    """Those of an AIFF file of 24 bits, as hexadecimal digits; 1 is full scale."""
    data = bytes.fromhex(digits)
    start = data.index(b"SSND") + 16
    size = int.from_bytes(data[start - 12:start - 8], "big") - 8
    each = np.frombuffer(data[start:start + size // 3 * 3], np.uint8).reshape(-1, 3).astype(np.int32)
    return ((each[:, 0] << 24 | each[:, 1] << 16 | each[:, 2] << 8) >> 8) / 2 ** 23
