# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever has a row in a table of the sources is in the documents and in the tests, too; CONTRIBUTING.md, "Adding", says
where. A failure ends with the names that are missing there."""
import json
import re

from tests.hostile import garbage, seeds
from tests.lib import tables
from tests.lib.build import ROOT
from tests.oracle import ugens


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def test_commands_are_in_docs_commands_md():
    missing = tables.commands() - set(re.findall(r"/\w+", text("docs/commands.md"))) - {"/none", "/nrt_end"}
    assert not missing, missing


def test_commands_are_in_garbage_py():
    """But for what ends the server, and what does nothing."""
    missing = tables.commands() - set(garbage.COMMANDS) - {"/quit", "/none", "/nrt_end"}
    assert not missing, missing


def test_commands_are_in_seeds_py():
    missing = set(garbage.COMMANDS) - seeds.reached()
    assert not missing, missing


def test_commands_are_in_test_rt_commands_cpp():
    sent = re.findall(r'(?:m|osc_message|send)\(\{?"(/\w+)"', text("tests/host/test-rt-commands.cpp"))
    missing = tables.commands() - set(sent)
    assert not missing, missing


def test_figures_of_a_server_are_in_docs_commands_md_and_in_the_schema():
    told = re.findall(r'figures(?:\.count)?\("([a-z-]+)"', text("src/osc/commands-lists.cpp"))
    table = text("docs/commands.md").partition("- `/server_info`:")[2].partition("|---|---|")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z, -]+) \|", table, re.MULTILINE)
    assert set(told) == {figure for row in rows for figure in row.split(", ")}
    server = json.loads(text("docs/status.schema.json"))["properties"]["server"]
    names = {figure.replace("-", "_") for figure in told}
    assert names == set(server["required"]) == set(server["properties"])


def test_native_units_are_in_docs_native_ugens_md():
    """RandID stays SuperCollider's, and has a row that says so."""
    listed = set(text("docs/native-ugens.md").partition("## What is native\n")[2].partition("\n\nAll")[0].split())
    different = listed ^ (tables.native_units() - {"RandID"})
    assert not different, different


def test_native_units_are_in_a_score_that_scsynth_plays_too():
    played = {unit for path in (ROOT / "tests/oracle").glob("*/*.scsyndef")
              for one in ugens.read(path.read_bytes()) for unit in one.units}
    missing = tables.native_units() - played
    assert not missing, missing
