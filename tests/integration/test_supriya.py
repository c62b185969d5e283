# SPDX-License-Identifier: GPL-3.0-or-later
"""supriya as the client of the running server."""
import json
import re
import time
from pathlib import Path

import numpy as np
import pytest

from tests.lib import audio, supriya
from tests.lib.daemon import ROOT
from tests.lib.recording import Recording

SCRIPT = Path(__file__).with_name("supriya_client.py")
RATE = 48000


@pytest.fixture(scope="module")
def found(playing, tmp_path_factory):
    python = supriya.python()
    folder = tmp_path_factory.mktemp("supriya")
    audio.write_wav(folder / "sound.wav", np.zeros((4800, 2)), RATE)
    with Recording(playing.session, folder / "heard.wav") as recording:
        output = playing.session.run(python, SCRIPT, playing.port, folder / "sound.wav", timeout=60)
        recording.wait(0.2)
    heard, _ = audio.read_wav(recording.path)
    return json.loads(output.splitlines()[-1]) | {"heard": audio.trim(heard[:, 0])}


def test_logs_in(found):
    assert found["client_id"] in range(4)


def test_tree_shows_the_synth(found):
    assert f"{found['synth']} tone" in found["tree"]
    assert "tone" not in found["tree_after"]


def test_synth_is_heard_and_controlled(found):
    heard = found["heard"]
    assert 2.0 <= len(heard) / RATE <= 3.0
    assert audio.frequency(heard[RATE // 4:RATE * 3 // 4], RATE) == pytest.approx(550, abs=0.1)
    assert audio.frequency(heard[-RATE * 3 // 4:-RATE // 4], RATE) == pytest.approx(660, abs=0.1)
    assert found["controls"] == {"frequency": 660}


def test_buffers(found):
    assert found["range"] == [0.25, 0.5, 0.75]
    assert found["file"] == [4800, 2, RATE]


def test_the_lines_of_the_documents_bind(ours, playing, client):
    documents = [ROOT / "docs/keys.md", ROOT / "docs/control.md"]
    lines = "".join(document.read_text(encoding="utf-8") for document in documents)
    bound = {int(number) for number in re.findall(r'server.send\(\["/bind_\w+", (\d+)', lines)}
    assert len(bound) > 10
    tree = playing.session.run(supriya.python(), SCRIPT.with_name("supriya_docs.py"), playing.port, *documents, timeout=60)
    assert " ping\n" in tree
    client.send("/bind_free", *sorted(bound))
    client.sync()
    assert not [message for message in client.inbox if message.address == "/fail"]


def test_version(found):
    assert found["version"][0] == 3
