# SPDX-License-Identifier: GPL-3.0-or-later
"""SuperDirt in sclang, on our servers and on stock scsynth, and what was heard of it.

SCS_SUPERDIRT names a folder with the quarks SuperDirt and Vowel and, unless Debian's sc3-plugins-language is installed,
with the classes of sc3-plugins in SC3plugins: most of SuperDirt's instruments need them."""
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.clients.conftest import PW_SCSYNTH, folder_of, needs, steps
from tests.lib import audio, scsynth, sclang
from tests.lib.daemon import ROOT
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.recording import Recording

DEBIANS_CLASSES = Path("/usr/share/SuperCollider/Extensions/SC3plugins")
NEEDED = needs("SCS_SUPERDIRT", "SuperDirt", "Vowel", *([] if DEBIANS_CLASSES.exists() else ["SC3plugins"]))
SCRIPT = Path(__file__).with_name("superdirt.scd")
RATE = 48000
MANY = 2000
STOCK = "exec pw-jack scsynth"


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
    """The module with the settings that docs/use.md gives for SuperDirt."""
    found = re.search(r"SuperDirt wants.*?'\{ (.*?) \}'", (ROOT / "docs/use.md").read_text(), re.DOTALL)
    session.pw_cli("load-module", "libpipewire-module-scsynth", f"{{ {found[1]} scsynth.osc.port = {port} }}")


def perform(session, server, folder, play):
    """Start SuperDirt on a server, `play(SuperDirt's port, the server's)`, and end it. Returns what was heard."""
    port, dirt_port = free_port(), free_port()
    node = scsynth.NODE if server == "stock" else f"scsynth-{port}"
    program = {"stock": STOCK, "module": "remote"}.get(server, f"exec {PW_SCSYNTH}")
    samples = samples_in(folder / "samples")
    extensions = folder / "data/SuperCollider/Extensions"
    extensions.parent.mkdir(parents=True)
    extensions.symlink_to(folder_of("SCS_SUPERDIRT"))
    if server == "module":
        load_module(session, port)
    child = sclang.start(SCRIPT, program, port, dirt_port, samples, folder=folder, env=session.env)
    try:
        child.wait_output("STEP ready", timeout=60)
        if not session.links():
            session.connect(node, "test-sink")
        with Recording(session, folder / "heard.wav") as recording:
            play(dirt_port, port)
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


def assert_said_nothing_wrong(performance):
    # sclang asks again for what a busy machine answers late.
    said = performance.output.replace("FAILURE IN SERVER /notify notify: already registered", "")
    assert not re.search(r"FAILURE|ERROR|WARNING|late|not be found|without connection", said), said
    assert not re.search(r"crash|late|fail", performance.daemon), performance.daemon
    assert performance.lost == 0


def click_times(samples, count):
    """Frames at which the clicks begin, which come first, and are told apart by being loud."""
    return np.array(audio.impulses(samples[:, 0], 0.01, RATE // 4)[:count])


def levels(samples, times, seconds):
    """The level of each part that begins at one of `times`, in seconds after the first click, in dB."""
    first = click_times(samples, 1)[0]
    frames = [first + int(at * RATE) for at in times]
    return [20 * np.log10(audio.rms(samples[start:start + int(seconds * RATE)]) + 1e-9) for start in frames]
