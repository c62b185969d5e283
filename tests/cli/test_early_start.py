# SPDX-License-Identifier: GPL-3.0-or-later
"""Started before PipeWire is there, as by cron, ssh or systemd."""
import functools
import os
import signal
import subprocess
import time

import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.lib.daemon import Session
from tests.lib.ports import free_port

WAITING = "PipeWire isn't there; waiting 30 s for it (--wait)"


@pytest.fixture
def early():
    """A session without daemons."""
    with Session(policy=False, wireplumber=False, sinks={}) as session:
        session.stop_daemons()
        yield session


@pytest.mark.parametrize("place", [(), ("--client",)], ids=["daemon", "client"])
def test_it_waits_for_pipewire(early, place):
    port = free_port()
    child = early.start([PW_SCSYNTH, "-u", port, *place], "pw-scsynth")
    child.wait_output(WAITING)
    early.start_daemons()
    child.wait_output("SuperCollider 3 server ready.")
    assert child.output().count(WAITING) == 1
    early.wait_node(f"scsynth-{port}")


def test_it_says_in_the_end_what_to_do(early):
    before = time.monotonic()
    child = early.start([PW_SCSYNTH, "-u", free_port(), "--wait", 1], "pw-scsynth")
    assert child.wait(15) == 1
    assert time.monotonic() - before >= 1
    output = child.output()
    assert "waiting 1 s for it" in output
    assert "ERROR: pw-scsynth: no connection to PipeWire" in output
    assert "systemctl --user start pipewire" in output


def test_it_does_not_wait_if_it_is_told_so(early):
    child = early.start([PW_SCSYNTH, "-u", free_port(), "--wait", 0], "pw-scsynth")
    assert child.wait(15) == 1
    assert "waiting" not in child.output()


def test_quiet_it_waits_without_a_word(early):
    child = early.start([PW_SCSYNTH, "-u", free_port(), "--wait", 1, "-V", "-1"], "pw-scsynth")
    assert child.wait(15) == 1
    assert "waiting" not in child.output()


def test_a_signal_ends_the_wait(early):
    child = early.start([PW_SCSYNTH, "-u", free_port()], "pw-scsynth")
    child.wait_output(WAITING)
    os.kill(child.pid, signal.SIGTERM)
    assert child.wait(10) == 0
    assert "ERROR" not in child.output()


# A shell in which /run is another one; the user is root there, so the runtime directory is /run/user/0.
OTHER_RUN = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /run && eval "$1" && shift && exec "$@"', "sh"]


@functools.cache
def refusal():
    """Why there can't be such a shell; empty if there can."""
    return subprocess.run([*OTHER_RUN, "true", "true"], text=True, capture_output=True, check=False).stderr


def as_cron(session, shell, *options):
    """pw-scsynth in an environment such as cron's, after a command of the shell."""
    if refusal():
        pytest.skip(f"no other /run here: {refusal()}")
    return session.start([*OTHER_RUN, shell, "env", "-i", f"PATH={os.environ['PATH']}", f"HOME={session.dir}",
                          PW_SCSYNTH, *options], "pw-scsynth")


def test_cron_sets_no_runtime_directory(early):
    early.start_daemons()
    socket = early.dir / "run/pipewire-0"
    shell = f"mkdir -p /run/user/0 && ln -s {socket} /run/user/0/pipewire-0"
    child = as_cron(early, shell, "-u", free_port())
    child.wait_output("SuperCollider 3 server ready.")
    devices = as_cron(early, shell, "--devices")
    assert devices.wait(15) == 0, devices.output()


def test_cron_before_anybody_is_logged_in(early):
    """The directory comes with the login."""
    early.start_daemons()
    socket = early.dir / "run/pipewire-0"
    child = as_cron(early, f"(sleep 2; mkdir -p /run/user/0; ln -s {socket} /run/user/0/pipewire-0) &",
                    "-u", free_port())
    child.wait_output("PipeWire isn't there, nor XDG_RUNTIME_DIR; waiting 30 s for it")
    child.wait_output("SuperCollider 3 server ready.")


def test_cron_where_nobody_logs_in(early):
    child = as_cron(early, "true", "-u", free_port(), "--wait", 1)
    assert child.wait(15) == 1
    assert "loginctl enable-linger" in child.output()
