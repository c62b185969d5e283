# SPDX-License-Identifier: GPL-3.0-or-later
"""pw-scsynth status: what it says that a server has, beside what clients have made there and what older queries tell."""
import json
import subprocess
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.integration.conftest import SYNTHDEFS
from tests.lib import sclang
from tests.lib.answering import Answering
from tests.lib.build import ROOT
from tests.lib.osc import Client, Message, encode
from tests.lib.ports import free_port
from tests.lib.schema import mistakes

SCHEMA = json.loads((ROOT / "docs/status.schema.json").read_text(encoding="utf-8"))


def status(*options, env=None):
    """Run it to its end; (status, standard output, standard error)."""
    done = subprocess.run([PW_SCSYNTH, "status", *map(str, options)], env=env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def told(port, *options, env=None):
    """What the JSON has; it is as the schema says."""
    code, output, said = status("-u", port, "--json", *options, env=env)
    assert (code, said) == (0, ""), said
    found = json.loads(output)
    assert mistakes(found, SCHEMA) == []
    return found


def by_id(found):
    nodes = {node["id"]: node for node in found["nodes"]}
    assert len(nodes) == len(found["nodes"])
    return nodes


def values(controls):
    """{name: value, or bus} of those that have a name."""
    return {each["name"]: each.get("bus", each.get("value")) for each in controls if each["name"]}


def play(client):
    """Group 1 with synths 1000 to 1039, group 2 with the parallel group 3 and 1040 to 1044 in it."""
    client.command("/d_loadDir", str(SYNTHDEFS))
    client.send("/g_new", 1, 1, 0, 2, 1, 0)
    client.send("/p_new", 3, 0, 2)
    for number in range(45):
        client.send("/s_new", "test_sine", 1000 + number, 1, 1 if number < 40 else 3, "freq", 200.5 + number, "amp", 0.001)
    client.send("/n_run", 1002, 0)
    client.send("/n_map", 1003, "amp", 7)
    client.send("/n_mapa", 1003, "freq", 20)
    client.sync()


# What it says

def test_json(server, client, session):
    play(client)
    client.command("/b_alloc", 3, 100, 2)
    client.send("/b_setSampleRate", 3, 22050.0)
    client.send("/bind_keys", 5, "test_sine", 1, 2, "channel", 3, "set", "amp", 0.25)
    client.sync()
    found = told(server.port, env=session.env)
    assert (found["host"], found["port"], found["whole"]) == ("127.0.0.1", server.port, True)
    facts = found["server"]
    assert facts["program"] == "pw-scsynth"
    assert facts["version"] in subprocess.run([PW_SCSYNTH, "--version"], capture_output=True, text=True, check=True).stdout
    assert (facts["rate"], facts["graph_rate"], facts["quantum"], facts["block"]) == (48000, 48000, 1024, 64)
    assert (facts["synths"], facts["groups"]) == (45, 4)
    assert facts["synthdefs"] == len(found["synthdefs"]) >= len(list(SYNTHDEFS.glob("*.scsyndef")))
    assert 0 < facts["memory_free"] < facts["memory"]
    nodes = by_id(found)
    assert [node["id"] for node in found["nodes"]] == [0, 1, *range(1000, 1040), 2, 3, *range(1040, 1045)]
    assert [nodes[n]["parent"] for n in (0, 1, 2, 3, 1000, 1044)] == [None, 0, 0, 2, 1, 3]
    assert [nodes[n]["parallel"] for n in range(4)] == [False, False, False, True]
    assert [n for n in nodes if not nodes[n]["running"]] == [1002]
    for number in set(range(45)) - {3}:
        assert nodes[1000 + number]["synthdef"] == "test_sine"
        assert values(nodes[1000 + number]["controls"]) == {"out": 0, "freq": 200.5 + number, "amp": 0.001}
    assert values(nodes[1003]["controls"]) == {"out": 0, "freq": "a20", "amp": "c7"}
    definition = next(each for each in found["synthdefs"] if each["name"] == "test_sine")
    assert definition["synths"] == 45
    assert {each["name"]: each["default"] for each in definition["controls"]} == {"out": 0, "freq": 440, "amp": 0.2}
    assert found["buffers"] == [{"number": 3, "frames": 100, "channels": 2, "rate": 22050, "streams": False}]
    assert found["bindings"] == [{"id": 5, "command": "/bind_keys",
                                  "arguments": ["test_sine", 1, 2, "channel", 3, "set", "amp", 0.25]}]
    around = found["pipewire"]
    assert around["node"] == server.name
    # test-sink drives the graph; its description is its name.
    assert "sink" in around["driver"]
    assert {(each["type"], each["name"]) for each in around["devices"]} == {
        ("sink", "test-sink"), ("sink", "second-sink"), ("source", "test-source")}


def test_bindings_from_the_start(launch):
    """They are told as the commands that would make them, which do so."""
    server = launch("--bind", "default; test_sine channel 3 set amp 0.25 set pan -1 bend-range 12")
    found = told(server.port)["bindings"]
    assert [(each["id"], each["command"], each["arguments"]) for each in found] == [
        (-1, "/bind_keys", ["default"]),
        (-2, "/bind_keys", ["test_sine", "channel", 3, "set", "amp", 0.25, "set", "pan", -1, "bend-range", 12])]
    with Client(server.port) as client:
        for each in found:
            client.send(each["command"], each["id"], *each["arguments"])
        client.sync()
    assert told(server.port)["bindings"] == found


def test_lines_are_as_long_as_need_be_without_a_terminal(server, client):
    client.send("/bind_keys", 5, "test_sine", *("set", "amp", 0.25) * 60)
    client.sync()
    lines = status("-u", server.port)[1].splitlines()
    assert "     5  /bind_keys test_sine" + " set amp 0.25" * 60 in lines


def test_without_pipewire(server, client, tmp_path):
    play(client)
    found = told(server.port, env={"XDG_RUNTIME_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"})
    assert found["pipewire"] is None
    assert len(found["nodes"]) == 49


def test_lines(server, client, session):
    play(client)
    code, output, said = status("-u", server.port, env=session.env)
    assert (code, said) == (0, "")
    lines = output.splitlines()
    assert lines[0].startswith("pw-scsynth ")
    assert f" at 127.0.0.1:{server.port}, " in lines[0]
    assert f"  node     {server.name}" in lines
    assert "Nodes: 4 groups, 45 synths" in lines
    assert "      1000 test_sine           out 0  freq 200.5  amp 0.001" in lines
    assert "      1002 test_sine (paused)  out 0  freq 202.5  amp 0.001" in lines
    assert "      1003 test_sine           out 0  freq a20  amp c7" in lines
    assert "      ... 32 more synths" in lines
    assert "      3 parallel group" in lines
    assert not any("1039" in line for line in lines)
    assert all(line == line.rstrip() for line in lines)
    assert any("1039 test_sine" in line for line in status("-u", server.port, "--all")[1].splitlines())


def test_what_sclang_has_made(launch, session, tmp_path):
    server = launch("-l", 4)
    made = sclang.run(Path(__file__).with_name("status.scd"), server.port, folder=tmp_path / "home", env=session.env)
    group, synth, other, buffer, bus = map(int, sclang.steps(made)["made"].split())
    found = told(server.port)
    nodes = by_id(found)
    assert (nodes[synth]["parent"], nodes[other]["parent"]) == (group, group)
    assert (nodes[synth]["running"], nodes[other]["running"]) == (True, False)
    first = nodes[synth]["controls"]
    assert [(each["name"], each.get("bus", each.get("value"))) for each in first] == [
        ("out", 0), ("amp", f"c{bus}"), ("freqs", 100), (None, 200.5), (None, 300)]
    assert [each.get("value") for each in nodes[other]["controls"]] == [1, 0.125, 220, 330, 440]
    chord = next(each for each in found["synthdefs"] if each["name"] == "status_chord")
    assert [each["default"] for each in chord["controls"]] == [0, 0.125, 220, 330, 440]
    assert chord["synths"] == 2
    sizes = {each["number"]: (each["frames"], each["channels"]) for each in found["buffers"]}
    assert sizes[buffer] == (512, 2)


def test_as_the_tree_that_scsynth_tells(server, client):
    """/g_queryTree has the same nodes and values, in the same order."""
    play(client)
    tree = client.request("/g_queryTree", 0, 1, reply="/g_queryTree.reply").args
    expected, at = [], 1
    while at < len(tree):
        node, children = tree[at], tree[at + 1]
        at += 2
        if children >= 0:
            expected.append((node, None, {}))
            continue
        name, count = tree[at], tree[at + 1]
        pairs = tree[at + 2:at + 2 + 2 * count]
        at += 2 + 2 * count
        expected.append((node, name, dict(zip(pairs[::2], pairs[1::2]))))
    shown = [(node["id"], node.get("synthdef"), values(node.get("controls", []))) for node in told(server.port)["nodes"]]
    assert [each[:2] for each in shown] == [each[:2] for each in expected]
    for (_, _, ours), (_, _, theirs) in zip(shown, expected):
        assert ours == {name: value if isinstance(value, str) else pytest.approx(value, rel=1e-6)
                        for name, value in theirs.items()}


def test_two_thousand_nodes_while_notes_come_and_go(launch, session):
    server = launch("-n", 8192)
    with Client(server.port) as client, Client(server.port) as player:
        client.command("/d_loadDir", str(SYNTHDEFS))
        client.send("/g_new", 1, 1, 0, 2, 1, 1)
        for number in range(2000):
            client.send("/s_new", "test_sine", 1000 + number, 1, 1 + number % 2, "freq", float(number), "amp", 0.0)
        client.send("/n_run", 0, 0)  # they need not be computed
        client.send("/n_run", 0, 1, 1, 0)
        client.sync()
        over = threading.Event()

        def play_notes():
            note = 10_000
            while not over.wait(0.002):
                player.send("/s_new", "test_sine", note, note % 2, note % 3)
                if note >= 10_020:
                    player.send("/n_free", note - 20)
                note += 1

        notes = threading.Thread(target=play_notes)
        notes.start()
        try:
            for env in (session.env, None, session.env, None):  # by the Unix socket, and by UDP
                found = told(server.port, env=env)
                nodes = by_id(found)
                assert set(range(1000, 3000)) <= set(nodes)
                assert found["whole"]
                assert all(values(nodes[1000 + n]["controls"])["freq"] == n for n in range(2000))
                assert len(nodes) > 2003  # some of the notes
        finally:
            over.set()
            notes.join()


def test_pages_are_bounded(launch):
    """However many nodes there are, an answer is no longer than a datagram may be."""
    server = launch("-n", 8192)
    with Client(server.port) as client:
        client.command("/d_loadDir", str(SYNTHDEFS))
        for number in range(3000):
            client.send("/s_new", "test_sine", 1000 + number, 1, 0, "amp", 0.0)
        client.send("/n_run", 0, 0)
        client.sync()
        places, seen, pages = [], [], 0
        while places is not None:
            args = client.request("/n_list", 0, *places, reply="/n_list.reply").args
            assert len(encode(Message("/n_list.reply", *args))) < 32768
            seen += [args[i + 1] for i, each in enumerate(args) if each == "synth"]
            places = list(args[args.index("next") + 1:]) if "next" in args else None
            pages += 1
        assert seen == list(range(1000, 4000))
        assert pages >= 3
        # Many at once, by their IDs, and those that are not there.
        asked = [1000 + 3 * n for n in range(1200)]
        present, missing = [], []
        while asked:
            args = client.request("/n_status", *asked, reply="/n_status.reply").args
            assert len(encode(Message("/n_status.reply", *args))) < 32768
            present += [args[i + 1] for i, each in enumerate(args) if each == "synth"]
            missing += [args[i + 1] for i, each in enumerate(args) if each == "none"]
            asked = asked[args[args.index("next") + 1]:] if "next" in args else []
        assert present == list(range(1000, 4000, 3))
        assert missing == list(range(4000, 4600, 3))


# With whom it talks

def test_with_a_password(launch):
    port = free_port()
    launch("-t", port, "-p", "secret", port=port)
    assert json.loads(status("-t", port, "-p", "secret", "--json")[1])["port"] == port
    code, output, said = status("-t", port, "-p", "wrong")
    assert (code, output) == (1, "")
    assert f"no server answers at 127.0.0.1:{port}" in said


def test_without_a_server(server, session):
    port = free_port()
    code, output, said = status("-u", port, env=session.env)
    assert (code, output) == (1, "")
    assert said.startswith(f"ERROR: pw-scsynth: no server answers at 127.0.0.1:{port}\n")
    assert f"PipeWire has \"{server.name}\": pw-scsynth status -u {server.port}" in said


@pytest.mark.parametrize("answer, text", [
    (lambda message: encode(Message("/fail", message.address, "Command not found")), "it is scsynth, or an older"),
    (lambda message: encode(Message("/fail", message.address, "\x1b[2J\n")), r"refuses /server_info: \x1b[2J\x0a"),
    (lambda message: encode(Message(f"{message.address}.reply", 1, "x")), "not as this program knows it"),
    (lambda message: encode(Message(f"{message.address}.reply", "x" * 60000, "y" * 5000)) if message.address == "/server_info"
     else b"\0" * 16, "no server answers at"),
    (lambda message: b"nonsense", "no server answers at"),
    (lambda message: None, "no server answers at"),
], ids=["stock", "escapes", "other", "half", "nonsense", "silent"])
def test_servers_of_another_kind(answer, text):
    with Answering(answer) as other:
        code, output, said = status("-u", other.port)
    assert (code, output) == (1, "")
    assert text in said
    assert "\x1b" not in said


@pytest.mark.parametrize("options, text", [(("-x",), "status: -x: no such option\npw-scsynth status --help"),
                                           (("-u", 0), "expected a port"), (("a",), "a: no such option")])
def test_wrong_options(options, text):
    code, output, said = status(*options)
    assert (code, output) == (1, "")
    assert text in said


def test_help():
    code, output, said = status("--help")
    assert (code, said) == (0, "")
    assert output.startswith("usage: pw-scsynth status")
