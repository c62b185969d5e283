# SPDX-License-Identifier: GPL-3.0-or-later
"""What sclang's Server offers beside synths: volume, recording, meters, scopes, the tree, notices of boot and quit."""
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.lib import audio, sclang, supercollider
from tests.lib.ports import free_port
from tests.lib.recording import Recording
from tests.lib.server import is_stock

SCRIPT = Path(__file__).with_name("server.scd")
RATE = 48000


@pytest.fixture(scope="module")
def lesson(session, tmp_path_factory):
    """(steps, what was heard, what was printed, the folder of the recordings)."""
    folder, port = tmp_path_factory.mktemp("server"), free_port()
    program, node = ("pw-jack scsynth", "SuperCollider") if is_stock() else (PW_SCSYNTH, f"scsynth-{port}")
    # scsynth connects its ports itself; here the test does.
    env = session.env | ({"SC_JACK_DEFAULT_INPUTS": "", "SC_JACK_DEFAULT_OUTPUTS": ""} if is_stock() else {})
    session.run("pw-metadata", "-n", "settings", "0", "log.level", "3")
    child = sclang.start(SCRIPT, program, port, folder, folder / "go", folder=folder / "home", env=env)
    try:
        child.wait_output("STEP sampleRate", timeout=30)
        if is_stock():
            session.connect(node, session.default_sink())
        session.wait_links(lambda links: any(output.startswith(f"{node}:") for output, _ in links), "links")
        with Recording(session, folder / "heard.wav", node=session.default_sink()) as recording:
            (folder / "go").touch()
            child.wait_output("STEP synths", timeout=30)
        output = sclang.finish(child)
    finally:
        child.stop()
        session.run("pw-metadata", "-n", "settings", "0", "log.level", "2")
    heard, rate = audio.read_wav(recording.path)
    assert rate == RATE
    return sclang.steps(output), heard[:, 0], output + session.daemon.output(), folder


@pytest.fixture(scope="module")
def steps(lesson):
    return lesson[0]


def numbers(text):
    return [float(word) for word in text.split()]


def level_of(hz, signal):
    """The greatest amplitude that a tone has over a tenth of a second."""
    size = RATE // 10
    turns = np.exp(-2j * np.pi * hz * np.arange(size) / RATE) * np.hanning(size)
    return max(4 * abs(np.dot(signal[i:i + size], turns)) / size
               for i in range(0, len(signal) - size, size // 4))


def test_notices_of_boot_tree_and_quit(steps):
    assert steps["started"] == "1 1 0"
    assert steps["rebooted"] == "true"
    assert steps["restarted"] == "2 1"
    assert steps["quit"] == "true"
    assert steps["ended"] == "2 2"
    assert float(steps["sampleRate"]) == RATE


def test_the_end_is_quiet(lesson):
    assert "FAILURE IN SERVER" not in lesson[2]


def test_volume_and_mute_are_heard(lesson):
    low = 0.5 * 10**(-12 / 20)
    for hz, expected in ((400, 0.5), (500, low), (700, low), (800, 0.5)):
        assert level_of(hz, lesson[1]) == pytest.approx(expected, rel=0.02), hz
    assert level_of(5000, lesson[1]) < 0.002
    assert float(lesson[0]["volume"]) == -12


def test_a_recording_of_a_length(lesson):
    recorded, rate = audio.read_wav(lesson[3] / "timed.wav")
    assert rate == RATE and recorded.shape[1] == 2
    assert len(recorded) == pytest.approx(1.5 * RATE, abs=2 * 64)
    check_tone(recorded[:, 0])


def test_a_recording_stopped_and_paused(lesson):
    recorded, rate = audio.read_wav(lesson[3] / "stopped.wav")
    assert rate == RATE and recorded.shape[1] == 1
    # The duration without the pause.
    assert len(recorded) / RATE == pytest.approx(numbers(lesson[0]["recorded"])[0] - 0.3, abs=0.25)
    assert (lesson[3] / "stopped.wav").stat().st_size < 3.2 * len(recorded)
    assert audio.frequency(recorded[:RATE // 2, 0], RATE) == pytest.approx(1000, abs=0.05)
    # The one place where it paused.
    assert len(audio.clicks(recorded[:, 0])) <= 1


def test_the_end_of_a_recording_is_there(lesson):
    assert lesson[0]
    for number in range(6):
        take, _ = audio.read_wav(lesson[3] / f"take{number}.wav")
        assert 0.1 < len(take) / RATE < 0.5, number


def check_tone(signal):
    assert audio.frequency(signal, RATE) == pytest.approx(1000, abs=0.05)
    assert audio.rms(signal) == pytest.approx(0.25 / np.sqrt(2), rel=0.001)
    assert audio.clicks(signal) == []


def test_the_meter_gets_its_levels(steps):
    assert steps["meterWindow"] == "true"
    peak, rms, *other = numbers(steps["levels"])
    assert other == [peak, rms]
    assert peak == pytest.approx(0.5, abs=0.005)
    assert rms == pytest.approx(0.5 / np.sqrt(2), rel=0.02)


def test_the_frequency_scope_shows_the_tone(steps):
    # Logarithmic over the 1024 bins of half the sample rate.
    x, y = numbers(steps["freqscope"])
    assert x == pytest.approx(np.log(6000 / 24000 * 1024) / np.log(1024), abs=0.01)
    assert y < 0.2


def test_the_tree_is_drawn(steps):
    if supercollider.since_3_14():  # with other margins, and never smaller than it was
        assert 25 * (40 + 2 + 2) < float(steps["plotTree"]) < 25 * (40 + 2 + 6)
    else:
        assert float(steps["plotTree"]) == 25 * (40 + 2 + 2)
        assert float(steps["plotTreeAfter"]) == 400


def test_freeing_all_calls_the_tree_functions(steps):
    assert steps["cmdPeriod"] == "0 2 2"
    assert steps["freeAll"] == "0 3"


def test_what_it_prints(lesson):
    assert '["/c_set", 17, 0.5, "/marked"]' in sclang.compact(lesson[2])
    assert "polled: 0.25" in lesson[2]
