# SPDX-License-Identifier: GPL-3.0-or-later
"""The auto-connection policy in a real WirePlumber, with null sinks and a stand-in node."""
import re

from daemons import wait_for
from links import STEREO, expect, ins, links_of, nothing_remembered, outs, remembered, remove_by_hand, witness
from tests.lib import wireplumber

LINK_CHANGE = re.compile(r"^(?:>> )?remote 0 (added|removed) global: \s*id \d+, type PipeWire:Interface:Link/", re.M)


def test_links_appear(session):
    session.add_dsp_node()
    graph = expect(session, outs("main"))
    for info in graph.links.values():
        assert "object.linger" not in info["props"]
        assert info["props"].get("link.passive", "false") == "false"


def test_the_sink_is_kept_awake(session):
    session.add_dsp_node()
    expect(session, outs("main"))
    session.wait_graph(lambda g: all(i["state"] == "active" for i in g.links.values()),
                       "active links")


def test_node_before_wireplumber(bare):
    bare.add_device("main")
    bare.add_dsp_node()
    bare.start_wireplumber()
    expect(bare, outs("main"))


def test_links_go_with_wireplumber(session):
    session.add_dsp_node()
    expect(session, outs("main"))
    session.stop_wireplumber()
    expect(session, set())
    session.start_wireplumber()
    expect(session, outs("main"))
    assert nothing_remembered(session)


def test_follows_the_default_sink(session):
    session.add_device("second")
    session.add_dsp_node()
    expect(session, outs("main"))
    session.set_default("sink", "second")
    expect(session, outs("second"))
    session.run("wpctl", "set-default", str(session.id_of("main")))
    expect(session, outs("main"))
    assert nothing_remembered(session)


def test_new_links_stand_before_old_ones_go(session):
    session.add_device("second")
    session.add_dsp_node()
    expect(session, outs("main"))
    # It prints what the registry says, in that order; pw-link's monitor collects changes, and sorts them by port.
    monitor = session.spawn("monitor", "stdbuf", "-oL", "pw-cli")
    log = session.folder / "monitor.log"
    # Asking for the graph is a change, too: another client comes.
    wait_for(lambda: session.graph() and "added global" in log.read_text(), "the monitor")
    session.set_default("sink", "second")
    expect(session, outs("second"))
    wait_for(lambda: LINK_CHANGE.findall(log.read_text()).count("removed") == 2, "the monitor's removals")
    session.stop(monitor)
    assert LINK_CHANGE.findall(log.read_text()) == ["added", "added", "removed", "removed"]


def test_another_sink_takes_over(session):
    session.add_device("second")
    session.add_dsp_node()
    expect(session, outs("main"))
    session.remove_node("main")
    expect(session, outs("second"))
    session.remove_node("second")
    expect(session, set())
    session.add_device("third")
    expect(session, outs("third"))
    assert nothing_remembered(session, "third")


def test_removed_by_the_user(session):
    session.add_device("second")
    session.add_dsp_node()
    expect(session, outs("main"))
    remove_by_hand(session)
    witness(session)
    rest = outs("main") - {("scsynth:out_1", "main:playback_FL")}
    assert links_of(session.graph()) == rest

    session.stop_wireplumber()
    session.start_wireplumber()
    expect(session, outs("main", node="witness"), "witness")
    expect(session, rest)
    session.set_default("sink", "second")
    expect(session, {("scsynth:out_2", "second:playback_FR")})


def test_asking_again_takes_the_removal_back(session):
    session.add_dsp_node()
    expect(session, outs("main"))
    remove_by_hand(session)
    session.set_metadata("scsynth", "scsynth.autoconnect", "true")
    expect(session, outs("main"))
    assert session.remembered() == {}


def test_extra_link_of_the_user_is_left(session):
    session.add_device("second")
    session.add_device("recorder", priority=1)
    session.add_dsp_node()
    expect(session, outs("main"))
    extra = ("scsynth:out_1", "recorder:playback_FR")
    session.link(*extra)
    expect(session, outs("main") | {extra})
    session.set_default("sink", "second")
    expect(session, outs("second") | {extra})


def test_port_the_user_linked_first_is_left_alone(session):
    session.add_device("second", priority=1)
    process = session.add_dsp_node(scsynth_autoconnect="false")
    first = ("scsynth:out_1", "second:playback_FR")
    session.link(*first)
    witness(session, "earlier") # so that the policy has seen the link
    process.stdin.write(b"scsynth.autoconnect=true\n")
    process.stdin.flush()
    alone = {first, ("scsynth:out_2", "main:playback_FR")}
    expect(session, alone)
    witness(session)
    assert links_of(session.graph()) == alone


def test_node_that_quit_is_removed(session):
    process = session.add_dsp_node()
    expect(session, outs("main"))
    process.stdin.write(b"scsynth.state=quit\n")
    process.stdin.flush()
    session.wait_graph(lambda g: "scsynth" not in g.ids, "the end of the node")


def test_linked_before_wireplumber(bare):
    bare.add_device("main")
    bare.add_dsp_node("second", outputs=0, inputs=1, media_class="Audio/Sink", scsynth_autoconnect="")
    bare.add_dsp_node()
    first = ("scsynth:out_1", "second:in_1")
    bare.link(*first)
    bare.start_wireplumber()
    alone = {first, ("scsynth:out_2", "main:playback_FR")}
    expect(bare, alone)
    witness(bare)
    assert links_of(bare.graph()) == alone


def test_switched_off_by_property(session):
    process = session.add_dsp_node(scsynth_autoconnect="false")
    witness(session)
    assert links_of(session.graph()) == set()
    process.stdin.write(b"scsynth.autoconnect=true\n")
    process.stdin.flush()
    expect(session, outs("main"))
    process.stdin.write(b"scsynth.autoconnect=false\n")
    process.stdin.flush()
    expect(session, set())
    assert nothing_remembered(session)


def test_an_idle_node_lets_the_devices_sleep(session):
    session.add_device("microphone", "Audio/Source/Virtual", priority=4000)
    process = session.add_dsp_node(inputs=2)
    second = ("scsynth:out_2", "main:playback_FR")
    both = outs("main") | ins("microphone")
    expect(session, both)
    remove_by_hand(session)
    rest = both - {("scsynth:out_1", "main:playback_FL")}
    process.stdin.write(b"scsynth.idle=true\n")
    process.stdin.flush()
    expect(session, set())
    session.link(*second)  # the user's own stays
    expect(session, {second})
    session.run("pw-link", "-d", *second)
    process.stdin.write(b"scsynth.idle=false\n")
    process.stdin.flush()
    expect(session, rest)
    assert remembered(session) == {"scsynth": "out_1"}


def test_switched_off_by_metadata(session):
    session.add_dsp_node()
    expect(session, outs("main"))
    session.set_metadata("scsynth", "scsynth.autoconnect", "false")
    expect(session, set())
    session.set_metadata("scsynth", "scsynth.autoconnect", "true")
    expect(session, outs("main"))


def test_other_nodes_are_not_touched(session):
    session.add_dsp_node("stranger", scsynth_autoconnect="")
    session.add_dsp_node("classed", media_class="Audio/Source")
    session.add_dsp_node("stream", media_class="Stream/Output/Audio", node_autoconnect="true")
    witness(session)
    graph = session.graph()
    assert links_of(graph, "stranger") == set()
    assert links_of(graph, "classed") == set()
    assert links_of(graph, "stream") == set()


def test_a_stream_that_mixers_list(session):
    session.add_device("second")
    node = session.add_dsp_node(inputs=2, media_class="Stream/Output/Audio")
    session.add_device("mic", "Audio/Source/Virtual", priority=4000)
    expect(session, outs("main") | ins("mic"))
    session.set_default("sink", "second")
    expect(session, outs("second") | ins("mic"))
    session.set_metadata("scsynth", "target.object", "main")
    expect(session, outs("main") | ins("mic"))
    # Its properties are watched.
    node.stdin.write(b"scsynth.idle=true\n")
    node.stdin.flush()
    expect(session, set())


def test_target_object(session):
    session.add_device("second")
    session.add_device("third")
    session.add_dsp_node(target_object="second")
    expect(session, outs("second"))
    session.set_metadata("scsynth", "target.object", "third")
    expect(session, outs("third"))
    session.run("pw-metadata", "-d", str(session.id_of("scsynth")), "target.object")
    expect(session, outs("second"))
    assert nothing_remembered(session)


def test_target_object_by_serial(session):
    session.add_device("second")
    # On a busy machine, pw-cli is gone before the daemon has told it all.
    said = wait_for(lambda: re.search(r'object\.serial = "(\d+)"', session.run("pw-cli", "info", "second")), "a serial")
    session.add_dsp_node(target_object=said[1])
    expect(session, outs("second"))


def test_dont_reconnect(session):
    session.add_device("second")
    session.add_dsp_node(node_dont__reconnect="true")
    expect(session, outs("main"))
    session.set_default("sink", "second")
    witness(session, sink="second")
    assert links_of(session.graph()) == outs("main")
    session.remove_node("main")
    witness(session, "later", sink="second")
    assert links_of(session.graph()) == set()


def test_effect_as_target(session):
    session.add_dsp_node("effect", inputs=2, scsynth_autoconnect="false")
    session.add_dsp_node(inputs=2, target_object="effect")
    expect(session, {("scsynth:out_1", "effect:in_1"), ("scsynth:out_2", "effect:in_2")})


def test_mono_sink(bare):
    bare.add_device("mono", position="MONO")
    bare.start_wireplumber()
    bare.add_dsp_node(outputs=4)
    expect(bare, outs("mono", ("MONO", "MONO")))


def test_eight_outputs(session):
    wide = ("FL", "FR", "FC", "LFE", "RL", "RR", "SL", "SR")
    session.add_device("wide", position=",".join(wide))
    session.add_dsp_node(outputs=8)
    expect(session, outs("main"))
    session.set_default("sink", "wide")
    expect(session, outs("wide", wide))
    session.set_default("sink", "main")
    expect(session, outs("main"))


def test_one_output(session):
    session.add_dsp_node(outputs=1)
    expect(session, outs("main", ("FL",)))


def test_two_nodes(session):
    session.add_device("second")
    session.add_dsp_node("scsynth")
    session.add_dsp_node("scsynth-57111", target_object="second")
    expect(session, outs("main"))
    expect(session, outs("second", node="scsynth-57111"), "scsynth-57111")


def test_inputs(session):
    session.add_device("mic", "Audio/Source/Virtual", priority=4000)
    session.add_device("mono_mic", "Audio/Source/Virtual", position="MONO", priority=3000)
    session.add_dsp_node(inputs=4)
    expect(session, outs("main") | ins("mic"))
    session.set_default("source", "mono_mic")
    expect(session, outs("main") | ins("mono_mic", ("MONO", "MONO")))


def test_a_monitor_is_no_source(session):
    session.add_dsp_node(inputs=2)
    expect(session, outs("main"))
    session.set_default("source", "main")
    wait_for(lambda: '"main"' in session.run("pw-metadata", "0", "default.audio.source"),
             "the sink as default source")
    witness(session)
    assert links_of(session.graph()) == outs("main")


def test_switched_off_for_one_user(bare):
    wireplumber.switch_off(bare.wireplumber_folder, bare.policy)
    bare.add_device("main")
    bare.start_wireplumber()
    bare.add_dsp_node()
    bare.wait_graph(lambda g: "main:playback_FL" in g.ports.values(), "the sink's ports")
    wait_for(lambda: "main" in bare.run("pw-metadata", "0", "default.audio.sink"), "the default")
    assert links_of(bare.graph()) == set()


def test_missing_script_does_not_stop_wireplumber(bare):
    bare.policy["scsynth-policy.lua"].unlink()
    bare.add_device("main")
    bare.start_wireplumber()
    wait_for(lambda: "main" in bare.run("pw-metadata", "0", "default.audio.sink"), "the default")
    bare.policy["scsynth-autoconnect.lua"].unlink()
    bare.stop_wireplumber()
    bare.run("pw-metadata", "-d", "0", "default.audio.sink")
    bare.start_wireplumber()
    wait_for(lambda: "main" in bare.run("pw-metadata", "0", "default.audio.sink"), "the default")
