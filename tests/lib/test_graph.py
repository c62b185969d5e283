# SPDX-License-Identifier: GPL-3.0-or-later
from tests.lib.graph import merged_dumps

NODE = '{ "id": 30, "type": "PipeWire:Interface:Node", "info": { "state": "%s" } }'


def test_one_dump():
    assert [item["id"] for item in merged_dumps(f"[{NODE % 'idle'}]")] == [30]


def test_nothing():
    assert merged_dumps("\n") == []


def test_what_went_meanwhile_is_gone():
    gone = '[ { "id": 30, "info": null } ]'
    assert merged_dumps(f"[{NODE % 'idle'}]\n{gone}\n") == []
    assert merged_dumps(f'[ {{ "id": 39, "info": null }} ]\n[{NODE % "idle"}]')[0]["id"] == 30


def test_what_changed_meanwhile_is_new():
    changed = merged_dumps(f"[{NODE % 'idle'}]\n[{NODE % 'running'}]")
    assert [item["info"]["state"] for item in changed] == ["running"]
