# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from tools import layers

TABLE = """# Title
| `elsewhere` | another table |

## The folders, bottom up; each may use those above it in the table

| folder | what lives there |
|---|---|
| `src/low` | leaves, used by `src/high` |
| `src/left`, `src/right` | side by side |
| `src/high` | roof |
| `spa/plugins/scsynth` | the node |

## Threads
| `src/no` | not of the table |
"""


@pytest.fixture
def tree(tmp_path):
    """`tree({path: text})` writes files below a root with a table; what is wrong with them."""
    def check(files=None, table=TABLE):
        files = {"docs/architecture.md": table, "src/low/leaf.hpp": "", "src/high/roof.hpp": "", "src/left/a.hpp": "",
                 "src/right/b.hpp": "", "spa/plugins/scsynth/settings.hpp": ""} | (files or {})
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return layers.problems(tmp_path)
    return check


def test_what_lies_below_may_be_included(tree):
    assert tree({"src/high/roof.cpp": '#include "high/roof.hpp"\n#include "low/leaf.hpp"\n#include <vector>\n',
                 "src/left/a.cpp": '#include "a.hpp"\n',
                 "spa/plugins/scsynth/node.cpp": '#include "settings.hpp"\n  #  include "high/roof.hpp"\n'}) == []


@pytest.mark.parametrize("source, name, target", [
    ("src/low/leaf.cpp", "high/roof.hpp", "src/high/roof.hpp"),
    ("src/low/leaf.cpp", "../high/roof.hpp", "src/high/roof.hpp"),
    ("src/left/a.hpp", "right/b.hpp", "src/right/b.hpp"),
    ("src/high/roof.hpp", "settings.hpp", "spa/plugins/scsynth/settings.hpp"),
])
def test_an_include_that_climbs_is_found(tree, source, name, target):
    assert tree({source: f'// SPDX\n#include "{name}"\n'}) == [f"{source} includes {target}, which is above it"]


def test_tests_and_benchmarks_are_no_exception(tree):
    assert tree({"src/low/test-leaf.cpp": '#include "high/roof.hpp"\n', "src/low/fuzz-leaf.cpp": '#include "high/roof.hpp"\n',
                 "tests/engine/test-a.cpp": '#include "b.hpp"\n', "bench/b.hpp": ""},
                TABLE.replace("| `spa", "| `tests/engine` | tests |\n| `bench` | benchmarks |\n| `spa")) == [
        "src/low/fuzz-leaf.cpp includes src/high/roof.hpp, which is above it",
        "src/low/test-leaf.cpp includes src/high/roof.hpp, which is above it",
        'tests/engine/test-a.cpp includes "b.hpp", which is not there']


def test_a_product_that_includes_its_tests_is_found(tree):
    assert tree({"src/high/roof.cpp": '#include "host.hpp"\n', "tests/host/host.hpp": ""}, TABLE.replace(
        "\n## Threads", "| `tests/host` | the host |\n\n## Threads")) == [
        "src/high/roof.cpp includes tests/host/host.hpp, which is above it"]


def test_a_folder_that_the_table_lacks_is_found(tree):
    assert tree({"src/no/a.cpp": '#include "high/roof.hpp"\n'}) == ["src/no is not in the table of docs/architecture.md"]


def test_a_row_without_a_folder_is_found(tree):
    table = TABLE.replace("`src/high`", "`src/higher`").replace("`src/low`", "`src/low`, `src/high`")
    assert tree(table=table) == ["docs/architecture.md names src/higher, which is no folder"]


def test_an_include_of_nothing_is_found(tree):
    assert tree({"src/low/leaf.cpp": '#include "gone.hpp"\n'}) == ['src/low/leaf.cpp includes "gone.hpp", which is not there']


def test_what_meson_makes_lies_in_its_folder(tree):
    recipe = {"src/high/meson.build": "configure_file(output : 'made.hpp', configuration : {})\n"}
    assert tree(recipe | {"src/high/roof.cpp": '#include "made.hpp"\n'}) == []
    assert tree(recipe | {"src/low/leaf.cpp": '#include "high/made.hpp"\n'}) == [
        "src/low/leaf.cpp includes src/high/made.hpp, which is above it"]


def test_without_a_table_all_is_wrong(tree):
    assert tree(table="# Title\n") == ["docs/architecture.md has no table of folders"]
