# SPDX-License-Identifier: GPL-3.0-or-later
"""Reblock and Resample for an sclang that doesn't have them, and what the server makes of their SynthDefs."""
from pathlib import Path

import pytest

from tests.cli.conftest import Program
from tests.lib import sclang
from tests.lib.build import ROOT
from tests.lib.osc import Client
from tests.oracle.own_rate import RATE, play, with_rate
from tests.oracle.references import Def

SCRIPT = Path(__file__).with_name("synth_rates.scd")
QUARK = ROOT / "sclang/SynthRates"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(what the script printed, the folder with its SynthDefs)."""
    folder = tmp_path_factory.mktemp("rates")
    (folder / "defs").mkdir()
    output = sclang.run(SCRIPT, folder / "defs", folder=folder / "home", classes=[QUARK])
    return sclang.steps(output) | {"output": output}, folder / "defs"


def test_synthdefs_keep_what_they_ask_for(made):
    steps, _ = made
    assert steps["constants"] == "4,2"
    assert steps["controls"] == "1,2"
    assert steps["twice"] == "8"
    assert steps["copied"] == "4"
    assert steps["unbuilt"] == "nil"
    assert steps["output"].count("a SynthDef has only one") == 2
    assert steps["plain"] == "nil,2"  # the version of the format
    assert steps["bytes"] == "3"
    assert steps["described"] == "out,blockSize,upsample"


def test_what_is_no_power_of_two_or_no_control_is_refused(made):
    steps, _ = made
    assert steps["refused"] == "true"
    assert steps["after"] == "false"


@pytest.mark.parametrize("name, controls, right", [
    ("constants", (), (4, 2 * RATE)), ("twice", (), (8, RATE)), ("plain", (), (64, RATE)), ("controls", (), (64, RATE)),
    ("controls", ("blockSize", 1.0, "upsample", 8.0), (1, 8 * RATE)),
])
def test_the_server_plays_them(name, controls, right, made, tmp_path):
    heard = Def("heard")
    index, _ = heard.kr("In", 0.0, outputs=2)
    heard.out(*(heard.ar("K2A", (index, channel)) for channel in range(2)))
    data = (made[1] / f"{name}.scsyndef").read_bytes()
    sound = play(tmp_path, (name, data), ("heard", heard.bytes()), synths=[(1, name, controls), (2, "heard", ())])
    assert tuple(sound[-1]) == right


def test_a_server_in_the_daemon_plays_them(session, made):
    """One that is told what it has, and one that ends after a tenth of a second, at eight times the rate in blocks of one frame."""
    short = Def("short")
    short.out(short.kr("Line", 0.0, 0.0, 0.1, 2.0))  # frees the synth
    program = Program(session)
    try:
        with Client(program.port) as client:
            client.command("/notify", 1)
            client.command("/d_recv", (made[1] / "controls.scsyndef").read_bytes())
            client.command("/d_recv", with_rate(short.bytes(), 1, 8.0))
            client.request("/s_new", "controls", 1000, 0, 0, "blockSize", 2.0, "upsample", 4.0, reply="/n_go")
            session.wait_until(lambda: client.request("/c_get", 0, reply="/c_set").args == [0, 2.0], "the block size")
            assert client.request("/c_get", 1, reply="/c_set").args == [1, 4.0 * RATE]
            client.request("/s_new", "short", 1001, 0, 0, reply="/n_go")
            client.wait("/n_end", where=lambda args: args[0] == 1001)
    finally:
        program.child.stop()
