# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from tools import check


def test_without_arguments_what_a_newcomer_can_wait_for():
    assert check.chosen([]) == (list(check.QUICK), [], False)
    assert [stage for stage in check.STAGES if stage in check.QUICK] == list(check.QUICK)  # in the same order
    assert check.Check().kernels == ("-Dsimd=tests",)


@pytest.mark.parametrize("arguments", [["full"], ["--long"]])
def test_full_is_everything(arguments):
    names, named, full = check.chosen(arguments)
    assert (names, named, full) == (list(check.STAGES), [], True)
    assert check.Check(full=full).kernels == ("-Dsimd=all",)


def test_named_stages():
    assert check.chosen(["unit", "full", "asan"]) == (["unit", "asan"], ["unit", "asan"], True)


def test_what_there_is_no_time_for_is_named():
    late = 60.0 * (check.FULL_MINUTES - 1)
    assert check.no_time("aarch64", [], True, late) == "aarch64: 1 of 75 minutes were left; ./check aarch64 runs it"
    assert check.no_time("aarch64", [], True, 60.0) is None
    assert check.no_time("aarch64", ["aarch64"], True, late) is None
    assert [name for name in check.STAGES if check.no_time(name, [], True, late)] == ["packs", "clients", "aarch64"]
