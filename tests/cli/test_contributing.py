# SPDX-License-Identifier: GPL-3.0-or-later
"""The private daemon of CONTRIBUTING.md."""
import re
import subprocess

from tests.lib import session_config
from tests.lib.build import BUILD
from tests.lib.daemon import ROOT
from tests.lib.ports import free_port


def commands():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = re.search(r"\*\*By hand, in a private daemon\.\*\*.*?\n\n((?:    .*\n)+)", text)[1]
    return re.sub(r"^    ", "", block, flags=re.M).replace("57345", str(free_port())).replace(
        "$PWD/build/", f"{BUILD}/").replace("build/src/cli", f"{BUILD}/src/cli")


def test_the_private_daemon(tmp_path):
    script = commands()
    assert script.count("\n") > 5 and "pw-link -o" in script
    # In place of someone who waits until the program says that it is ready.
    script = script.replace("pw-link -o", "until pw-link -o 2> /dev/null | grep out_1; do sleep 0.1; done", 1)
    (home := tmp_path / "home").mkdir()
    env = session_config.environment(home)
    del env["PIPEWIRE_RUNTIME_DIR"]
    done = subprocess.run(["bash", "-m", "-c", f"set -e\nexport TMPDIR={tmp_path}\n{script}\nwait"], cwd=ROOT, env=env,
                          text=True, capture_output=True, timeout=60, check=False)
    assert re.search(r"^scsynth-\d+:out_1$", done.stdout, re.M), done.stdout + done.stderr
