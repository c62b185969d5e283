# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the WirePlumber of this system looks for our policy, below its folder of configuration and scripts."""
import functools
import re
import shutil
import subprocess
from pathlib import Path

STOCK = Path("/usr/share/wireplumber")
SOURCE = Path(__file__).resolve().parents[2] / "wireplumber"
SCRIPTS = {"scsynth-autoconnect.lua": "scripts"} | {
    f"scsynth-{module}.lua": "scripts/lib" for module in ("devices", "graph", "keyboards", "policy", "streams")}


@functools.cache
def version():
    """(major, minor)"""
    text = subprocess.run(["wireplumber", "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.search(r"(\d+)\.(\d+)\.\d+", text).groups()))


def reads_lua():
    """Whether it is 0.4, whose configuration is Lua."""
    return version() < (0, 5)


def configuration():
    """(name, folder) of the file that loads the policy, as it is installed."""
    return ("90-scsynth.lua", "policy.lua.d") if reads_lua() else ("90-scsynth.conf", "wireplumber.conf.d")


def install_policy(folder):
    """Copy the policy below WirePlumber's folder; {name: path}."""
    name, below = configuration()
    places = {name: folder / below / name}
    places |= {script: folder / below / script for script, below in SCRIPTS.items()}
    for each, place in places.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / each, place)
    return places


def switch_off(folder, places):
    """As wireplumber/README.md says for one user."""
    if reads_lua():
        places["90-scsynth.lua"].write_text("")
    else:
        (folder / "wireplumber.conf.d/99-no-scsynth.conf").write_text(
            "wireplumber.profiles = { main = { custom.scsynth = disabled } }\n")
