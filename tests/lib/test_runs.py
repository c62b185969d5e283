# SPDX-License-Identifier: GPL-3.0-or-later
import time

import pytest

from tools.runs import Broken, Late, Runner


def test_output_and_status(tmp_path):
    status, log = Runner(60, tmp_path).run("a", ["sh", "-c", "echo said; echo $WORD; exit 3"], {"WORD": "heard"})
    assert (status, log.read_text()) == (3, "said\nheard\n")


def test_what_runs_at_the_deadline_is_ended_and_named(tmp_path):
    runner = Runner(0.3, tmp_path)
    began = time.monotonic()
    with pytest.raises(Late, match="sleep 60(.|\n)*begun"):
        runner.run("a", ["sh", "-c", "echo begun; sleep 60"])
    with pytest.raises(Late):
        runner.run("b", ["sleep", "60"])
    assert time.monotonic() - began < 30


def test_a_program_that_is_not_there(tmp_path):
    with pytest.raises(Broken):
        Runner(60, tmp_path).run("a", [tmp_path / "nothing"])
