# SPDX-License-Identifier: GPL-3.0-or-later
import json

from tools import counts

DOCTEST = "[doctest] test cases:  7 |  5 passed | 2 failed | 0 skipped\n[doctest] assertions: 9 |\n"


def program(**fields):
    return {"name": "x", "stdout": "", "result": "OK", "returncode": 0} | fields


def meson(*programs):
    return counts.of_meson_log("\n".join(json.dumps(program) for program in programs) + "\n")


def test_doctest_cases_are_counted():
    found = meson(program(stdout=DOCTEST, result="FAIL", returncode=1),
                  program(stdout=DOCTEST.replace("2 failed", "0 failed")))
    assert (found.passed, found.failed) == (10, 2)


def test_failed_cases_of_doctest_have_names():
    rule = "=" * 79 + "\n"
    failed = (f"{rule}a.cpp:1:\nTEST CASE:  good\n\na.cpp:2: MESSAGE: m\n\n{rule}a.cpp:3:\nTEST CASE:  bad\n"
              "  in a part\n\na.cpp:5: ERROR: CHECK( 1 == 2 ) is NOT correct!\n  values: CHECK( 1 == 2 )\n\n"
              "a.cpp:6: ERROR: CHECK( 2 == 3 ) is NOT correct!\n\n"
              f"{rule}b.cpp:1:\nTEST CASE:  worse\n\nb.cpp:2: FATAL ERROR: REQUIRE( x ) is NOT correct!\n\n")
    found = meson(program(stdout=failed + DOCTEST, result="FAIL", returncode=1))
    assert found.failures == ["x: bad: CHECK( 1 == 2 ) is NOT correct!", "x: worse: REQUIRE( x ) is NOT correct!"]
    assert found.failed == 2


def test_skipped_cases_of_doctest_are_counted_by_name():
    """A case that isn't run, and one that doctest counts as passed."""
    found = meson(program(stdout="[skipped] a: slow\n[skipped on the way] b: no root\n"
                          + DOCTEST.replace("2 failed", "0 failed").replace("0 skipped", "1 skipped")))
    assert (found.passed, found.failed, found.skipped) == (4, 0, ["x: a: slow", "x: b: no root"])


def test_a_skipped_case_without_a_name_is_counted():
    found = meson(program(stdout=DOCTEST.replace("2 failed", "0 failed").replace("0 skipped", "2 skipped")))
    assert (found.passed, len(found.skipped)) == (5, 2)


def test_cases_of_other_files_are_not_skipped():
    found = meson(program(stdout="[of other files] 90\n[skipped] a: slow\n"
                          + DOCTEST.replace("2 failed", "0 failed").replace("0 skipped", "92 skipped")))
    assert (found.passed, found.skipped) == (5, ["x: a: slow", "x: a case, see its log"])


def test_coloured_output_is_counted():
    assert meson(program(stdout=DOCTEST.replace("5 passed", "\x1b[0;32m5 passed\x1b[0m"))).passed == 5


def test_pytest_within_meson_is_counted():
    found = meson(program(stdout="....s.\n2 failed, 4 passed, 1 skipped in 0.38s\n", result="FAIL"))
    assert (found.passed, found.failed, len(found.skipped)) == (4, 2, 1)


def test_pytest_within_meson_says_what_failed_and_why_a_test_was_skipped():
    found = meson(program(stdout="SKIPPED [2] ../tests/m/test_m.py:205: no room\nFAILED ../tests/m/test_m.py::test_a[1] - "
                          "assert 1 < 0\nERROR tests/m/test_m.py::test_b\n2 failed, 4 passed, 3 skipped in 0.38s\n",
                          result="FAIL", returncode=1))
    assert found.failures == ["x: test_m.py::test_a[1] - assert 1 < 0", "x: test_m.py::test_b"]
    assert found.skipped == ["x: test_m.py:205: no room"] * 2 + ["x: see its log"]


def test_another_program_is_one_case():
    assert (meson(program()).passed, meson(program(result="FAIL", returncode=1)).failed) == (1, 1)


def test_a_crash_after_passing_cases_is_a_failure():
    found = meson(program(stdout=DOCTEST.replace("2 failed", "0 failed"), result="FAIL",
                          returncode=-11))
    assert (found.passed, found.failed, found.failures) == (5, 1, ["x: FAIL, status -11"])


def test_a_time_out_is_a_failure():
    assert meson(program(result="TIMEOUT", returncode=-15)).failed == 1


def test_a_skip_tells_its_reason():
    found = meson(program(result="SKIP", returncode=77, stdout="no lua\n"))
    assert found.skipped == ["x: no lua"] and found.passed == 0


def test_junit():
    found = counts.of_junit(
        '<testsuites><testsuite><testcase classname="a" name="ok"/>'
        '<testcase classname="a" name="bad"><failure message="m"/></testcase>'
        '<testcase classname="a" name="worse"><error message="m&#10;n"/></testcase>'
        '<testcase classname="a" name="not"><skipped message="why"/></testcase>'
        '</testsuite></testsuites>')
    assert (found.passed, found.failed, found.skipped) == (1, 2, ["a.not: why"])
    assert found.failures == ["a.bad: m", "a.worse: m"]
    assert found.line() == "1 passed, 2 failed, 1 skipped"


def junit(**outcomes):
    """A report of tests and what became of each: an element's name, or nothing."""
    cases = "".join(f'<testcase classname="c" name="{name}">{f"<{outcome}/>" if outcome else ""}</testcase>'
                    for name, outcome in outcomes.items())
    return f"<testsuites><testsuite>{cases}</testsuite></testsuites>"


def test_what_passes_by_itself_has_passed_and_is_named():
    first = junit(a="", b="failure", c="error", d="failure", e="skipped")
    found = counts.again(first, junit(b="", c="failure", d="skipped"))
    assert (found.passed, found.failed, found.alone, len(found.skipped)) == (2, 2, ["c.b"], 1)
    assert counts.again(first, junit()).failed == 3
    once_more = counts.again(first, junit(b="", c="failure", d="failure"), junit(c="", d="failure"))
    assert (once_more.passed, once_more.failed, once_more.alone) == (3, 1, ["c.b", "c.c"])
    assert once_more.failures == ["c.d: "]


def test_the_last_lines_name_what_failed(capsys):
    assert counts.end(counts.Counts(passed=1, failed=1, skipped=["s: why"], failures=["f: why"])) == 1
    assert capsys.readouterr().out.splitlines() == ["skipped: s: why", "failed: f: why", "1 passed, 1 failed, 1 skipped"]
