# SPDX-License-Identifier: GPL-3.0-or-later
"""The checker of JSON finds what is wrong."""
import pytest

from tests.lib.schema import mistakes

SCHEMA = {"type": "object", "required": ["a"], "additionalProperties": False,
          "properties": {"a": {"type": ["integer", "null"]}, "b": {"type": "array", "items": {"enum": ["x", "y"]}},
                         "c": {"type": "number"}, "d": {"type": "boolean"}}}


@pytest.mark.parametrize("value", [{"a": 1}, {"a": None, "b": [], "c": 1.5}, {"a": 2, "b": ["x", "y"], "c": 1, "d": True}])
def test_what_is_right(value):
    assert mistakes(value, SCHEMA) == []


@pytest.mark.parametrize("value", [{}, [], {"a": "1"}, {"a": 1.5}, {"a": True}, {"a": 1, "b": ["z"]}, {"a": 1, "b": "x"},
                                   {"a": 1, "c": None}, {"a": 1, "c": False}, {"a": 1, "d": 1}, {"a": 1, "e": 1}])
def test_what_is_wrong(value):
    assert len(mistakes(value, SCHEMA)) == 1


def test_keywords_that_it_does_not_know():
    with pytest.raises(AssertionError):
        mistakes(1, {"minimum": 1})
