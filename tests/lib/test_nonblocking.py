# SPDX-License-Identifier: GPL-3.0-or-later
import json

import pytest

from tools import nonblocking

PROGRAM = """#include "engine/base/nonblocking.hpp"
{helper}
int* render() noexcept SCS_NONBLOCKING;
int* render() noexcept {{ return helper(); }}
"""


def test_each_source_is_asked_about_once_with_its_options():
    entries = [{"directory": str(nonblocking.ROOT / "build"), "file": f"../{name}",
                "command": f"ccache c++ -Isrc -I.. -Wall -Werror -std=c++20 -isystem /usr/x -mavx{number} -DSCS_SIMD=x -o out -c ../{name}"}
               for number, name in enumerate(("src/a.cpp", "src/a.cpp", "src/test-a.cpp", "tests/b.cpp", "spa/c.cpp"))]
    found = nonblocking.commands(json.dumps(entries))
    assert list(found) == ["src/a.cpp", "spa/c.cpp"]
    assert found["src/a.cpp"] == [f"-I{nonblocking.ROOT}/build/src", f"-I{nonblocking.ROOT}", "-std=c++20",
                                  "-isystem/usr/x", "-mavx1",
                                  "-DSCS_SIMD=x"]
    assert list(nonblocking.commands(json.dumps(entries), "^spa")) == ["spa/c.cpp"]


def test_an_old_clang_isnt_asked(tmp_path, monkeypatch):
    for version, taken in (("14.0.6", False), ("20.1.0", True)):
        compiler = tmp_path / f"clang-{version}"
        compiler.write_text(f"#!/bin/sh\necho {version}\n")
        compiler.chmod(0o755)
        monkeypatch.setenv("SCS_CLANG", str(compiler))
        assert (nonblocking.clang() == str(compiler)) == taken


@pytest.mark.skipif(not nonblocking.clang(), reason="needs clang++ 20 or later")
@pytest.mark.parametrize("helper, well", [("static int* helper() noexcept { static int one; return &one; }", False),
                                          ("static int* helper() noexcept { return nullptr; }", True),
                                          ("static int* helper() noexcept { return new int; }", False)])
def test_what_allocates_is_named(tmp_path, helper, well):
    source = tmp_path / "render.cpp"
    source.write_text(PROGRAM.format(helper=helper))
    said = nonblocking.ask(nonblocking.clang(), str(source), [f"-I{nonblocking.ROOT}/src", "-std=c++20"])
    assert (said == "") == well
