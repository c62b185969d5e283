# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from daemons import Session


@pytest.fixture
def bare():
    """PipeWire alone."""
    session = Session()
    try:
        session.start_pipewire()
        yield session
    except BaseException:
        print(session.logs())
        raise
    finally:
        print(session.logs())
        session.close()


@pytest.fixture
def session(bare):
    """PipeWire with the stereo sink `main` (the default) and WirePlumber."""
    bare.add_device("main", priority=2000)
    bare.start_wireplumber()
    return bare
