# SPDX-License-Identifier: GPL-3.0-or-later
"""ServerGroup, the extension of sclang's class library for servers of several hosts."""
import os
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, sclang
from tests.lib.daemon import ROOT
from tests.lib.ports import free_port
from tests.lib.recording import Incomplete, Recording

SCRIPT = Path(__file__).with_name("server_group.scd")
QUARK = ROOT / "sclang/PipeWireServer"


@pytest.fixture(scope="module")
def steps(session, tmp_path_factory):
    """What the script printed, and what both servers together played."""
    folder, ports = tmp_path_factory.mktemp("group"), [free_port(), free_port()]
    servers = [session.start([PW_SCSYNTH, "-u", port, "-l", 8], "pw-scsynth") for port in ports]
    env = session.env | {"PATH": f"{PW_SCSYNTH.parent}:{os.environ['PATH']}"}
    go = folder / "go"
    try:
        for server in servers:
            server.wait_output("SuperCollider 3 server ready.\n")
        child = sclang.start(SCRIPT, QUARK, SYNTHDEFS, *ports, go, folder=folder / "home", env=env, classes=[QUARK])
        try:
            child.wait_output("STEP latency", timeout=40)
            lost = None
            try:
                with Recording(session, folder / "both.wav") as recording:
                    go.touch()
                    child.wait_output("STEP played", timeout=30)
                    recording.wait(0.2)
            except Incomplete as error:
                lost = str(error)
            output = sclang.finish(child)
        finally:
            child.stop()
    finally:
        for server in servers:
            server.stop()
        for port in ports:
            session.wait_gone(f"scsynth-{port}")
    return sclang.steps(output) | {"ports": ports, "lost": lost, "sound": audio.read_wav(folder / "both.wav")[0]}


def test_hosts_are_named(steps):
    assert steps["help"] == "true"
    assert steps["refused"] == str([True] * 9).lower()
    assert steps["twice"] == str([True] * 3).lower()
    assert steps["unmade"] == "true"
    assert steps["port"] == "true"
    assert steps["size"] == "[2, true, 0.2]"
    assert steps["top"] == "pw-scsynth top " + " ".join(f"127.0.0.1:{port}" for port in steps["ports"])


def test_all_are_one(steps):
    assert steps["all"] == steps["running"] == "true"
    assert steps["latency"] == "[0.3, 0.3]"
    assert steps["synths"] == steps["loads"] == steps["least"] == steps["freed"] == "true"
    assert steps["removed"] == "[0, 0.3, true]"


def test_without_servers_nothing_is_waited_for(steps):
    assert steps["none"] == "0"
    assert steps["empty"] == "0.1"


def test_only_what_a_group_made_is_removed_with_it(steps):
    """(How many are left in the group, a Server given to it is still known, and watched, the other one is not.)"""
    assert steps["given"] == "[0, true, true, true]"


def test_what_is_sent_to_all_is_played_at_one_frame(steps):
    """By a bundle, a function and two events: each click of the two adds to the other's."""
    if steps["lost"]:
        pytest.skip(f"cycles were lost: {steps['lost']}")
    left = np.abs(steps["sound"][:, 0])
    assert np.count_nonzero(left > 0.01) == 4
    assert np.sort(left)[-4:] == pytest.approx([0.5] * 4, abs=1e-3)
