# SPDX-License-Identifier: GPL-3.0-or-later
"""pw-scsynth pointer: MouseX, MouseY and MouseButton follow the pointer of an X display."""
import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, display
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.recording import Recording
from tests.oracle.references import CONTROL, synthdef


@pytest.fixture(scope="module")
def screen(tmp_path_factory):
    if missing := display.missing():
        pytest.skip(f"not installed: {missing}")
    with display.Display(tmp_path_factory.mktemp("display")) as shown:
        yield shown


@pytest.fixture
def client(client):
    """With the tests' SynthDefs."""
    client.command("/d_loadDir", str(SYNTHDEFS))
    return client


@pytest.fixture
def follow(beside, screen):
    """`follow(port)` tells the server of that port of the screen's pointer."""
    return lambda port: beside("pointer", port, DISPLAY=screen.name)


def run(*options, **env):
    """Run it to its end; (status, standard error)."""
    inherited = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    done = subprocess.run([PW_SCSYNTH, "pointer", *map(str, options)], env=inherited | env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=20, check=False)
    return done.returncode, done.stderr


def values(client):
    return client.request("/c_get", 0, 1, 2, reply="/c_set").args[1::2]


def wait_values(client, *expected):
    wait_for(lambda: np.allclose(values(client), expected, atol=0.006), f"{expected}, not {values(client)}", timeout=10)


def test_the_units_follow(server, client, follow, screen):
    screen.move(500, 125)
    client.send("/s_new", "test_pointer", 1000, 0, 0, "low", 0.0, "high", 1.0, "lag", 0.0)
    follow(server.port)
    wait_values(client, 0.5, 0.75, 0)
    screen.move(250, 375)
    wait_values(client, 0.25, 0.25, 0)
    screen.button(True)
    wait_values(client, 0.25, 0.25, 1)
    screen.move(0, 0)
    wait_values(client, 0, 1, 1)
    screen.button(False)
    wait_values(client, 0, 1, 0)


def test_a_mouse_is_followed_at_once(server, client, follow, screen):
    """Without its events it would be seen when the display is looked at anew, each half second."""
    screen.move(100, 0)
    client.send("/s_new", "test_pointer", 1000, 0, 0, "low", 0.0, "high", 1.0, "lag", 0.0)
    follow(server.port)
    wait_values(client, 0.1, 1, 0)
    start, moves = time.monotonic(), 30
    for number in range(moves):
        screen.push(20, 0)
        wait_values(client, 0.1 + 0.02 * (number + 1), 1, 0)
    assert time.monotonic() - start < 0.4 * moves


def test_the_tone_of_the_tutorial_follows(server, client, follow, screen, session, tmp_path):
    client.send("/s_new", "test_mouse_tone", 1000, 0, 0)
    follow(server.port)
    for pixel in (750, 100):
        screen.move(pixel, 100)
        with Recording(session, tmp_path / f"{pixel}.wav") as recording:
            recording.wait(1.5)
        left = audio.read_wav(recording.path)[0][-24000:, 0]
        hertz = np.argmax(np.abs(np.fft.rfft(left * np.hanning(len(left))))) * 2
        assert abs(hertz - (200 + 600 * pixel / display.WIDTH)) <= 2


def test_keys_are_followed_only_where_that_is_asked_for(server, client, session, screen):
    client.command("/d_recv", synthdef("a_key", [("KeyState", CONTROL, [38, 3, 7, 0], 1, 0), ("Out", CONTROL, [3, (0, 0)], 0, 0)]))
    client.send("/s_new", "a_key", 1000, 0, 0)

    def value():
        return client.request("/c_get", 3, reply="/c_set").args[1]

    wait_for(lambda: value() == 3, "the minimum")
    plain = session.start([PW_SCSYNTH, "pointer", "-u", server.port], "pointer", DISPLAY=screen.name)
    client.send("/s_new", "test_pointer", 1001, 0, 0, "low", 0.0, "high", 1.0, "lag", 0.0)
    screen.key(True)
    screen.move(700, 125)
    wait_values(client, 0.7, 0.75, 0)
    assert value() == 3
    plain.stop()
    keys = session.start([PW_SCSYNTH, "pointer", "--keys", "-u", server.port], "pointer", DISPLAY=screen.name)
    wait_for(lambda: value() == 7, "the key")
    screen.key(False)
    wait_for(lambda: value() == 3, "the key's end")
    screen.key(True)
    wait_for(lambda: value() == 7, "the key again")
    keys.interrupt()
    assert keys.wait(5) == 0
    wait_for(lambda: value() == 3, "nothing that stays down")
    screen.key(False)


def test_a_launcher_follows_by_itself_where_a_synth_asks_for_it(launch, screen):
    server, quiet = launch(DISPLAY=screen.name), launch("--no-pointer", DISPLAY=screen.name)
    screen.move(300, 125)
    for each, expected in ((quiet, (0, 0, 0)), (server, (0.3, 0.75, 0))):
        with Client(each.port) as opened:
            opened.command("/d_loadDir", str(SYNTHDEFS))
            opened.send("/s_new", "test_pointer", 1000, 0, 0, "low", 0.0, "high", 1.0, "lag", 0.0)
            wait_values(opened, *expected)
    with Client(quiet.port) as opened:
        assert values(opened) == [0, 0, 0]
    children = [child for threads in Path(f"/proc/{server.child.pid}/task").glob("*/children") for child in threads.read_text().split()]
    assert len(children) == 1
    server.child.interrupt()
    assert server.child.wait(10) == 0
    assert not os.path.exists(f"/proc/{children[0]}")


def test_the_button_carries_out_a_command_where_it_is_bound(launch, screen):
    """The launcher follows the pointer for that, too."""
    server = launch(DISPLAY=screen.name)
    with Client(server.port) as client:
        client.send("/bind_command", 1, "button", "device", 0, "/c_set", 1, "$1", 2, "$2")
        for down in (1, 0):
            screen.button(down)
            wait_for(lambda down=down: client.request("/c_getn", 1, 2, reply="/c_setn").args[2:] == [down, 272],
                     f"the button at {down}")


def test_it_says_what_is_missing(screen):
    status, said = run()
    assert status == 1
    assert "there is no X display: DISPLAY isn't set; MouseX, MouseY and MouseButton give their minimum" in said
    assert "there is no X display :77777" in run(DISPLAY=":77777")[1]
    status, said = run("-u", free_port(), DISPLAY=screen.name)
    assert status == 1
    assert "no server answers at 127.0.0.1:" in said
    assert "pw-scsynth pointer -u PORT" in said
    assert "-u 0: expected a port" in run("-u", 0, DISPLAY=screen.name)[1]


def test_it_ends_with_the_server_and_by_a_signal(server, client, follow, screen):
    ended, quiet = follow(server.port), follow(server.port)
    client.send("/s_new", "test_pointer", 1000, 0, 0, "low", 0.0, "high", 1.0, "lag", 0.0)
    screen.move(200, 200)
    wait_values(client, 0.2, 0.6, 0)
    quiet.interrupt()
    assert quiet.wait(5) == 0
    server.child.stop()
    assert ended.wait(10) == 1
    assert "no server answers" in ended.output()
