# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes to a server's control input, told to clients: /bind_midi, and PipeWireMIDI of our classes."""
import time
from pathlib import Path

import pytest

from tests.cli.test_quark import QUARK
from tests.lib import midi_file, sclang
from tests.lib.osc import Client
from tests.lib.process import wait_for

SCRIPT = Path(__file__).with_name("midi.scd")
SECONDS_1900_TO_1970 = 2_208_988_800
EVENTS = [(0x90, 60, 100), (0x80, 60, 30), (0xA1, 61, 127), (0xB2, 74, 1), (0xC3, 9), (0xD4, 64), (0xE5, 0, 0), (0xE5, 127, 127)]


@pytest.fixture
def play(session, tmp_path):
    """`play(server)` plays EVENTS from a file to it, 10 ms apart, a second after its start. The player."""
    players = []

    def start(server):
        midi_file.write(tmp_path / "events.mid", [(1 + 0.01 * i, event) for i, event in enumerate(EVENTS)])
        players.append(session.start(["pw-midiplay", "--target", "0", tmp_path / "events.mid"], f"player-{len(players)}"))
        outlets = wait_for(lambda: [port for port in session.run("pw-link", "-o").split("\n") if "pw-midiplay:" in port],
                           "the player's port")
        session.link(outlets[0].strip(), f"{server.name}:control_1")
        return players[-1]

    yield start
    for player in players:  # without a server it stands still
        player.stop()
    session.wait_until(lambda: "pw-midiplay:" not in session.run("pw-link", "-o"), "the players to go")


def test_clients_are_told_with_the_time(launch, play):
    server = launch()
    with Client(server.port) as client:
        client.command("/notify", 1)
        client.send("/bind_midi", 7, "channel", 0)
        client.sync()
        for _ in range(3):  # on a busy machine cycles are left out
            player = play(server)
            found = [client.wait("/midi", timeout=10).args for _ in range(2)]
            now = time.time() + SECONDS_1900_TO_1970
            wait_for(lambda: not player.running(), "the end of the file")
            apart = found[1][6] - found[0][6]
            if abs(apart - 0.01) < 1e-4:
                break
    assert [each[:5] for each in found] == [[7, "noteOn", 0, 0, 60], [7, "noteOff", 0, 0, 60]]
    assert [round(each[5] * 127) for each in found] == [100, 30]
    assert apart == pytest.approx(0.01, abs=1e-4)
    assert -0.2 < now - found[1][6] < 3


def test_midifunc_hears_it(launch, play, session, tmp_path):
    server = launch("-l", 4)
    child = sclang.start(SCRIPT, server.port, folder=tmp_path / "home", env=session.env, classes=[QUARK])
    try:
        child.wait_output("STEP ready true", timeout=30)

        def heard():
            return "STEP events" in child.output()

        for _ in range(3):  # on a busy machine cycles are left out
            player = play(server)
            wait_for(lambda: heard() or not player.running(), "the end of the file")
            if heard():
                break
        steps = sclang.steps(sclang.finish(child))
    finally:
        child.stop()
    assert steps["events"] == ("[[noteOn, 100, 60, 0, 0], [noteOff, 30, 60, 0, 0], [polytouch, 127, 61, 1, 0], "
                               "[cc, 1, 74, 2, 0], [program, 9, 3, 0], [touch, 64, 4, 0], [bend, 0, 5, 0], [bend, 16383, 5, 0]]")
    assert steps["stopped"] == "true"
