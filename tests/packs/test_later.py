# SPDX-License-Identifier: GPL-3.0-or-later
"""UGen plugins of the plugin APIs of SuperCollider 3.15's development, beside those of 3.13: see later.cpp."""
import struct

import pytest

from tests.hostile.test_packets import unit

APIS = [4, 5, 6, 7]
SCALAR, CONTROL, AUDIO = 0, 1, 2
BLOCK = 64
BUS = 5


def definition(api, local):
    """One control, which ends the synth; `local`: with a buffer of its own, whose first sample is 0.25."""
    constants = [32.0, float(BUS), 1.0, 16.0, 0.0, 0.25]  # what it plays, its bus, then what LocalBuf and SetBuf need
    value, bus, one, frames, zero, quarter = [(-1, i) for i in range(len(constants))]
    units = [unit(b"Control", CONTROL, [], [CONTROL])]
    if local:
        units += [unit(b"MaxLocalBufs", SCALAR, [one], [SCALAR]),
                  unit(b"LocalBuf", SCALAR, [one, frames, (1, 0)], [SCALAR]),
                  unit(b"SetBuf", SCALAR, [(2, 0), zero, one, quarter], [SCALAR])]
    at = len(units)
    units += [unit(f"Later{api}".encode(), AUDIO, [value, (0, 0)], [AUDIO]),
              unit(b"A2K", CONTROL, [(at, 0)], [CONTROL]),
              unit(b"Out", CONTROL, [bus, (at + 1, 0)], [])]
    name = struct.pack(">i", 1) + b"\3end" + struct.pack(">i", 0)
    body = (b"\4evil" + struct.pack(f">i{len(constants)}f", len(constants), *constants) + struct.pack(">if", 1, 0.0)
            + name + struct.pack(">i", len(units)) + b"".join(units) + struct.pack(">h", 0))
    return at, b"SCgf" + struct.pack(">ih", 2, 1) + body


@pytest.fixture(params=APIS)
def api(request):
    return request.param


def bus_value(client, bus=BUS):
    return client.request("/c_get", bus, reply="/c_set").args[1]


def wait_bus(session, client, value, bus=BUS):
    session.wait_until(lambda: bus_value(client, bus) == value, f"bus {bus} at {value}")


def start(client, api, local=False):
    at, packet = definition(api, local)
    client.command("/d_recv", packet)
    client.send("/s_new", "evil", 1000, 0, 0)
    client.sync()
    return at


@pytest.mark.parametrize("local", [False, True], ids=["plain", "with a buffer of its own"])
def test_a_unit_plays_changes_and_ends(shared, client, api, local):
    at = start(client, api, local)
    more = 0.25 if local else 0
    wait_bus(shared.session, client, 32 / BLOCK + more)
    client.send("/u_cmd", 1000, at, "set", 16.0)
    wait_bus(shared.session, client, 16 / BLOCK + more)
    client.send("/n_set", 1000, "end", 1.0)
    shared.session.wait_until(lambda: client.request("/g_queryTree", 0, 0, reply="/g_queryTree.reply").args[2] == 0,
                              "the synth's end")


def test_a_units_asynchronous_command(shared, client, api):
    at = start(client, api)
    completion = b"/c_set\0\0,if\0" + struct.pack(">if", BUS + 1, 7.0)
    client.send("/u_cmd", 1000, at, "change", 8.0, 20, completion)
    client.wait("/done", lambda args: args == [f"/later{api}/change"])
    wait_bus(shared.session, client, 8 / BLOCK)
    wait_bus(shared.session, client, 7.0, BUS + 1)
    client.send("/c_set", BUS + 1, 0.0)
    client.send("/n_free", 1000)
    client.sync()


def test_a_synth_that_is_freed_while_its_unit_has_a_command_under_way(shared, client, api):
    """Its memory stays until then, its ID is free at once, and nothing follows."""
    at = start(client, api)
    logged = f"/later{api}: its synth has left"
    before = shared.log.count(logged)
    completion = b"/c_set\0\0,if\0" + struct.pack(">if", BUS + 1, 7.0)
    client.send("/u_cmd", 1000, at, "change", 8.0, 300, completion)
    client.send("/n_free", 1000)
    client.send("/s_new", "evil", 1000, 0, 0)
    client.sync()
    shared.session.wait_until(lambda: shared.log.count(logged) == before + 1, logged)
    client.sync()
    assert bus_value(client, BUS + 1) != 7.0
    wait_bus(shared.session, client, 32 / BLOCK)  # the new synth's
    client.send("/n_free", 1000)
    client.sync()


def test_commands_and_buffer_generators(shared, client, api):
    client.send("/cmd", f"/later{api}/bus", BUS + 2, float(api))
    client.wait("/done", lambda args: args == [f"/later{api}/bus"])
    assert bus_value(client, BUS + 2) == api
    client.command("/b_alloc", 4, 32)
    client.command("/b_gen", 4, f"later{api}", 0.5)
    assert client.request("/b_get", 4, 31, reply="/b_set").args == [4, 31, api + 0.5]
    client.command("/b_free", 4)


def test_graphs_as_plugins_find_them(shared, client, api):
    start(client, api)
    client.send("/cmd", f"/later{api}/controls", 1000)
    wait_bus(shared.session, client, 1.0, 0)
    client.send("/cmd", f"/later{api}/controls", 999)
    wait_bus(shared.session, client, -1.0, 0)
    client.send("/n_free", 1000)
    client.sync()
