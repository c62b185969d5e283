# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tables in the sources have rows for."""
import re

from tests.lib.build import ROOT


def commands():
    """The names of the OSC commands."""
    return _names("src/osc/commands-*.cpp", r'\.name = "(/\w+)"')


def native_units():
    """The names of the units that have a row in a family of kernels."""
    return _names("src/engine/ugens/*.cpp", r'{"(\w+)",')


def _names(sources, row):
    found = {name for source in ROOT.glob(sources) for name in re.findall(row, source.read_text(encoding="utf-8"))}
    if not found:
        raise LookupError(f"no row in {sources}")
    return found
