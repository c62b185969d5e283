# SPDX-License-Identifier: GPL-3.0-or-later
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.lib import audio
from tests.lib.build import PW_SCSYNTH, ROOT
from tests.lib.daemon import Session

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pw-scsynth/clients"
# Where tools/clients puts them, unless an environment variable names another folder.
FOLDERS = {"SCS_SONIC_PI": Path("/usr/lib/sonic-pi"), "SCS_SUPERDIRT": CACHE / "superdirt",
           "SCS_SUPERCOLLIDERJS": CACHE / "supercolliderjs/node_modules", "SCS_OVERTONE": CACHE / "overtone"}
# Of scsynth's ports the tests link those that they need.
SERVERS = {"ours": PW_SCSYNTH,
           "stock": "env SC_JACK_DEFAULT_INPUTS= SC_JACK_DEFAULT_OUTPUTS= pw-jack /usr/bin/scsynth"}
RELAY = """\
#!/bin/sh
unset LD_LIBRARY_PATH
cd {root}
exec /usr/bin/python3 -B -m tests.clients.relay {log} -- {server} "$@"
"""
FAILING = "#!/bin/sh\nexit 1\n"


@pytest.fixture(scope="module")
def session():
    """A private session with the policy, shared by a module's tests."""
    with Session(policy=True) as session:
        session.force_quantum(1024)
        yield session
        assert session.daemon.running(), session.logs()


@dataclass
class Scsynth:
    """A program `scsynth` that clients find first in their `path`. It records the OSC traffic."""
    program: Path
    path: str
    log: Path


@pytest.fixture(scope="module")
def listen(tmp_path_factory):
    """`listen("ours")` makes a Scsynth, and keeps clients from starting a jackd."""
    def make(kind):
        folder = tmp_path_factory.mktemp(f"bin-{kind}")
        found = Scsynth(folder / "scsynth", f"{folder}:{os.environ['PATH']}", folder / "log.json")
        texts = {"scsynth": RELAY.format(root=ROOT, log=found.log, server=SERVERS[kind]),
                 "jackd": FAILING, "jack_connect": FAILING}
        for name, text in texts.items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        return found
    return make


@dataclass
class Heard:
    """The traffic between a client and its server: how often each address was sent, and the arguments of each /fail."""
    sent: dict
    answers: dict
    fails: list

    @classmethod
    def of(cls, scsynth):
        return cls(**json.loads(scsynth.log.read_text()))


def folder_of(variable):
    """A client's folder: one of FOLDERS, or the one that the environment's variable names."""
    return Path(os.environ.get(variable) or FOLDERS[variable])


def needs(variable, *names):
    """A mark: skip unless these are in the client's folder."""
    lacking = [name for name in names if not (folder_of(variable) / name).exists()]
    return pytest.mark.skipif(bool(lacking), reason=f"tools/clients wasn't run: {folder_of(variable)} has no "
                                                    f"{', '.join(lacking)} ({variable} names another folder)")


def steps(output):
    """The values of the lines "STEP name value"."""
    lines = (line.split(" ", 2) for line in output.splitlines() if line.startswith("STEP "))
    return {name: value for _, name, value in lines}


def tone(folder):
    """A WAV file of half a second."""
    audio.write_wav(folder / "tone.wav", 0.4 * np.sin(2 * np.pi * 500 * np.arange(24000) / 48000), 48000)
    return folder / "tone.wav"
