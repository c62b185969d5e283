# SPDX-License-Identifier: GPL-3.0-or-later
"""How many test cases passed, failed and were skipped, from the reports of the test runners."""
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

_DOCTEST = re.compile(r"test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed \|\s*(\d+) skipped")
# What tests/doctest/main.cpp prints of the cases of a program that are another test's; of a case that wasn't run, and of
# one that gave up on the way: doctest says that it passed.
_ELSEWHERE = re.compile(r"^\[of other files\] (\d+)$", re.M)
_SKIPPED = re.compile(r"^\[skipped( on the way)?\] (.*)$", re.M)
# What doctest prints of a case that failed: its name, and the first thing that wasn't as it should be.
_FAILED = re.compile(r"^TEST CASE:  (.*)\n(?:(?!===|TEST CASE:).*\n)*?.*ERROR: (.*)$", re.M)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PYTEST = re.compile(r"^(?:=+ )?((?:\d+ \w+(?:, )?)+) in [\d.]+s", re.M)
# What pytest lists at its end, with -ra the skipped ones, too.
_PYTEST_FAILED = re.compile(r"^(?:FAILED|ERROR) \S*?([^/\s]+::.*)$", re.M)
_PYTEST_SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] \S*?([^/\s]+:\d+: .*)$", re.M)
_MESON_SKIP = 77


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: list = field(default_factory=list)
    alone: list = field(default_factory=list)  # those of the passed ones that failed beside others
    failures: list = field(default_factory=list)  # of the failed ones those that have a name: "name: why"

    def __add__(self, other):
        return Counts(self.passed + other.passed, self.failed + other.failed,
                      self.skipped + other.skipped, self.alone + other.alone, self.failures + other.failures)

    def line(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {len(self.skipped)} skipped" if self.skipped else "")


def end(total):
    """The end of a run: what was skipped and why, what failed, as often only the last lines are kept, and the line of
    counts; the exit status."""
    for reason in total.skipped:
        print(f"skipped: {reason}")
    for name in total.alone:
        print(f"passed only by itself: {name}")
    for failure in total.failures:
        print(f"failed: {failure}")
    print(total.line())
    return 1 if total.failed else 0


def of_meson_log(text):
    """The counts of a testlog.json: one JSON object a line, one test program each."""
    total = Counts()
    for line in filter(None, text.splitlines()):
        total += _of_program(json.loads(line))
    return total


def of_junit(text):
    """The counts of pytest's JUnit file."""
    total = Counts()
    for name, case in _cases(text):
        skip = case.find("skipped")
        if (why := _failure(case)) is not None:
            total.failed += 1
            total.failures.append(f"{name}: {_first_line(why.get('message'))}")
        elif skip is not None:
            total.skipped.append(f"{name}: {skip.get('message')}")
        else:
            total.passed += 1
    return total


def again(first, *later):
    """The counts of a run, of which the tests that failed were run again by themselves, once or until they passed: pytest's
    JUnit files of all."""
    found = of_junit(first)
    failed = {name for name, case in _cases(first) if _failure(case) is not None}
    found.alone = sorted(failed & {name for each in later for name, case in _cases(each) if not len(case)})
    found.passed += len(found.alone)
    found.failed -= len(found.alone)
    found.failures = [failure for failure in found.failures
                      if not any(failure.startswith(f"{name}: ") for name in found.alone)]
    return found


def _cases(text):
    for case in ElementTree.fromstring(text).iter("testcase"):
        yield f"{case.get('classname')}.{case.get('name')}", case


def _failure(case):
    """The element that tells why it failed, or None."""
    failure = case.find("failure")
    return case.find("error") if failure is None else failure


def _first_line(text):
    return (text or "").strip().split("\n")[0][:200]


def _of_program(test):
    """A program that is not OK counts as one failure at the least, whatever it printed."""
    output = _COLOUR.sub("", test.get("stdout") or "")
    if test["returncode"] == _MESON_SKIP:
        reason = output.strip().splitlines()[-1:] or ["no reason given"]
        return Counts(skipped=[f"{test['name']}: {reason[0]}"])
    found = _of_output(test["name"], output)
    if test["result"] != "OK":
        found.failed = max(found.failed, 1)
        found.failures = found.failures or [f"{test['name']}: {test['result']}, status {test['returncode']}"]
    elif not (found.passed or found.failed or found.skipped):
        found.passed = 1
    return found


def _of_output(name, output):
    if match := _DOCTEST.search(output):
        passed, failed, not_run = map(int, match.groups())
        found = _SKIPPED.findall(output)
        on_the_way = sum(bool(mark) for mark, _ in found)
        elsewhere = sum(map(int, _ELSEWHERE.findall(output)))
        unnamed = not_run - elsewhere - (len(found) - on_the_way)
        return Counts(passed - on_the_way, failed,
                      [f"{name}: {text}" for _, text in found] + [f"{name}: a case, see its log"] * unnamed,
                      failures=[f"{name}: {case}: {_first_line(why)}" for case, why in _FAILED.findall(output)])
    if match := _PYTEST.search(output):
        by_word = {word.rstrip("s"): int(number)
                   for number, word in re.findall(r"(\d+) (\w+)", match.group(1))}
        skipped = [f"{name}: {why}" for count, why in _PYTEST_SKIPPED.findall(output) for _ in range(int(count))]
        unnamed = by_word.get("skipped", 0) - len(skipped)
        return Counts(by_word.get("passed", 0), by_word.get("failed", 0) + by_word.get("error", 0),
                      skipped + [f"{name}: see its log"] * unnamed,
                      failures=[f"{name}: {why}" for why in _PYTEST_FAILED.findall(output)])
    return Counts()
