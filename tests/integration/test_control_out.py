# SPDX-License-Identifier: GPL-3.0-or-later
"""What the server's control outputs send to other programs in the graph."""
import re
import shutil
import sys

import numpy as np
import pytest

from tests.integration.conftest import SYNTHDEFS
from tests.lib import jack_listener
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.server import NodeServer

BLOCK = 64
PLACE = ("reply", "path", "/note", "/midi_send")


@pytest.fixture
def client(ours, session):
    server = NodeServer(session, free_port(), {"inputs": 0, "outputs": 2, "control-outputs": 2})
    session.connect(server.node_name, "test-sink")
    with Client(server.port) as client:
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.session = session
        yield client


def test_the_policy_links_the_outputs_for_sound_alone(ours):
    with Session(policy=True) as session:
        NodeServer(session, free_port(), {"inputs": 0, "outputs": 2, "control-outputs": 2, "bindings": "keys"})
        assert session.ports("scsynth", "out") == ["out_1", "out_2", "control_out_1", "control_out_2"]
        session.wait_links(lambda links: len(links) == 2, "two links")
        assert {output for output, _ in session.links()} == {"scsynth:out_1", "scsynth:out_2"}


def heard_in_time(output, quantum, more_than):
    """The frames of triggers, and [frame, bytes ...] of more than that many note-ons; None while there are fewer.

    A listener that is late for a cycle may read a cycle's data with the frame of the next one, and says so ("missed") in
    that cycle or in the next. Notes whose trigger may come from such a cycle are left out; so are those before the first
    trigger that is heard, as the two links don't begin in one cycle."""
    lines = [line.split() for line in output.splitlines(keepends=True) if re.fullmatch(r"(midi|sound|missed) .*\n", line)]
    triggers, missed = ([int(line[1]) for line in lines if line[0] == kind] for kind in ("sound", "missed"))
    # OSC comes with the notes from PipeWire 1.4 on.
    notes = [[int(number) for number in line[1:]] for line in lines if line[0] == "midi" and line[2] == "153"]
    notes = [note for note in notes if triggers and note[0] > triggers[0]
             and not any(-quantum <= note[0] - frame < quantum + BLOCK for frame in missed)]
    return (triggers, notes) if len(notes) > more_than else None


@pytest.mark.skipif(not shutil.which("pw-jack"), reason="needs pw-jack")
@pytest.mark.parametrize("quantum", [64, 1000])
def test_a_jack_client_gets_notes_a_block_after_the_trigger(client, session, quantum):
    session.force_quantum(quantum)
    client.send("/bind_command", 1, *PLACE, 0, "noteOn", 9, 36, "$2")
    client.send("/bind_command", 2, *PLACE, 1, "noteOff", 9, 36, 0)  # for a port that isn't linked
    client.sync()
    listener = session.start(["pw-jack", sys.executable, "-B", "-m", "tests.lib.jack_listener", "listener"], "listener")
    try:
        wait_for(lambda: len(session.ports("listener", "in")) == 2, "the listener's ports")
        session.link("scsynth:control_out_1", "listener:midi")
        session.link("scsynth:out_2", "listener:sound")
        client.send("/s_new", "test_sequence", 2000, 0, 0)
        triggers, notes = wait_for(lambda: heard_in_time(listener.output(), quantum, more_than=20), "notes in time")
        client.send("/n_free", 2000)
        client.sync()
    finally:
        listener.stop()
    asked = set(np.array(triggers) + BLOCK)
    assert all(note[0] in asked for note in notes)
    assert np.all(np.diff([note[0] for note in notes]) > 0)
    assert {tuple(note[1:3]) for note in notes} == {(0x99, 36)}
    assert {note[3] for note in notes} == {round(127 * amp) for amp in (0.1, 0.05, 0.2, 0.15, 0.07)}


def test_a_program_of_pipewire_gets_what_a_client_sends(client, session):
    dump = session.start(["pw-mididump"], "dump")
    inlet = wait_for(lambda: [port for port in session.run("pw-link", "-i").split("\n") if "midi-dump" in port],
                     "its port")
    session.link("scsynth:control_out_2", inlet[0].strip())
    try:
        def sent():
            client.send("/midi_send", 1, "control", 3, 74, 1)
            client.send("/midi_send", 0, "control", 3, 75, 1)
            client.sync()
            return re.search(r"controller +74\D.*value 127", dump.output())
        wait_for(sent, "a controller")
    finally:
        dump.stop()
    assert not re.search(r"controller +75\D", dump.output())
    props = session.node("scsynth")["info"]["props"]
    assert props["scsynth.control.unsent"] == 0
