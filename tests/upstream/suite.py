# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the classes of SuperCollider's test suite that use a server, and runs them in sclang."""
import ctypes
import os
import re
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.lib import sclang

SCRIPT = Path(__file__).with_name("run.scd")
CLASSES = Path(__file__).with_name("classes")
USES_SERVER = re.compile(r"\bServer\b|\bbootServer\b|\bs\.(boot|waitForBoot|bootSync)\b")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
CLASS = re.compile(r"^(\w+)\s*:\s*UnitTest\s*\{", re.MULTILINE)
TEST = re.compile(r"^\s*test_\w+", re.MULTILINE)
_PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Result:
    """The result of a test method: "pass", "FAIL", "ERROR" (sclang ended) or "LIMIT" (of time)."""
    outcome: str
    reasons: list[str] = field(default_factory=list)
    passed: int = 0  # assertions

    def __str__(self):
        return " | ".join([self.outcome, *self.reasons])


def server_classes(folder):
    """The names of the UnitTest classes in a folder that mention a server and have tests."""
    names = []
    for path in sorted(Path(folder).rglob("*.sc")):
        text = COMMENT.sub("", path.read_text(errors="replace"))
        starts = list(CLASS.finditer(text))
        ends = [start.start() for start in starts[1:]] + [len(text)]
        for start, end in zip(starts, ends):
            body = text[start.end():end]
            if USES_SERVER.search(body) and TEST.search(body):
                names.append(start[1])
    return names


def run_class(name, suite, program, folder, env, limit, leave_out=()):
    """Run a class's methods with a server program; {method: Result}. A method that takes longer than `limit`
    seconds is ended with its sclang; the rest run in another one. The logs are numbered in the folder."""
    results = {}
    for _ in range(100):
        number = len(list(folder.glob(f"{name}-*")))
        child = sclang.start(SCRIPT, program, name, *leave_out, *results, folder=folder / f"{name}-{number}", env=env,
                             classes=[suite, CLASSES])
        try:
            complete, running = _watch(child, limit, results)
        finally:
            child.stop()
            end_children()
        if complete:
            break
        if running is None:
            results["(class)"] = Result("ERROR", [child.output()[-300:]])
            break
    return results


def _watch(child, limit, results):
    """Read the script's output until it ends: (whether the script completed, the method in which it ended)."""
    seen, since, running, reasons = 0, time.monotonic(), None, []
    while True:
        alive = child.running()
        lines = [line for line in child.output().splitlines() if line.startswith("SUITE ")]
        for line in lines[seen:]:
            since = time.monotonic()
            words = line.split(" ", 3)
            if words[1] == "begin":
                running, reasons = words[2], []
            elif words[1] == "failed":
                reasons.append(words[3])
            elif words[1] == "done":
                results[words[2]] = Result("FAIL" if reasons else "pass", reasons, int(words[3]))
                running = None
            elif words[1] == "end":
                return True, None
        seen = len(lines)
        if not alive or time.monotonic() - since > limit:
            if running:
                reasons.append(f"longer than {limit:g} s" if alive else f"sclang ended with {child.returncode()}")
                results[running] = Result("LIMIT" if alive else "ERROR", reasons)
            return False, running
        time.sleep(0.05)


def adopt_orphans():
    """Become the parent of servers that outlive the sclang that booted them."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_children():
    """End the servers that an ended sclang left to this process, and wait for it."""
    for pid in _orphans():
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + 3
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)


def _orphans():
    """Child processes that are servers."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            name = (entry / "comm").read_text().strip()
        except OSError:
            continue
        if int(parent) == os.getpid() and "scsynth" in name:
            yield int(entry.name)
