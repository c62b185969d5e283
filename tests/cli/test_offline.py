# SPDX-License-Identifier: GPL-3.0-or-later
"""`pw-scsynth -N` beside `scsynth -N`: the same command line makes the same file, to the byte without native units."""
import os
import pty
import shutil
import struct
import subprocess

import numpy as np
import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.lib import supercollider
from tests.lib.audio import read_wav, rms, write_wav
from tests.lib.build import ROOT
from tests.lib.osc import Bundle, Message, encode
from tests.lib.scsynth import score_bytes
from tests.oracle.references import synthdef
from tests.oracle.test_oracle import SYNTHDEFS

LOAD = (0, ("/d_loadDir", str(SYNTHDEFS)))
SECONDS = 0.6
VOICES = [LOAD, *((0.01 + 0.0731 * i, ("/s_new", "default", 1000 + i, 0, 0, "freq", 200.0 + 50 * i,
                                       "amp", 0.9, "pan", i / 3 - 1)) for i in range(6))]
THROUGH = [LOAD, (0.01, ("/s_new", "through", 1, 0, 0))]


@pytest.fixture
def score(tmp_path):
    path = tmp_path / "score.osc"
    path.write_bytes(score_bytes(VOICES, SECONDS))
    return path


def run(program, *arguments, stdin=subprocess.DEVNULL, status=0, env=None):
    """(standard output, standard error)."""
    done = subprocess.run([str(word) for word in (program, *arguments)], stdin=stdin, capture_output=True,
                          text=True, timeout=60, env=env, check=False)
    right = supercollider.has_rendered(done.returncode) if program == "scsynth" else done.returncode == status
    assert right, done.stdout + done.stderr
    return done.stdout, done.stderr


def without_time(data):
    """A sound file without the time at which it was written, which is in libsndfile's PEAK chunk."""
    place = data.find(b"PEAK")
    return data if place < 0 else data[:place + 12] + data[place + 16:]


def render_both(folder, score, rate, header, sample, *options, inputs="_", ours=()):
    """Render with scsynth and ours. Returns both files; the first must not be silent."""
    files = []
    for name, program, more in ("scsynth", "scsynth", ()), ("ours", PW_SCSYNTH, ours):
        files.append(folder / f"{name}.{header}")
        run(program, "-N", score, inputs, files[-1], rate, header, sample, "-D", 0, *options, *more)
    assert len(set(files[0].read_bytes()[-2000:])) > 100, "the reference is silent"
    return files


def same(*what, **options):
    """Render with both. The files must be the same and not silent; returns one."""
    files = render_both(*what, **options, ours=("--set", "native-ugens=false"))
    theirs, ours = (without_time(path.read_bytes()) for path in files)
    assert ours == theirs
    return files[1]


def test_quit_does_not_end_a_score(tmp_path):
    tone = synthdef("tone", [("SinOsc", 2, [440.0, 0.0], 1, 0), ("Out", 2, [0.0, (0, 0)], 0, 0)])
    score = tmp_path / "quit.score"
    score.write_bytes(score_bytes([(0, ("/d_recv", tone), ("/s_new", "tone", 1000, 0, 0)),
                                   (0.1, ("/quit",), ("/s_new", "tone", 1001, 0, 0)),
                                   (0.2, ("/s_new", "tone", 1002, 0, 0))], 0.4))
    same(tmp_path, score, 48000, "WAV", "float")


@pytest.mark.parametrize("native", [True, False])
def test_the_subsample_offset_of_the_start(tmp_path, native):
    """scsynth adds half a frame to each time."""
    offset = synthdef("offset", [("SubsampleOffset", 0, [], 1, 0), ("DC", 2, [(0, 0)], 1, 0),
                                 ("WhiteNoise", 2, [], 1, 0), ("Out", 2, [0.0, (1, 0), (2, 0)], 0, 0)])
    score = tmp_path / "offset.score"
    score.write_bytes(score_bytes([(0, ("/d_recv", offset), ("/s_new", "offset", 1000, 0, 0)),
                                   (0.2, ("/n_free", 1000)),
                                   (0.30001, ("/s_new", "offset", 1001, 0, 0))], 0.4))
    files = render_both(tmp_path, score, 48000, "WAV", "float", ours=("--set", f"native-ugens={str(native).lower()}"))
    theirs, ours = (read_wav(path)[0][:, 0] for path in files)
    assert theirs[0] == 0.5
    assert np.array_equal(ours, theirs)


def test_native_units(tmp_path, score):
    """With default settings."""
    theirs, ours = (read_wav(path)[0] for path in render_both(tmp_path, score, 48000, "WAV", "float", "-o", 2))
    assert theirs.shape == ours.shape
    assert 0 < rms(ours - theirs) < 1e-5 * rms(theirs)


@pytest.mark.parametrize("header, sample", [
    ("WAV", "int16"), ("WAV", "int24"), ("WAV", "int32"), ("WAV", "float"), ("WAV", "double"),
    ("AIFF", "int16"), ("AIFF", "int24"), ("AIFF", "float"), ("AIFF", "mulaw"), ("FLAC", "int16"), ("FLAC", "int24"),
    ("CAF", "float"), ("W64", "int24"), ("RF64", "int16"), ("NeXT", "int16"), ("Sun", "alaw"), ("IRCAM", "int16"),
    ("raw", "int16"), ("aiff", "INT16")])
def test_formats(tmp_path, score, header, sample):
    same(tmp_path, score, 48000, header, sample, "-o", 2)


@pytest.mark.parametrize("options", [
    (), ("-o", 1), ("-o", 4, "-i", 0), ("-o", 2, "-z", 128), ("-o", 2, "-z", 100), ("-o", 2, "-Z", 4096),
    ("-o", 2, "-b", 9, "-n", 64.0, "-w", 40),
    ("-o", 2, "-a", 130, "-c", 100, "-m", 1024.0, "-d", 2000, "-r", 3, "-l", 4),
    ("-u", 57110, "-o", 2, "-V", -1, "-R", 0, "-C", 1)], ids=lambda options: " ".join(map(str, options)))
def test_options(tmp_path, score, options):
    same(tmp_path, score, 44100, "WAV", "int24", *options)


@pytest.mark.parametrize("rate", ["22050", "96000", "44100.0"])
def test_rates(tmp_path, score, rate):
    same(tmp_path, score, rate, "WAV", "int24", "-o", 2)


@pytest.mark.parametrize("frames, channels", [(SECONDS * 48000 * 2, 2), (10000, 2), (8192, 1), (30000, 4)])
def test_input(tmp_path, frames, channels):
    score, sound = tmp_path / "score.osc", tmp_path / "in.wav"
    score.write_bytes(score_bytes(THROUGH, SECONDS))
    noise = np.random.default_rng(1).uniform(-1, 1, (int(frames), channels))
    write_wav(sound, noise, 48000)
    path = tmp_path / "ours.WAV"
    run(PW_SCSYNTH, "-N", score, sound, path, 48000, "WAV", "float", "-o", 2, "-D", 0)
    theirs = tmp_path / "scsynth.WAV"
    run("scsynth", "-N", score, sound, theirs, 48000, "WAV", "float", "-o", 2, "-D", 0)
    assert any(path.read_bytes()[1000:])
    assert without_time(path.read_bytes()) == without_time(theirs.read_bytes())


def test_an_input_that_does_not_fit_is_mentioned(tmp_path, score):
    write_wav(tmp_path / "in.wav", np.zeros((100, 3)), 44100)
    _, said = run(PW_SCSYNTH, "-N", score, tmp_path / "in.wav", tmp_path / "out.wav", 48000, "WAV", "int16")
    assert "3 channels" in said
    assert "44100 Hz" in said


def test_a_score_from_standard_input(tmp_path, score):
    for name in ("file", "pipe"):
        with score.open("rb") as stdin:
            run(PW_SCSYNTH, "-N", score if name == "file" else "_", "_", tmp_path / name, 48000, "WAV", "int16",
                stdin=stdin)
    assert (tmp_path / "pipe").read_bytes() == (tmp_path / "file").read_bytes()
    assert any((tmp_path / "pipe").read_bytes()[1000:])


def test_nothing_is_kept_at_dev_null(score):
    run(PW_SCSYNTH, "-N", score, "_", "/dev/null", 48000, "WAV", "int16")


def test_synthdefs_of_the_environment(tmp_path):
    score = tmp_path / "score.osc"
    score.write_bytes(score_bytes([(0.01, ("/s_new", "default", 1000, 0, 0))], 0.1))
    env = os.environ | {"SC_SYNTHDEF_PATH": str(SYNTHDEFS)}
    for flag in (0, 1):
        run(PW_SCSYNTH, "-N", score, "_", tmp_path / "out.wav", 48000, "WAV", "int16", "-D", flag, env=env)
        assert any((tmp_path / "out.wav").read_bytes()[1000:]) == bool(flag)


# Broken scores

def packet(data):
    return struct.pack(">i", len(data)) + data


def at(seconds, *messages):
    return packet(encode(Bundle(int(seconds * 2**32), [Message(*message) for message in messages])))


GOOD = at(0.1, ("/c_set", 0, 0.0))


@pytest.mark.parametrize("data, what", [
    (b"", "the score is empty"),
    (GOOD + b"\0\0", f"bundle 2 at byte {len(GOOD)}: the score ends in the middle of a bundle's size"),
    (GOOD + GOOD[:-8], f"bundle 2 at byte {len(GOOD)}: its size is 40 bytes, but the score ends after 32"),
    (b"\x7f\xff\xff\xff" + GOOD, "bundle 1 at byte 0: its size is 2147483647 bytes"),
    (b"\xff\xff\xff\xff" + GOOD, "bundle 1 at byte 0: its size is 4294967295 bytes"),
    (b"RIFF" + GOOD, f"bundle 1 at byte 0: its size is {0x52494646} bytes, but the score ends after {len(GOOD)}; "
                     "is it a score in binary"),
    (GOOD + packet(encode(Message("/c_set", 0, 0.0))), f"bundle 2 at byte {len(GOOD)}: not a bundle, but a message"),
    (GOOD + packet(b"#bundl\0\0"), f"bundle 2 at byte {len(GOOD)}: "),
    (at(2, ("/c_set", 0, 0.0)) + GOOD, "bundle 2 at byte 44: its time, 0.100000 s, is before the 2.000000 s"),
], ids=["empty", "half a size", "half a bundle", "huge", "negative", "sound", "message", "garbage", "order"])
def test_broken_scores(tmp_path, data, what):
    score = tmp_path / "broken.osc"
    score.write_bytes(data)
    _, said = run(PW_SCSYNTH, "-N", score, "_", tmp_path / "out.wav", 48000, "WAV", "int16", status=1)
    assert f"pw-scsynth: {score}: {what}" in said


@pytest.mark.parametrize("arguments, what", [
    (("nothing.osc", "_", "out.wav", 48000, "WAV", "int16"), "nothing.osc: No such file"),
    (("score.osc", "nothing.wav", "out.wav", 48000, "WAV", "int16"), "nothing.wav: "),
    (("score.osc", "_", "no/folder.wav", 48000, "WAV", "int16"), "no/folder.wav: "),
    (("score.osc", "_", "out.wav", 48000, "BAD", "int16"), "unsupported header format: BAD int16"),
    (("score.osc", "_", "out.wav", 48000, "WAV", "int25"), "unsupported sample format: WAV int25"),
    (("score.osc", "_", "out.wav", 48000, "FLAC", "float"), "out.wav: the header format can't hold"),
    (("score.osc", "_", "out.wav", 0, "WAV", "int16"), "-N: the rate 0"),
    (("score.osc", "_", "out.wav", 48000, "WAV"), "-N: expected"),
])
def test_wrong_arguments(tmp_path, score, monkeypatch, arguments, what):
    monkeypatch.chdir(tmp_path)
    _, said = run(PW_SCSYNTH, "-N", *arguments, status=1)
    assert f"pw-scsynth: {what}" in said
    assert not (tmp_path / "out.wav").exists()


def test_an_unknown_format_is_answered_by_those_that_there_are(tmp_path, score):
    _, said = run(PW_SCSYNTH, "-N", score, "_", tmp_path / "out.wav", 48000, "WAV", "float32", status=1)
    lines = dict(line.split(": ", 1) for line in said.splitlines()[1:])
    assert {"wav", "aiff", "flac"} <= set(lines["header formats"].split(", "))
    assert {"int16", "int24", "float"} <= set(lines["sample formats"].split(", "))


def test_a_failed_command_is_printed_and_the_rest_rendered(tmp_path):
    score = tmp_path / "score.osc"
    score.write_bytes(score_bytes([LOAD, (0, ("/s_new", "nothing", 1, 0, 0)), *VOICES[1:]], SECONDS))
    output, _ = run(PW_SCSYNTH, "-N", score, "_", tmp_path / "out.wav", 48000, "WAV", "int16")
    assert "FAILURE IN SERVER /s_new SynthDef not found" in output
    assert any((tmp_path / "out.wav").read_bytes()[1000:])


def test_progress_on_a_terminal_only(tmp_path):
    score = tmp_path / "score.osc"
    score.write_bytes(score_bytes([(0, ("/c_set", 0, 0.0))], 3.0))
    command = [str(word) for word in (PW_SCSYNTH, "-N", score, "_", tmp_path / "out.wav", 48000, "WAV", "int16")]
    ours, theirs = pty.openpty()
    try:
        subprocess.run(command, stderr=theirs, stdout=subprocess.DEVNULL, timeout=60, check=True)
        assert b"2.0 s of 3.0 s" in os.read(ours, 4096)
    finally:
        os.close(ours)
        os.close(theirs)
    assert " s of " not in run(*command)[1]


def test_plugins_of_another_api(tmp_path):
    """They are refused by name, never called; without others the reason isn't that there are none."""
    folder = tmp_path / "later"
    folder.mkdir()
    # A build that users make has no plugins of the tests' own.
    shutil.copy(ROOT / "build/tests/hostile/later_api.so", folder)
    score = tmp_path / "a.score"
    score.write_bytes(score_bytes([(0, ("/s_new", "default", 1000, 0, 0))], 0.01))

    def render(folders):
        return subprocess.run([PW_SCSYNTH, "-N", score, "_", tmp_path / "a.wav", "48000", "WAV", "float", "-U", folders],
                              capture_output=True, text=True, timeout=60, check=False)
    alone = render(str(folder))
    assert alone.returncode != 0
    assert "later_api.so: plugin API version 8, not 3 to 7" in alone.stdout + alone.stderr
    assert "have plugin API version 8, not 3 to 7: install SuperCollider 3.9 to 3.15" in alone.stdout + alone.stderr
    beside = render(f"{folder}:/usr/lib/SuperCollider/plugins")
    assert beside.returncode == 0
    assert "later_api.so: plugin API version 8, not 3 to 7" in beside.stdout + beside.stderr
