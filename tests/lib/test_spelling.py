# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from tools import spelling


@pytest.mark.parametrize("before, after", [
    ("std::size_t n = 0;", "size_t n = 0;"),
    ("const ::std::uint32_t a;", "const uint32_t a;"),
    ("f(static_cast<std::size_t>(x + 1))", "f(size_t(x + 1))"),
    ("static_cast<float>(static_cast<int>(x))", "float(int(x))"),
    ("std::vector<std::uint8_t> v; // std::size_t\nstd::int64_t x;", "std::vector<uint8_t> v; // std::size_t\nint64_t x;"),
    ("'\"' + std::size_t(1) + '\"'", "'\"' + size_t(1) + '\"'"),
    ("n = 3'900'000 + std::size_t(1);", "n = 3'900'000 + size_t(1);"),
])
def test_is_rewritten(before, after):
    assert spelling.rewritten(before) == after
    assert spelling.places(before)
    assert spelling.places(after) == []


@pytest.mark.parametrize("text", [
    "size_t n = size_t(x);", "static_cast<Synth*>(node)", "static_cast<unsigned char>(c)", "static_cast<std::byte>(1)",
    "static_cast<char*>(p)", "// std::size_t", "/* std::size_t\n std::size_t */", '"std::size_t"', 'R"(std::size_t ")"',
    "using std::size_t;", "std::size_type x;",
])
def test_stays(text):
    assert spelling.rewritten(text) == text
    assert spelling.places(text) == []


def test_a_place_has_its_line():
    assert spelling.places("int a;\n\nstd::size_t b;") == [(3, "std::size_t", "size_t")]
