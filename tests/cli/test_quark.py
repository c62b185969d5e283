# SPDX-License-Identifier: GPL-3.0-or-later
"""Server.pipewire, the extension of sclang's class library."""
import os
from pathlib import Path

import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.lib import sclang
from tests.lib.daemon import ROOT
from tests.lib.ports import free_port

SCRIPT = Path(__file__).with_name("quark.scd")
QUARK = ROOT / "sclang/PipeWireServer"
EXAMPLE = ROOT / "examples/meters.scd"


@pytest.fixture(scope="module")
def steps(session, tmp_path_factory):
    """What the script printed. killall only writes down the names that it was called with."""
    folder, port = tmp_path_factory.mktemp("quark"), free_port()
    go, killed = folder / "go", folder / "go.killed"
    (folder / "bin").mkdir()
    killall = folder / "bin/killall"
    killall.write_text(f'#!/bin/sh\necho "$@" >> {killed}\n')
    killall.chmod(0o755)
    env = session.env | {"PATH": f"{folder}/bin:{PW_SCSYNTH.parent}:{os.environ['PATH']}"}
    child = sclang.start(SCRIPT, QUARK, port, go, EXAMPLE, folder=folder / "home", env=env, classes=[QUARK])
    try:
        child.wait_output("STEP booted true", timeout=30)
        node = session.node(f"scsynth-{port}")
        go.touch()
        output = sclang.finish(child)
    finally:
        child.stop()
    return sclang.steps(output) | {"node": node, "killed": killed.read_text().splitlines(), "output": output}


def test_its_overwrites_are_known_as_such(steps):
    assert "Intentional overwrites" not in steps["output"]


def test_it_switches_there_and_back(steps):
    assert steps["before"] == steps["scsynth"] == "exec scsynth"
    assert steps["pipewire"] == "exec pw-scsynth --options supernova"
    assert steps["supernova"] == "exec supernova"
    assert steps["client"] == "exec pw-scsynth --client --options supernova"
    assert steps["takeOver"] == "exec pw-scsynth --take-over --options supernova"
    assert steps["name"] == "exec pw-scsynth --set name='my piece' --options supernova"
    assert steps["own"] == steps["again"] == "exec /opt/own/scsynth -v"


def test_scores_are_rendered_by_the_same_program(steps):
    assert steps["score"] == "exec pw-scsynth"
    assert steps["formerScore"] == "exec scsynth"
    assert steps["otherScore"] == "exec other"


def test_there_is_no_server_in_sclang_itself(steps):
    """That would be a client of JACK, and start jackd where there is none."""
    assert steps["internal"] == "true"
    assert steps["formerInternal"] == steps["keptInternal"] == "true"


def test_it_is_used_always_if_it_is_told_so(steps):
    """What that does at sclang's start: test_startup_files.py."""
    assert steps["always"] == "[true, true]"
    assert steps["never"] == "false"


def test_the_options_threads_counts(steps):
    assert steps["threads"] == "true"


def test_the_devices_are_listed(steps):
    assert steps["devices"] == "second-sink,test-sink,test-source"
    assert steps["inDevices"] == "test-source"
    assert steps["outDevices"] == "second-sink,test-sink"


def test_the_server_boots_in_the_daemon_and_quits(steps):
    assert steps["node"] is not None
    assert steps["quit"] == "true"
    assert "Server 'booted' exited with exit code 0." in steps["output"]


def test_killall_ends_it_too(steps):
    killed = sorted(words.replace("-KILL", "-9") for words in steps["killed"])  # which it is since 3.14
    assert killed == ["-9 scsynth pw-scsynth", "-9 supernova"]


def test_satellites_and_parallel_groups(steps):
    assert steps["satellites"] == "[plain, before, voice, behind]"
    assert steps["level"] == "0.5"
    assert steps["group"] == "true"
    assert steps["left"] == "[plain]"
    assert steps["parallel"] == "[1, -1, -1, 1, -2, -2]"
    assert steps["inner"] == "true"


def test_on_other_servers_satellites_are_ordinary_synths(steps):
    assert steps["fallback"] == "[[2, 77, level, 1], [3, 77, nil]]"


def test_example_of_four_generators_with_meters_before_an_effect(steps):
    assert steps["peaks"] == "[0.05, 0.1, 0.15, 0.2]"
    assert steps["order"] == ("[generator0, meter0, generator1, meter1, generator2, meter2, generator3, meter3, "
                              "effect]")
    assert steps["changed"] == "[generator3, meter3, generator0, meter0, generator2, meter2, effect]"


def test_bindings(steps):
    assert steps["bound"] == (
        "[[/bind_keys, still, 1, 1, voices, 3, mode, mono], [/bind_controller, 74, 1001, level, low, 1, high, 2, curve, exponential], "
        "[/bind_command, reply, path, /note, /c_set, 8, $1], [/bind_beat, transport, c16]]")
    assert "four channels" in steps["channels"]
    assert "no control bus" in steps["audio"]
    assert steps["axis"] == "15.0"
    assert steps["learned"] == "[button304, [device, 2]]"
    assert steps["freed"] == "15.0"
    assert steps["freedAll"] == "0.0"
    assert "FAILURE IN SERVER /bind" not in steps["output"]


def test_quark_and_help_are_well_formed(steps):
    assert steps["quark"] == "0.1.0"
    assert steps["help"] == "true"
