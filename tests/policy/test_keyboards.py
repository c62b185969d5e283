# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyboards, and servers that have bindings from the start."""
from daemons import wait_for
from links import expect, outs, witness

INPUT = "scsynth:control_1"


def add_server(session, **props):
    session.add_dsp_node(control=["+in:control_1"], **props)


def add_keyboard(session, name="keyboard"):
    """With a port for each of two keyboards, as Midi-Bridge has it."""
    return session.add_dsp_node(name, 0, control=["+out:one", "+out:two"], scsynth_autoconnect="false")


def keys(name="keyboard"):
    return {(f"{name}:one", INPUT), (f"{name}:two", INPUT)}


def test_all_keyboards_are_linked_also_later_ones(session):
    add_keyboard(session)
    add_server(session, scsynth_bindings="keys")
    expect(session, outs("main") | keys())
    later = add_keyboard(session, "later")
    expect(session, outs("main") | keys() | keys("later"))
    session.stop(later)
    expect(session, outs("main") | keys())


def test_no_server_without_bindings(session):
    add_keyboard(session)
    add_server(session)
    expect(session, outs("main"))
    witness(session)
    expect(session, outs("main"))


def test_what_is_no_hardware_is_not_linked(session):
    session.add_dsp_node("program", 1, control=["+in:listens"], scsynth_autoconnect="false")
    add_server(session, scsynth_bindings="keys")
    expect(session, outs("main"))
    witness(session)
    expect(session, outs("main"))


def test_switched_off_for_a_node(session):
    add_keyboard(session)
    add_server(session, scsynth_bindings="keys")
    expect(session, outs("main") | keys())
    session.set_metadata("scsynth", "scsynth.autoconnect", "false")
    expect(session, set())
    session.set_metadata("scsynth", "scsynth.autoconnect", "true")
    expect(session, outs("main") | keys())


def test_a_link_that_the_user_removes_stays_away(session):
    add_keyboard(session)
    add_server(session, scsynth_bindings="keys")
    expect(session, outs("main") | keys())
    session.run("pw-link", "-d", "keyboard:one", INPUT)
    left = outs("main") | {("keyboard:two", INPUT)}
    expect(session, left)
    witness(session)
    expect(session, left)


def test_a_link_that_the_user_made_is_left_alone(session):
    add_keyboard(session)
    add_server(session, scsynth_bindings="keys", scsynth_autoconnect="false")
    session.link("keyboard:one", INPUT)
    session.set_metadata("scsynth", "scsynth.autoconnect", "true")
    expect(session, outs("main") | keys())
    session.set_metadata("scsynth", "scsynth.autoconnect", "false")
    expect(session, {("keyboard:one", INPUT)})


def test_switched_off_at_once(session):
    add_keyboard(session)
    add_server(session, scsynth_bindings="keys")
    session.set_metadata("scsynth", "scsynth.autoconnect", "false")
    witness(session)
    expect(session, set())


def test_links_of_keyboards_go_with_wireplumber_and_come_back(session):
    add_keyboard(session)
    add_server(session, scsynth_bindings="keys")
    expect(session, outs("main") | keys())
    session.stop_wireplumber()
    expect(session, set())
    session.start_wireplumber()
    expect(session, outs("main") | keys())
    wait_for(lambda: "Traceback" not in session.logs() and "attempt to" not in session.logs(), "no error in the scripts")
