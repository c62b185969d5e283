# SPDX-License-Identifier: GPL-3.0-or-later
"""SuperDirt, played as Tidal plays it, on our servers and on stock scsynth.

SCS_SUPERDIRT names a folder with the quarks SuperDirt and Vowel and, unless Debian's sc3-plugins-language is installed,
with the classes of sc3-plugins."""
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.clients import tidal
from tests.clients.conftest import PW_SCSYNTH, folder_of
from tests.lib import audio, scsynth, sclang
from tests.lib.daemon import ROOT
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.recording import Recording

SCRIPT = Path(__file__).with_name("superdirt.scd")
RATE = 48000
STOCK = "exec pw-jack scsynth"
# What was heard differs by chance: noise, random phases, where in its cycle an oscillator was.
TOLERANCE_DB = 3.0


@dataclass
class Heard:
    steps: dict
    output: str     # sclang's
    daemon: str     # the daemon's log
    rejected: int   # packets that our server didn't take
    samples: np.ndarray


def samples_in(folder):
    """Sound files as SuperDirt finds them: a mono click, a stereo pad."""
    t = np.arange(RATE // 2) / RATE
    click = 0.9 * np.cos(2 * np.pi * 2000 * t[:480]) * np.exp(-t[:480] * 400)
    pad = [sum(np.sin(2 * np.pi * hz * n * t) / n for n in range(1, 8)) * 0.4 for hz in (110, 165)]
    for name, samples in {"click": click, "pad": np.stack(pad, axis=1)}.items():
        (folder / name).mkdir(parents=True)
        audio.write_wav(folder / name / f"{name}.wav", samples, RATE)
    return folder


def load_module(session, port):
    """The module with the settings that the README gives for SuperDirt."""
    found = re.search(r"SuperDirt wants.*?'\{ (.*?) \}'", (ROOT / "README.md").read_text(), re.DOTALL)
    session.pw_cli("load-module", "libpipewire-module-scsynth", f"{{ {found[1]} scsynth.osc.port = {port} }}")


def perform(session, server, folder):
    """Start SuperDirt on a server, play the piece, and end it. What was heard."""
    port, dirt_port = free_port(), free_port()
    node = scsynth.NODE if server == "stock" else f"scsynth-{port}"
    program = {"stock": STOCK, "module": "remote"}.get(server, f"exec {PW_SCSYNTH}")
    samples = samples_in(folder / "samples")
    extensions = folder / "data/SuperCollider/Extensions"
    extensions.parent.mkdir(parents=True)
    extensions.symlink_to(folder_of("SCS_SUPERDIRT", "SuperDirt", "Vowel"))
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
    lines = (line.split(" ", 2) for line in output.splitlines() if line.startswith("STEP "))
    return Heard({name: value for _, name, value in lines}, output, session.daemon.output(),
                 int(properties.get("scsynth.packets.rejected", 0)), audio.read_wav(folder / "heard.wav")[0])
