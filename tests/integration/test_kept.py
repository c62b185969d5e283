# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server has outlives its daemon, if that is killed; and is gone with it, if it ends as it should."""
import signal
import subprocess

import pytest

from tests.integration.conftest import SYNTHDEFS
from tests.lib import audio, scsynth
from tests.lib.build import PW_SCSYNTH
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.recording import Recording

pytestmark = pytest.mark.usefixtures("ours")
BUFFER = 5
SAMPLES = [float(i % 7) for i in range(64)]


@pytest.fixture
def session():
    """A session whose daemon loads the module by its configuration; its `port` is the server's."""
    port = free_port()
    module = f"{{ name = libpipewire-module-scsynth args = {{ scsynth.osc.port = {port} }} }}"
    # In memory, as a user's runtime folder is: nothing is kept on a disk that is nearly full.
    with Session(policy=True, modules=[module], folder="/dev/shm") as session:
        session.port = port
        yield session


def kept(session):
    return session.dir / "run/pw-scsynth" / f"kept-{session.port}"


def ready(session):
    client = Client(session.port)
    client.wait_ready()
    return client


def restart(session, number=signal.SIGKILL):
    session.stop_daemons(number)
    session.start_daemons()


def play(client):
    """A group with a sine, a synth that ends by itself, a buffer with samples and a control bus."""
    client.command("/notify", 1)
    client.command("/d_loadDir", str(SYNTHDEFS))
    client.request("/g_new", 1, 1, 0, reply="/n_go")
    client.request("/s_new", "test_sine", 1000, 0, 1, "freq", 660.0, "amp", 0.2, reply="/n_go")
    client.command("/b_alloc", BUFFER, len(SAMPLES), 1)
    client.send("/b_setn", BUFFER, 0, len(SAMPLES), *SAMPLES)
    client.send("/c_set", 9, 0.25)
    client.sync()


def wait_copied(session):
    """Until a copy that began after what was sent is in the folder."""
    state = kept(session) / "state"
    before = state.stat().st_mtime_ns if state.exists() else 0
    session.wait_until(lambda: state.exists() and state.stat().st_mtime_ns != before, "a copy")


def tree(client):
    return client.request("/g_queryTree", 0, 1, reply="/g_queryTree.reply").args


def test_all_is_back_after_the_daemon_was_killed(session, tmp_path):
    with ready(session) as client:
        play(client)
        before = tree(client)
        client.send("/n_set", 1000, "amp", 0.1)
        wait_copied(session)
        after = tree(client)
        assert before != after
        restart(session)
        client.wait_ready()
        assert tree(client) == after
        assert list(client.request("/b_getn", BUFFER, 0, 64, reply="/b_setn").args[3:]) == SAMPLES
        assert client.request("/c_get", 9, reply="/c_set").args[1] == 0.25
        client.request("/s_new", "test_sine", 1001, 1, 1, "amp", 0.0, reply="/n_go")  # logged in, and the SynthDef is there
        assert "1 buffers, 2 nodes" in session.daemon.output(), session.logs()
        session.wait_until(lambda: len(session.links()) >= 2, "links")
        with Recording(session, tmp_path / "heard.wav") as recording:
            recording.wait(0.5)
        heard = audio.read_wav(recording.path)[0][:, 0]
        assert audio.frequency(heard[-16384:], 48000) == pytest.approx(660, abs=4)


def test_what_may_have_ended_it_does_not_come_back_again_and_again(session):
    with ready(session) as client:
        play(client)
        wait_copied(session)
        restart(session)
        client.wait_ready()
        assert client.status()[2] == 1
        restart(session)  # so soon that what came back may be the cause
        client.wait_ready()
        assert client.status()[2:4] == [0, 1]
        assert list(client.request("/b_getn", BUFFER, 0, 64, reply="/b_setn").args[3:]) == SAMPLES
        restart(session)
        client.wait_ready()
        assert client.request("/b_query", BUFFER, reply="/b_info").args[1] == 0


def test_nothing_is_back_after_an_end_as_it_should_be(session):
    with ready(session) as client:
        play(client)
        wait_copied(session)
        assert [file.name for file in kept(session).iterdir() if file.name.startswith("samples-")]
        session.stop_daemons()
        assert list(kept(session).iterdir()) == []
        session.start_daemons()
        client.wait_ready()
        assert client.status()[2:4] == [0, 1]


def test_a_folder_that_others_may_use_is_left_alone(session):
    session.stop_daemons()
    kept(session).chmod(0o770)
    session.start_daemons()
    with ready(session) as client:
        client.command("/b_alloc", BUFFER, 64, 1)
    assert "nobody else may use it" in session.daemon.output(), session.logs()
    assert list(kept(session).iterdir()) == []


def saved(session, path):
    """What `pw-scsynth save` says."""
    return session.run(PW_SCSYNTH, "save", path, "-u", session.port)


def test_a_saved_piece_is_restored_and_played_by_scsynth(session, tmp_path):
    piece = tmp_path / "piece.osc"
    with ready(session) as client:
        play(client)
        client.send("/n_map", 1000, "amp", 9)
        before = tree(client)
        saved(session, piece)
        client.send("/g_freeAll", 0)
        client.send("/b_zero", BUFFER)
        session.run(PW_SCSYNTH, "restore", piece, "-u", session.port)
        assert tree(client) == before
        assert list(client.request("/b_getn", BUFFER, 0, 64, reply="/b_setn").args[3:]) == SAMPLES

    end = scsynth.score_bytes([(1, ("/c_set", 0, 0))], 1)
    whole = tmp_path / "whole.osc"
    whole.write_bytes(piece.read_bytes() + end)
    heard = tmp_path / "heard.wav"
    done = subprocess.run(["scsynth", "-N", whole, "_", heard, "48000", "WAV", "float"], capture_output=True, text=True,
                          timeout=60, check=False)
    assert heard.exists(), done.stdout + done.stderr
    sine = audio.read_wav(heard)[0][:, 0]
    assert audio.frequency(sine, 48000) == pytest.approx(660, abs=0.1)
    assert audio.peak(sine) == pytest.approx(0.25, rel=0.01)  # the control bus's


def test_what_cannot_be_saved_or_restored_is_said(session, tmp_path):
    with ready(session):
        for command, path, why in (("save", "/nonexistent/x", "No such file or directory"),
                                   ("restore", tmp_path / "none", "No such file or directory"),
                                   ("restore", "/dev/null", "it is no file")):
            done = subprocess.run([PW_SCSYNTH, command, path, "-u", str(session.port)], env=session.env,
                                  capture_output=True, text=True, timeout=30, check=False)
            assert done.returncode == 1 and done.stderr.startswith("ERROR") and why in done.stderr, done
