# SPDX-License-Identifier: GPL-3.0-or-later
"""pw-scsynth gamepad: what devices of a /dev/input of the test's own do sets buses and carries out commands."""
import os
import subprocess

import numpy as np
import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.lib import evdev
from tests.lib.evdev import ABS, KEY
from tests.lib.ports import free_port
from tests.lib.process import wait_for

SOUTH, EAST, X, Y = 304, 305, 0, 1
PAD = {"keys": (SOUTH, EAST), "axes": {X: (64, 0, 256), Y: (128, 0, 256)}}
KEYBOARD = {"keys": (30, 31, 48)}


@pytest.fixture
def devices(tmp_path):
    if missing := evdev.missing():
        pytest.skip(f"not installed: {missing}")
    with evdev.Input(tmp_path) as made:
        yield made


@pytest.fixture
def play(beside, devices, server):
    """`play(words…)` starts pw-scsynth gamepad with these devices."""
    return lambda *words: beside("gamepad", server.port, *words, **devices.env)


def wait_buses(client, *expected):
    """Those from 1 on."""
    def values():
        return client.request("/c_getn", 1, len(expected), reply="/c_setn").args[2:]
    wait_for(lambda: np.allclose(values(), expected, atol=1e-5), f"{expected}, not {values()}", timeout=10)


def bind(client):
    client.send("/bind_controller", 1, f"axis{X}", "c1", "device", 1)
    client.send("/bind_controller", 2, f"button{EAST}", "c2", "device", 1)
    client.send("/bind_command", 3, "button", "/c_set", 3, "$1", 4, "$2", 5, "$3")


def test_buttons_and_axes_are_told_from_the_start_on(client, devices, play):
    devices.plug(3, "Test Pad", **PAD, down=(EAST,))
    bind(client)
    program = play()
    wait_buses(client, 0.25, 1, 1, EAST, 1)
    assert program.output() == "device 1: Test Pad (/dev/input/event3)\n"
    devices.send(3, (ABS, X, 256), (KEY, SOUTH, 1))
    wait_buses(client, 1, 1, 1, SOUTH, 1)
    devices.send(3, (KEY, SOUTH, 0), (KEY, EAST, 0))
    wait_buses(client, 1, 0, 0, EAST, 1)
    devices.send(3, (ABS, Y, 192))
    wait_for(lambda: client.request("/bind_moved", reply="/bind_moved.reply").args == ["axis", 1, 0, Y, 0.75], "what moved last")


def test_devices_come_and_go(client, devices, play):
    bind(client)
    devices.plug(2, "Test Keyboard", **KEYBOARD)
    program = play()
    program.wait_output("there is no gamepad yet: plug one in\n")
    devices.plug(4, "Test Pad", **PAD)
    devices.plug(5, "Other Pad", **PAD)
    program.wait_output("device 1: Test Pad (/dev/input/event4)\n")
    program.wait_output("device 2: Other Pad (/dev/input/event5)\n")
    wait_buses(client, 0.25, 0, 0, 0, 0)
    devices.send(5, (KEY, SOUTH, 1))
    wait_buses(client, 0.25, 0, 1, SOUTH, 2)
    devices.send(4, (KEY, EAST, 1))
    wait_buses(client, 0.25, 1, 1, EAST, 1)
    devices.unplug(4)
    program.wait_output("device 1: Test Pad (/dev/input/event4) is gone\n")
    wait_buses(client, 0.25, 0, 0, EAST, 1)
    devices.plug(6, "Test Pad", **(PAD | {"axes": {X: (256, 0, 256)}}))
    program.wait_output("device 1: Test Pad (/dev/input/event6)\n")
    wait_buses(client, 1, 0, 0, EAST, 1)
    program.interrupt()
    assert program.wait(5) == 0
    wait_buses(client, 1, 0, 0, SOUTH, 2)  # of the other pad
    assert "Keyboard" not in program.output()


def test_devices_are_chosen_by_name_and_path(client, devices, play):
    bind(client)
    devices.plug(3, "Test Pad", **PAD)
    devices.plug(4, "Other Pad", **PAD)
    devices.plug(5, "Test Knob", keys=(256, 30), axes={X: (0, 0, 255)})
    devices.plug(6, "Third Pad", **PAD)
    program = play("knob", "/dev/input/event4", "none of that name")
    program.wait_output("device 1: Test Knob (/dev/input/event5)\n")
    program.wait_output("device 2: Other Pad (/dev/input/event4)\n")
    devices.send(5, (ABS, X, 51), (KEY, 30, 1))  # a keyboard's key is never told
    wait_buses(client, 0.2, 0, 0, 0, 0)
    devices.send(5, (KEY, 256, 1))
    wait_buses(client, 0.2, 0, 1, 256, 1)
    assert program.output().count("device") == 2


def test_what_is_there_is_listed_where_nothing_is_called_so(devices, play):
    devices.plug(2, "Test Keyboard", **KEYBOARD)
    devices.plug(3, "Test\x1b[2JPad", **PAD)  # which would clear the terminal
    program = play("nosuch")
    program.wait_output("no device with axes or buttons is called so; there are:\n    Test\\x1b[2JPad (/dev/input/event3)\n")


def test_it_ends_with_the_server(server, devices, play):
    devices.plug(3, "Test Pad", **PAD)
    program = play()
    program.wait_output("device 1")
    server.child.stop()
    assert program.wait(10) == 1
    assert "no server answers" in program.output()


def test_it_says_what_is_missing(devices):
    def run(*options, **env):
        done = subprocess.run([PW_SCSYNTH, "gamepad", *map(str, options)], env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=20, check=False)
        return done.returncode, done.stderr

    status, said = run("-u", free_port(), **devices.env)
    assert status == 1
    assert "no server answers at 127.0.0.1:" in said
    assert "pw-scsynth gamepad -u PORT" in said
    (devices.root / "dev/input").rmdir()
    status, said = run(**devices.env)
    assert status == 1
    assert "nothing can be read in /dev/input (No such file or directory): a container has to be given it" in said
    assert "-u 0: expected a port" in run("-u", 0)[1]


def test_it_says_what_to_do_where_it_may_not_read():
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/dev"], check=False,
                                           capture_output=True).returncode:
        pytest.skip("a /dev of its own needs root, and to be allowed")
    script = ("mount -t tmpfs none /dev && mkdir /dev/input && touch /dev/input/event3 && chmod 600 /dev/input/event3 && "
              f"exec setpriv --reuid 65534 --clear-groups {PW_SCSYNTH} gamepad -u {free_port()}")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, timeout=20, check=False)
    assert done.stdout == ("no gamepad is there that may be read (/dev/input/event3 may not): plug one in; log in at this "
                           "machine's own screen, or join the group input\n")
