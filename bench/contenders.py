# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is compared by bench/voices.py: scsynth, supernova, and ours with voices lone or batched, once for each
instruction set that this processor has. All of them compute on one core."""
import platform
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from bench.stands import Ours, Stock

POOL_KIB = 1 << 18
NODES = 1 << 16
MODES = {"lone": "false", "batched": "true"}
# The flags in /proc/cpuinfo that a set needs: x86-64-v3 and, for the last, the five of x86-64-v4.
_NEEDS = {"sse2": "sse2", "avx2": "avx2 bmi1 bmi2 fma f16c movbe",
          "avx512": "avx2 bmi1 bmi2 fma f16c movbe avx512f avx512bw avx512cd avx512dq avx512vl"}


@dataclass
class Contender:
    name: str
    program: str
    options: list = field(default_factory=list)   # of the command line
    settings: dict = field(default_factory=dict)  # of our node
    simd: str = ""

    @property
    def ours(self):
        return bool(self.settings)

    @property
    def mode(self):
        return self.name.split()[0] if self.ours else ""

    def offline(self, score, output, rate, pool_kib=POOL_KIB):
        """The command that renders a score."""
        return [self.program, "-N", score, "_", output, str(rate), "WAV", "float", "-o", "2", "-i", "0", "-D", "0",
                "-m", str(pool_kib), "-n", str(NODES), "-w", "512", *self.options]

    def stand(self):
        """The class of its Stand in a private session."""
        if self.ours:
            return type("OursAs", (Ours,), {"name": self.name, "settings": self.settings | {
                "rt-memory": POOL_KIB, "max-nodes": NODES}})
        return type("StockAs", (Stock,), {"name": self.name, "program": self.program, "options": (
            *self.options, "-m", str(POOL_KIB), "-n", str(NODES))})


def instruction_sets(flags):
    """Those of ours that a processor with such flags has; "auto" where there is nothing to choose from."""
    flags = set(flags.split())
    return [name for name, needed in _NEEDS.items() if flags.issuperset(needed.split())] or ["auto"]


def cpu_flags():
    found = re.search(r"^flags\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.M)
    return found.group(1) if found and platform.machine() == "x86_64" else ""


def contenders(build, sets):
    """(those that are here, what was left out and why)."""
    here, left_out = [Contender("scsynth", "scsynth")], []
    if shutil.which("supernova"):
        here.append(Contender("supernova", "supernova", ["-T", "1"]))
    else:
        left_out.append("supernova: not installed")
    program = str(build / "src/cli/pw-scsynth")
    for simd in sets:
        if simd != "auto" and not (build / f"src/engine/ugens/libugens-{simd}.a").exists():
            left_out.append(f"{simd}: not built, as the build is -Dsimd=native")
            continue
        for mode, batching in MODES.items():
            settings = {"native-ugens": "true", "batching": batching, "simd": simd, "threads": "1"}
            options = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
            here.append(Contender(f"{mode} {simd}", program, options, settings, simd))
    return here, left_out
