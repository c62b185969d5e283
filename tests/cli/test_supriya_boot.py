# SPDX-License-Identifier: GPL-3.0-or-later
"""supriya boots pw-scsynth as its server, and renders with it."""
import json
from pathlib import Path

import pytest

from tests.cli.conftest import PW_SCSYNTH
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
    assert found["rendered"][:2] == [0, 0]
    assert len(set(found["rendered"][2])) > 10
    assert found["rendered"] == found["reference"]
