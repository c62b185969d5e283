# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that are linked to the server in the graph."""
from itertools import count

import numpy as np
import pytest

from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, midi_file, pipewire
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.recording import Recording, whole
from tests.lib.server import NodeServer

CONTROL = "scsynth:control_1"
BLOCK = 64
BEGINS = 1  # seconds into the file, which plays as soon as it is linked


def performer(session, tmp_path):
    """A function of events: what the server puts out while a MIDI file plays them to it."""
    numbers = count()

    def output(events, write, program):
        number = next(numbers)
        path = tmp_path / f"{number}.mid"
        write(path, [(BEGINS + seconds, message) for seconds, message in events])
        player = session.start([program, "--target", "0", path], f"player-{number}")
        outlets = wait_for(lambda: [port for port in session.run("pw-link", "-o").split("\n") if f"{program}:" in port],
                           "the player's port")
        with Recording(session, tmp_path / f"{number}.wav", node="scsynth") as recording:
            session.link(outlets[0].strip(), CONTROL)
            wait_for(lambda: not player.running(), "the end of the file")
            recording.wait(0.2)
        return recording

    def samples(events, write=midi_file.write, program="pw-midiplay"):
        return audio.read_wav(whole(lambda: output(events, write, program)).path)[0]
    return samples


@pytest.fixture
def perform(ours, playing, tmp_path):
    return performer(playing.session, tmp_path)


@pytest.fixture
def bind(client):
    """Bind keys to a SynthDef."""
    def send(*args):
        client.send("/bind_keys", 1, *args)
        client.sync()
    yield send
    client.send("/bind_free", 1)
    client.sync()


def test_notes_of_a_file_sound_at_their_frame(bind, perform):
    """As far from each other as in the file. The player cuts fractions of a frame off."""
    bind("test_impulse")
    samples = perform([(0.1 * i, (0x90, 36 + i, 64)) for i in range(20)])
    frames = np.flatnonzero(samples[:, 0])
    assert len(frames) == 20
    assert np.ptp(frames - 4800 * np.arange(20)) <= 1
    assert np.allclose(samples[frames, 0], 64 / 127)


@pytest.mark.skipif(pipewire.version() < (1, 6), reason="before PipeWire 1.6 there is no player of MIDI 2.0")
def test_midi_2_has_all_its_bits(bind, perform):
    bind("test_impulse")
    velocities = [0x0101, 0x8001, 0xfedc]
    samples = perform([(0.1 * i, (0x40903c00, velocity << 16)) for i, velocity in enumerate(velocities)],
                      midi_file.write_clip, "pw-midi2play")
    frames = np.flatnonzero(samples[:, 0])
    heard = dict(zip(frames.tolist(), samples[frames, 0].tolist()))
    assert list(heard.values()) == pytest.approx([velocity / 65535 for velocity in velocities], abs=1e-6), heard


def test_a_key_plays_as_long_as_it_is_down(bind, perform, playing):
    bind("test_sine", 0, 0, "amp", "", "set", "amp", 0.25)
    left = perform([(0, (0x90, 60, 100)), (0.5, (0x80, 60, 0))])[:, 0]
    sound = left[np.flatnonzero(left)[0]:np.flatnonzero(left)[-1]]
    assert len(sound) == pytest.approx(24000, abs=128)  # Out and /n_free: whole blocks
    assert audio.frequency(sound, 48000) == pytest.approx(440 * 2 ** (-9 / 12), abs=0.2)
    assert audio.peak(sound) == pytest.approx(0.25, rel=0.01)
    counted = playing.session.node("scsynth")["info"]["props"]
    assert int(counted["scsynth.control.received"]) > 0
    assert int(counted["scsynth.control.refused"]) == 0


def test_what_a_synth_tells_starts_notes_a_block_later(ours, client, playing, tmp_path):
    """test_sequence's triggers are on the right, the notes on the left."""
    client.send("/bind_command", 2, "reply", "path", "/note", "/s_new", "test_impulse", -1, 0, 0, "amp", "$2")

    def play():
        with Recording(playing.session, tmp_path / "notes.wav", node="scsynth") as recording:
            client.send("/s_new", "test_sequence", 2000, 0, 0)
            recording.wait(1)
            client.send("/n_free", 2000)
            recording.wait(0.2)
        return recording

    samples = audio.read_wav(whole(play).path)[0]
    client.send("/bind_free", 2)
    client.sync()
    triggers, notes = (np.flatnonzero(samples[:, channel]) for channel in (1, 0))
    assert len(triggers) > 30
    assert (notes - triggers[:len(notes)] == BLOCK).all() and len(triggers) - len(notes) <= 1
    amps = [0.1, 0.05, 0.2, 0.15, 0.07]
    assert samples[notes, 0] == pytest.approx([amps[i % 5] for i in range(len(notes))])


def test_bindings_of_the_settings_need_no_client(ours, session, tmp_path):
    server = NodeServer(session, free_port(), {"bindings": "test_impulse", "synthdef-path": SYNTHDEFS})
    session.connect(server.node_name, "test-sink")
    samples = performer(session, tmp_path)([(0.1 * i, (0x90, 60 + i, 127)) for i in range(5)])
    assert len(np.flatnonzero(samples[:, 0])) == 5
    assert audio.peak(samples) == pytest.approx(1)


@pytest.mark.parametrize("name", ["keys", "pad", "bass"])
def test_the_packages_instruments_play_the_notes(ours, session, tmp_path, name):
    server = NodeServer(session, free_port(), {"bindings": name, "load-synthdefs": "false"})
    session.connect(server.node_name, "test-sink")
    # A4, and its end
    samples = performer(session, tmp_path)([(0.1, (0x90, 69, 100)), (1.6, (0x80, 69, 0))])
    sounds = np.flatnonzero(np.abs(samples[:, 0]) > 1e-3)
    assert 1.5 < (sounds[-1] - sounds[0]) / 48000 < 3.2
    assert 0.02 < audio.peak(samples) < 0.5
    played = samples[sounds[0] + 24000:sounds[0] + 60000, 0]
    partial = audio.frequency(played, 48000) / 440  # the loudest
    assert partial == pytest.approx(round(partial), rel=0.01) and 1 <= round(partial) <= 2


def test_a_synthdef_that_is_nowhere_is_told(ours, session):
    NodeServer(session, free_port(), {"bindings": "keys; nowhere.low voices 3"})
    wait_for(lambda: "scsynth.bindings: there is no SynthDef nowhere.low in scsynth.synthdef-path" in session.logs(), "the line")
    assert "no SynthDef keys" not in session.logs()
