# SPDX-License-Identifier: GPL-3.0-or-later
"""SuperDirt, played as Tidal plays it, on our servers and on stock scsynth.

SCS_SUPERDIRT names a folder with the quarks SuperDirt and Vowel and, unless Debian's sc3-plugins-language is installed,
with the classes of sc3-plugins."""
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.clients import tidal
from tests.clients.conftest import PW_SCSYNTH, needs, steps
from tests.lib import audio, scsynth, sclang
from tests.lib.daemon import ROOT
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.recording import Recording

pytestmark = needs("SCS_SUPERDIRT", "SuperDirt", "Vowel")
SCRIPT = Path(__file__).with_name("superdirt.scd")
RATE = 48000
MANY = 2000
STOCK = "exec pw-jack scsynth"
# Levels differ by chance (noise, random phases, an oscillator's position in its cycle), some more than others.
TOLERANCE_DB = 6.0
CHANCE = ("superstatic", "scram")


@dataclass
class Performance:
    steps: dict
    output: str     # sclang's
    daemon: str     # the daemon's log
    lost: int       # packets that our server didn't take
    samples: np.ndarray


def samples_in(folder):
    """Sound files for SuperDirt: a mono click, a stereo pad, and as many files as Dirt-Samples has."""
    t = np.arange(RATE // 2) / RATE
    click = 0.9 * np.cos(2 * np.pi * 2000 * t[:480]) * np.exp(-t[:480] * 400)
    pad = [sum(np.sin(2 * np.pi * hz * n * t) / n for n in range(1, 8)) * 0.4 for hz in (110, 165)]
    for name, samples in {"click": click, "pad": np.stack(pad, axis=1)}.items():
        (folder / name).mkdir(parents=True)
        audio.write_wav(folder / name / f"{name}.wav", samples, RATE)
    (folder / "many").mkdir()
    for number in range(MANY):
        audio.write_wav(folder / "many" / f"{number:04}.wav", click[:64], RATE)
    return folder


def load_module(session, port):
    """The module with the settings that the README gives for SuperDirt."""
    found = re.search(r"SuperDirt wants.*?'\{ (.*?) \}'", (ROOT / "README.md").read_text(), re.DOTALL)
    session.pw_cli("load-module", "libpipewire-module-scsynth", f"{{ {found[1]} scsynth.osc.port = {port} }}")


def perform(session, server, folder):
    """Start SuperDirt on a server, play the piece, and end it. Returns what was heard."""
    port, dirt_port = free_port(), free_port()
    node = scsynth.NODE if server == "stock" else f"scsynth-{port}"
    program = {"stock": STOCK, "module": "remote"}.get(server, f"exec {PW_SCSYNTH}")
    samples = samples_in(folder / "samples")
    extensions = folder / "data/SuperCollider/Extensions"
    extensions.parent.mkdir(parents=True)
    extensions.symlink_to(os.environ["SCS_SUPERDIRT"])
    if server == "module":
        load_module(session, port)
    child = sclang.start(SCRIPT, program, port, dirt_port, samples, folder=folder, env=session.env)
    try:
        child.wait_output("STEP ready", timeout=60)
        if not session.links():
            session.connect(node, "test-sink")
        with Recording(session, folder / "heard.wav") as recording:
            tidal.play(tidal.piece(), dirt_port)
            recording.wait(2)
        properties = session.node(node)["info"]["props"]
        with Client(dirt_port) as client:
            client.send("/end")
        child.wait(20)
    finally:
        child.stop()
    if server == "module":
        session.pw_cli("destroy", node)
    session.wait_gone(node)
    output = child.output()
    lost = sum(int(properties.get(f"scsynth.packets.{what}", 0)) for what in ("rejected", "kernel-dropped"))
    return Performance(steps(output), output, session.daemon.output(), lost, audio.read_wav(folder / "heard.wav")[0])


def click_times(samples):
    """Frames at which the clicks begin. The clicks come first, and are told apart by being loud."""
    return np.array(audio.impulses(samples[:, 0], 0.01, RATE // 4)[:tidal.CLICKS])


def levels(samples):
    """The level of each event, in dB."""
    first = click_times(samples)[0]
    frames = [first + int(event.at * RATE) for event in tidal.piece()]
    return [20 * np.log10(audio.rms(samples[start:start + int(0.55 * RATE)]) + 1e-9) for start in frames]


@pytest.fixture(scope="module")
def stock(session, tmp_path_factory):
    if not scsynth.available():
        pytest.skip("there is no stock scsynth to compare with")
    return perform(session, "stock", tmp_path_factory.mktemp("stock"))


@pytest.fixture(scope="module", params=["pw-scsynth", "module"])
def heard(request, session, tmp_path_factory):
    return perform(session, request.param, tmp_path_factory.mktemp(request.param))


def test_starts_as_on_scsynth(heard, stock):
    assert heard.steps == stock.steps
    assert (heard.steps["buffers"], heard.steps["last"]) == (str(MANY + 2), "64")
    # sclang's own 105 SynthDefs, and at least those of SuperDirt 1.7.3.
    assert int(heard.steps["synthdefs"]) >= 105 + 92


def test_says_nothing_wrong(heard):
    assert not re.search(r"FAILURE|ERROR|WARNING|late|not be found|without connection", heard.output), heard.output
    assert not re.search(r"crash|late|fail", heard.daemon), heard.daemon
    assert heard.lost == 0


def test_events_sound_at_their_times(heard):
    times = click_times(heard.samples) / RATE
    assert len(times) == tidal.CLICKS
    wanted = np.array([event.at for event in tidal.piece()[:tidal.CLICKS]])
    assert np.ptp(times - wanted) < 0.001


def test_sounds_as_on_scsynth(heard, stock):
    assert np.isfinite(heard.samples).all()
    ours, theirs = levels(heard.samples), levels(stock.samples)
    assert min(theirs) > -100 and min(ours) > -100
    wrong = [f"{event.sound} {event.more}: {mine:.1f} dB, not {reference:.1f}"
             for event, mine, reference in zip(tidal.piece(), ours, theirs)
             if abs(mine - reference) > TOLERANCE_DB and not {event.sound, *event.more}.intersection(CHANCE)]
    assert not wrong, "\n".join(wrong)
    assert np.median(np.subtract(ours, theirs)) == pytest.approx(0, abs=0.1)
