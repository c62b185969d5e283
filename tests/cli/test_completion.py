# SPDX-License-Identifier: GPL-3.0-or-later
"""bash's completion offers what --help lists."""
import re
import shlex
import subprocess

import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.lib.daemon import ROOT

COMPLETION = ROOT / "completions/pw-scsynth"


def completed(*words, folder=None):
    """What bash would offer for the last of the words after the program's name."""
    words = ["pw-scsynth", *words]
    script = f"""compopt() {{ :; }}
        . {shlex.quote(str(COMPLETION))}
        COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}
        _pw_scsynth {shlex.join([str(PW_SCSYNTH), words[-1], words[-2]])}
        printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-u", "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return set(filter(None, done.stdout.splitlines()))


@pytest.fixture(name="help_text", scope="module")
def fixture_help_text():
    return subprocess.run([PW_SCSYNTH, "--help"], capture_output=True, text=True, check=True).stdout


def test_all_options(help_text):
    described = help_text.partition("Without effect")[0]
    assert completed("-") == set(re.findall(r"(?<=\s)--?[a-zA-Z][a-z-]*", described))
    assert completed("--ta") == {"--take-over"}


def test_all_keys(help_text):
    keys = re.findall(r"^    ([a-z.-]+) ", help_text, re.M)
    rows = re.findall(r"^\| `scsynth\.([a-z.-]+)` \|[^|]*\|[^|]*\| (\S*) *\|", (ROOT / "docs/settings.md").read_text(), re.M)
    assert {key for key, option in rows if not option} == set(keys)
    assert completed("--set", "") == {f"{key}=" for key in keys}
    assert completed("--set", "cpu") == {"cpu-limit="}


def test_top(help_text):
    assert completed("t") == {"top", "trace", "transport"}
    assert completed("to") == {"top"}
    assert "top" in help_text
    described = subprocess.run([PW_SCSYNTH, "top", "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"(?<=\s)--?[a-zA-Z][a-z-]*", described.partition("Keys:")[0]))
    assert completed("top", "-") == completed("top", "") == options
    assert "--json" in options
    assert completed("top", "--sort", "") == {"cost", "voices", "name"}
    assert completed("top", "-u", "") == set()
    assert "localhost" in completed("top", "localh")
    assert completed("top", "-u", "57120", "--js") == {"--json"}


def test_status(help_text):
    assert completed("st") == {"status"}
    assert "status" in help_text
    assert completed("status", "-") == completed("status", "") == {"-u", "-t", "-B", "-p", "-h", "--help", "--json", "--all"}
    assert completed("status", "-u", "") == set()
    assert completed("status", "-u", "57120", "--a") == {"--all"}


def test_trace(help_text, tmp_path):
    assert completed("tra") == {"trace", "transport"}
    assert completed("trac") == {"trace"}
    assert "trace" in help_text
    described = subprocess.run([PW_SCSYNTH, "trace", "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"(?<=\s)--?[a-zA-Z][a-z-]*", described.partition("chrome:")[2]))
    assert completed("trace", "-") == completed("trace", "") == options
    assert "--seconds" in options
    assert completed("trace", "--seconds", "") == completed("trace", "-u", "") == set()
    (tmp_path / "a.json").touch()
    assert completed("trace", "-o", "", folder=tmp_path) == {"a.json"}


def test_pointer(help_text):
    assert completed("poi") == {"pointer"}
    assert "pointer" in help_text
    assert completed("pointer", "-") == {"-u", "-t", "-B", "-p", "-h", "--help", "--keys"}
    assert completed("pointer", "-u", "") == set()


def test_transport(help_text):
    assert completed("tran") == {"transport"}
    assert "transport" in help_text
    assert completed("transport", "-") == {"-u", "-t", "-B", "-p", "-h", "--help", "--tempo", "--beats-per-bar"}
    assert completed("transport", "--tempo", "") == set()


def test_link(help_text):
    assert completed("li") == {"link"}
    assert "link" in help_text
    assert completed("link", "-") == {"-u", "-t", "-B", "-p", "-h", "--help", "--tempo"}
    assert completed("link", "--tempo", "") == set()


def test_gamepad(help_text):
    assert completed("ga") == {"gamepad"}
    assert "gamepad" in help_text
    assert completed("gamepad", "-") == {"-u", "-t", "-B", "-p", "-h", "--help"}


def test_values(tmp_path):
    (tmp_path / "score.osc").touch()
    (tmp_path / "folder").mkdir()
    assert completed("-D", "") == {"0", "1"}
    assert completed("-l", "") == set()
    assert completed("-P", "", folder=tmp_path) == {"folder"}
    assert completed("-N", "", folder=tmp_path) == {"folder", "score.osc"}
    assert completed("-N", "score.osc", "", folder=tmp_path) == {"folder", "score.osc"}
    assert completed("-N", "score.osc", "_", "out.wav", "-", folder=tmp_path) == completed("-")
    assert completed("--set", "synthdef-path", "=", folder=tmp_path) == {"folder", "score.osc"}
    assert completed("--set", "synthdef-path", "=", "fol", folder=tmp_path) == {"folder"}
