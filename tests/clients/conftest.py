# SPDX-License-Identifier: GPL-3.0-or-later
import os
from pathlib import Path

import pytest

from tests.lib.daemon import ROOT, Session

PW_SCSYNTH = ROOT / "build/src/cli/pw-scsynth"


@pytest.fixture(scope="module")
def session():
    """A private session with the policy, shared by a module's tests."""
    with Session(policy=True) as session:
        session.force_quantum(1024)
        yield session
        assert session.daemon.running(), session.logs()


def folder_of(variable, *needed):
    """The folder that an environment variable names and that has these in it; skips the test without."""
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} names no folder with {', '.join(needed)}")
    for name in needed:
        if not (Path(value) / name).exists():
            pytest.skip(f"{variable}={value} lacks {name}")
    return Path(value)
