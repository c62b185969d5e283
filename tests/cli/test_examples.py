# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples where there is nothing to play on: one line that says what to do."""
import signal
import subprocess
import sys

import pytest

from tests.lib.build import ROOT
from tests.lib.ports import free_port


def said(*arguments, status, env=None):
    """The line on standard error of a Python program that fails."""
    done = subprocess.run([sys.executable, "-B", *map(str, arguments)], cwd=ROOT, env=env, capture_output=True, text=True,
                          timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (status, "", 1), done.stdout + done.stderr
    return done.stderr


def test_play_without_a_server():
    port = free_port()
    line = said("examples/play.py", port, status=1)
    assert f"No server answers at port {port}" in line and f"pw-scsynth -u {port}" in line


@pytest.mark.parametrize("arguments", [("0",), ("65536",), ("port",), ("57110", "57111")], ids=" ".join)
def test_play_at_no_port(arguments):
    assert "1 to 65535" in said("examples/play.py", *arguments, status=2)


@pytest.mark.parametrize("arguments", [("--alive",), ("--live", "--loud")], ids=" ".join)
def test_demo_with_other_arguments(arguments):
    done = subprocess.run(["./demo", *arguments], cwd=ROOT, text=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "./demo --live" in done.stdout


def test_demo_without_a_daemon(session, tmp_path):
    env = session.env | {"PIPEWIRE_RUNTIME_DIR": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    line = said("-m", "examples.demo", "--live", status=1, env=env)
    assert "No PipeWire daemon answers" in line and "systemctl --user start pipewire" in line


def test_demo_where_the_server_does_not_answer(session):
    port = free_port()
    session.wait_until(session.default_sink, "a default sink")
    session.pw_cli("create-node", "adapter", "{ factory.name=support.null-audio-sink node.name=scsynth object.linger=true "
                                             f"media.class=Audio/Source/Virtual scsynth.osc.port={port} }}")
    try:
        session.wait_node("scsynth")
        line = said("-m", "examples.demo", "--live", status=1, env=session.env)
    finally:
        session.pw_cli("destroy", "scsynth")
    assert f"no server answers at its port {port}" in line and "pw-cli destroy scsynth" in line


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_demo_that_is_ended_leaves_nothing(session, number):
    session.wait_until(session.default_sink, "a default sink")
    demo = subprocess.Popen([sys.executable, "-B", "-m", "examples.demo", "--live"], cwd=ROOT, env=session.env,
                            stdout=subprocess.PIPE, text=True)
    try:
        assert demo.stdout.readline().startswith("Playing to ")
        demo.send_signal(number)
        assert demo.wait(timeout=20) == 128 + number
    finally:
        demo.kill()
        demo.communicate()
    assert session.node("scsynth") is None
