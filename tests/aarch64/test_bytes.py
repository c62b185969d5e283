# SPDX-License-Identifier: GPL-3.0-or-later
"""Random scores, and those of every native unit, give the same bytes on aarch64 as on x86-64. The environment's
SCS_EMULATED is the command that runs the aarch64 build's pw-scsynth."""
import os
import shlex

import pytest

from tests.oracle import native
from tests.oracle.batches import Score
from tests.oracle.same_bytes import difference, different_voices, render, render_events, samples

EMULATED = shlex.split(os.environ["SCS_EMULATED"])
SETTINGS = {"native-ugens": "true", "supercollider": "3.14"}
# As in tests/oracle/test_batches.py, but shorter: emulated, a score takes some hundred times as long.
SEEDS = (1, 3, 7)
SECONDS = 1.0
# SuperCollider's own units, which its makers' compilers contract to fused multiply-adds on aarch64.
BINARY_SYNTHDEF = "mixed"  # with a CuspN
BINARY_UNITS = ("Rotate2",)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"seed-{seed}")
@pytest.mark.parametrize("batching", ["true", "false"], ids=["batches", "lone"])
def test_scores(seed, batching, tmp_path):
    score = Score(seed, SECONDS, tmp_path)
    score.events = [(time, *(message for message in messages if message[:2] != ("/s_new", BINARY_SYNTHDEF)))
                    for time, *messages in score.events]
    settings = SETTINGS | {"batching": batching}
    here = render(score, tmp_path, settings)
    assert samples(here).any()
    found = difference(score, here, render(score, tmp_path, settings, EMULATED))
    assert not found, found


@pytest.mark.parametrize("family", native.families())
def test_every_unit(family, tmp_path):
    """NaNs may have different bits: what is no number has another sign when each processor makes it."""
    channels = native.CHANNELS[family.endswith(native.EXTREME)]
    events, end, played = native.score(family, tmp_path)
    here, there = (samples(render_events(events, end, tmp_path, SETTINGS, channels, program), channels)
                   for program in (None, EMULATED))
    assert here.shape == there.shape
    assert here.any()
    found = [line for line in different_voices(played, here, there) if native.unit_of(line) not in BINARY_UNITS]
    assert not found, "\n".join(found)
