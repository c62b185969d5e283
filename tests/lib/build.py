# SPDX-License-Identifier: GPL-3.0-or-later
"""The build under test: the folder `build`, or the one that the environment's SCS_BUILD names (below the repository's
root, if it isn't absolute)."""
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("SCS_BUILD", "build")
PW_SCSYNTH = BUILD / "src/cli/pw-scsynth"

# The user's own UGens and SynthDefs are none of a test's business.
for variable in [name for name in os.environ if name.startswith("SC_")]:
    del os.environ[variable]
os.environ["XDG_DATA_HOME"] = str(BUILD / "no-data")
# Builds know only where it will be installed.
os.environ["SCS_UGEN_PROBE"] = str(BUILD / "src/probe/pw-scsynth-probe")
os.environ["SCS_INSTRUMENTS"] = str(ROOT / "examples/instruments")
