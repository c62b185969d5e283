# SPDX-License-Identifier: GPL-3.0-or-later
"""The policy beside the desktop's mixers, recorders and patchbays, and what a device may be called."""
import json
import re

import pytest

from daemons import wait_for
from links import expect, ins, links_of, outs, remove_by_hand, witness

MIXER = {"media_class": "Stream/Output/Audio"}
RESTARTS = 15


def serial(session, name):
    objects = json.loads(session.run("pw-dump", name))
    return next(str(item["info"]["props"]["object.serial"]) for item in objects
                if item["type"].endswith(":Node") and item["info"]["props"]["node.name"] == name)


def move(session, sink, node="scsynth"):
    """As pipewire-pulse does for a mixer, which writes -1 for the default sink."""
    by_id, by_serial = ("-1", "-1") if sink is None else (str(session.id_of(sink)), serial(session, sink))
    session.set_metadata(node, "target.node", by_id, "Spa:Id")
    session.set_metadata(node, "target.object", by_serial, "Spa:Id")


def wireplumber_remembers(session, sink):
    """Wait until its state has that sink as a stream's target, or none if that is None."""
    def target():
        texts = [path.read_text() for path in session.state_file.parent.glob("*stream*")]
        found = re.search(r"target\W{1,8}(\w+)", "\n".join(texts))
        return found and found[1]
    wait_for(lambda: target() == sink, f"WirePlumber's memory of {sink}")


def restart_node(session, process, **settings):
    session.stop(process)
    session.wait_graph(lambda g: "scsynth" not in g.ids, "the node's end")
    return session.add_dsp_node(**settings)


# Mixers

def test_moved_to_the_default_sink(session):
    session.add_device("second")
    session.add_dsp_node(**MIXER)
    expect(session, outs("main"))
    move(session, "second")
    expect(session, outs("second"))
    move(session, None)
    expect(session, outs("main"))
    session.set_default("sink", "second")
    expect(session, outs("second"))


def test_moved_to_the_default_sink_from_a_named_one(session):
    session.add_device("second")
    session.add_device("mic", "Audio/Source/Virtual", priority=4000)
    session.add_device("line", "Audio/Source/Virtual", priority=100)
    session.add_dsp_node(inputs=2, scsynth_sink="second", scsynth_source="line", scsynth_strict__device="true", **MIXER)
    expect(session, outs("second") | ins("line"))
    move(session, None)
    # -1 is said of the stream as a whole.
    expect(session, outs("main") | ins("mic"))


def test_moving_the_outputs_leaves_the_inputs(session):
    session.add_device("second")
    session.add_device("mic", "Audio/Source/Virtual", priority=4000)
    session.add_device("line", "Audio/Source/Virtual", priority=100)
    session.add_dsp_node(inputs=2, scsynth_source="line", **MIXER)
    expect(session, outs("main") | ins("line"))
    move(session, "second")
    expect(session, outs("second") | ins("line"))


def test_the_property_target_object_may_be_the_default_too(session):
    session.add_dsp_node(target_object="-1")
    expect(session, outs("main"))


def test_a_mixers_choice_is_remembered_at_the_next_start(session):
    session.add_device("second")
    process = session.add_dsp_node(**MIXER)
    expect(session, outs("main"))
    move(session, "second")
    expect(session, outs("second"))
    wireplumber_remembers(session, "second")
    process = restart_node(session, process, **MIXER)
    expect(session, outs("second"))
    move(session, None)
    expect(session, outs("main"))
    wireplumber_remembers(session, None)
    restart_node(session, process, **MIXER)
    expect(session, outs("main"))


def test_a_named_device_comes_before_a_remembered_one(session):
    session.add_device("second")
    session.add_device("third")
    process = session.add_dsp_node(**MIXER)
    expect(session, outs("main"))
    move(session, "second")
    expect(session, outs("second"))
    wireplumber_remembers(session, "second")
    restart_node(session, process, scsynth_sink="third", state_restore__target="false", **MIXER)
    expect(session, outs("third"))
    witness(session)
    assert links_of(session.graph()) == outs("third")


# Programs that tap others

@pytest.mark.parametrize("media_class", ["Stream/Input/Audio", None])
def test_a_tap_does_not_take_the_place_of_the_device(session, media_class):
    session.add_dsp_node("tap", outputs=0, inputs=2, scsynth_autoconnect="",
                         **({"media_class": media_class} if media_class else {"node_autoconnect": "false"}))
    process = session.add_dsp_node(scsynth_autoconnect="false")
    taps = {("scsynth:out_1", "tap:in_1"), ("scsynth:out_2", "tap:in_2")}
    for link in taps:
        session.link(*link)
    witness(session, "earlier")  # so that the policy has seen the links
    process.stdin.write(b"scsynth.autoconnect=true\n")
    process.stdin.flush()
    expect(session, taps | outs("main"))


def test_a_monitor_does_not_take_the_place_of_the_source(session):
    session.add_device("mic", "Audio/Source/Virtual", priority=4000)
    process = session.add_dsp_node(outputs=0, inputs=2, scsynth_autoconnect="false")
    monitor = ("main:monitor_FL", "scsynth:in_1")
    session.link(*monitor)
    witness(session, "earlier")  # so that the policy has seen the link
    process.stdin.write(b"scsynth.autoconnect=true\n")
    process.stdin.flush()
    expect(session, ins("mic") | {monitor})


def test_a_source_that_was_linked_by_hand_takes_the_place_of_the_default(session):
    session.add_device("mic", "Audio/Source/Virtual", priority=4000)
    session.add_device("line", "Audio/Source/Virtual", priority=100)
    process = session.add_dsp_node(outputs=0, inputs=2, scsynth_autoconnect="false")
    by_hand = ("line:capture_FR", "scsynth:in_1")
    session.link(*by_hand)
    witness(session, "earlier")
    process.stdin.write(b"scsynth.autoconnect=true\n")
    process.stdin.flush()
    alone = {by_hand, ("mic:capture_FR", "scsynth:in_2")}
    expect(session, alone)
    witness(session)
    assert links_of(session.graph()) == alone


# Recorders

@pytest.fixture
def recorded(session):
    """A node that has both kinds of default devices, and whose mixer lists it."""
    session.add_device("mic", "Audio/Source/Virtual", priority=4000)
    session.add_dsp_node(inputs=2, **MIXER)
    expect(session, outs("main") | ins("mic"))
    return session


def recording(session, *options, target="scsynth", name="recorder"):
    return session.spawn(name, "pw-record", "-P", f"{{ node.name={name} }}", f"--target={target}", *options,
                         str(session.folder / f"{name}.wav"))


def taken_from(source, name="recorder"):
    """The links of a stereo recorder."""
    ports = ("out_1", "out_2") if source == "scsynth" else ("capture_FL", "capture_FR")
    return {(f"{source}:{port}", f"{name}:input_{c}") for port, c in zip(ports, ("FL", "FR"))}


@pytest.mark.parametrize("props", [
    None,
    "node.dont-reconnect=true",  # without a target, WirePlumber ends such a stream
    "stream.capture.sink=true",
])
def test_a_recorder_gets_our_outputs(recorded, props):
    options = ("-P", f"{{ node.name=recorder {props} }}") if props else ()
    process = recording(recorded, *options)
    expect(recorded, taken_from("scsynth"), "recorder")
    witness(recorded)
    graph = recorded.graph()
    assert links_of(graph, "recorder") == taken_from("scsynth")
    assert process.poll() is None
    assert links_of(graph) == outs("main") | ins("mic") | taken_from("scsynth")


def test_a_recorder_by_serial(recorded):
    recording(recorded, target=serial(recorded, "scsynth"))
    expect(recorded, taken_from("scsynth"), "recorder")


def test_a_mono_recorder_has_both_outputs_mixed(recorded):
    recording(recorded, "--channels=1")
    expect(recorded, taken_from("scsynth"), "recorder")


def test_a_mono_server_in_a_mono_recorder(session):
    session.add_device("mic", "Audio/Source/Virtual", priority=4000)
    session.add_dsp_node(outputs=1, **MIXER)
    recording(session, "--channels=1")
    expect(session, {("scsynth:out_1", "recorder:input_MONO")}, "recorder")


def test_a_recorder_that_is_moved_goes(recorded):
    recording(recorded)
    expect(recorded, taken_from("scsynth"), "recorder")
    recorded.set_metadata("recorder", "target.object", serial(recorded, "mic"), "Spa:Id")
    expect(recorded, taken_from("mic"), "recorder")
    recorded.set_metadata("recorder", "target.object", serial(recorded, "scsynth"), "Spa:Id")
    expect(recorded, taken_from("scsynth"), "recorder")
    recorded.remove_node("scsynth")
    expect(recorded, taken_from("mic"), "recorder")


def test_recorders_go_on_when_wireplumber_restarts(recorded):
    recording(recorded)
    expect(recorded, taken_from("scsynth"), "recorder")
    recorded.stop_wireplumber()
    expect(recorded, set(), "recorder")
    recorded.start_wireplumber()
    expect(recorded, taken_from("scsynth"), "recorder")


def test_a_sink_that_others_keep_running_while_wireplumber_restarts(session):
    """WirePlumber 0.4.13 can't give it a format then, in some of these restarts."""
    session.add_device("second")
    session.add_dsp_node()
    expect(session, outs("main"))
    for _ in range(RESTARTS):
        session.run("pw-link", "main:monitor_FL", "second:playback_FL", check=False)  # it may still be there
        session.wait_graph(lambda graph: ("main:monitor_FL", "second:playback_FL") in graph.links, "the other program's link")
        session.stop_wireplumber()
        session.start_wireplumber()
        expect(session, outs("main"))


def test_other_recorders_are_wireplumbers(recorded):
    recording(recorded, target="mic")
    expect(recorded, taken_from("mic"), "recorder")


def test_a_player_plays_into_our_inputs(recorded, tmp_path):
    raw = tmp_path / "silence.wav"
    recorded.run("sox", "-n", "-r", "48000", "-c", "2", str(raw), "trim", "0", "20")
    recorded.spawn("player", "pw-play", "-P", "{ node.name=player }", "--target=scsynth", str(raw))
    expect(recorded, {("player:output_FL", "scsynth:in_1"), ("player:output_FR", "scsynth:in_2")}, "player")


# Patchbays

def test_a_removal_counts_for_that_start_alone(session):
    process = session.add_dsp_node()
    expect(session, outs("main"))
    remove_by_hand(session)
    restart_node(session, process)
    expect(session, outs("main"))
    wait_for(lambda: session.remembered() == {}, "the removal to be forgotten")


def test_a_device_chosen_by_hand_stays_until_it_goes(session):
    session.add_device("second")
    session.add_dsp_node(outputs=1)
    expect(session, outs("main", ("FL",)))
    session.link("scsynth:out_1", "second:playback_FL")
    remove_by_hand(session)
    expect(session, outs("second", ("FL",)))
    session.add_device("third", priority=3000)
    session.set_default("sink", "third")
    witness(session, sink="third")
    assert links_of(session.graph()) == outs("second", ("FL",))
    session.remove_node("second")
    expect(session, outs("third", ("FL",)))


def test_linked_by_hand_while_idle(session):
    session.add_device("second")
    process = session.add_dsp_node()
    expect(session, outs("main"))
    process.stdin.write(b"scsynth.idle=true\n")
    process.stdin.flush()
    expect(session, set())
    for link in outs("second"):
        session.link(*link)
    expect(session, outs("second"))
    witness(session, "earlier")  # so that the policy has seen the links
    process.stdin.write(b"scsynth.idle=false\n")
    process.stdin.flush()
    witness(session)
    assert links_of(session.graph()) == outs("second")
    session.remove_node("second")
    expect(session, outs("main"))


def test_linked_by_hand_beside_ours_before_it_was_idle(session):
    session.add_device("second")
    process = session.add_dsp_node()
    expect(session, outs("main"))
    extra = ("scsynth:out_1", "second:playback_FL")
    session.link(*extra)
    witness(session, "earlier")
    process.stdin.write(b"scsynth.idle=true\n")
    process.stdin.flush()
    expect(session, {extra})
    process.stdin.write(b"scsynth.idle=false\n")
    process.stdin.flush()
    expect(session, outs("main") | {extra})


# Devices

def add_card(session):
    """A sink and a source with the names of a sound card."""
    for name, media_class, description in (("alsa_output.usb-x_2i2", "Audio/Sink", "Scarlett 2i2 Analog Stereo"),
                                           ("alsa_input.usb-x_2i2", "Audio/Source/Virtual", "Scarlett 2i2 Input")):
        session.run("pw-cli", "create-node", "adapter",
                    "{ factory.name=support.null-audio-sink object.linger=1 "
                    f"node.name={name} media.class={media_class} audio.position=[FL,FR] priority.session=10 "
                    f'node.description="{description}" node.nick="USB Audio" alsa.card_name="Focusrite" }}')
        session.wait_graph(lambda g, name=name: name in g.ids, name)


@pytest.mark.parametrize("name", ["alsa_output.usb-x_2i2", "Scarlett 2i2 Analog Stereo", "scarlett", "usb audio", "Focusrite",
                                  "2I2"])
def test_a_device_by_part_of_a_name(session, name):
    add_card(session)
    session.add_dsp_node(inputs=2, scsynth_sink=name, scsynth_source="focus")
    expect(session, outs("alsa_output.usb-x_2i2") | ins("alsa_input.usb-x_2i2"))


def test_a_device_that_comes_later(session):
    session.add_dsp_node(scsynth_sink="Scarlett")
    expect(session, outs("main"))
    add_card(session)
    expect(session, outs("alsa_output.usb-x_2i2"))
    session.remove_node("alsa_output.usb-x_2i2")
    expect(session, outs("main"))


def test_this_device_or_none(session):
    session.add_device("mic", "Audio/Source/Virtual", priority=4000)
    session.add_dsp_node(inputs=2, scsynth_sink="Scarlett", scsynth_strict__device="true")
    expect(session, ins("mic"))
    witness(session)
    assert links_of(session.graph()) == ins("mic")
    add_card(session)
    expect(session, outs("alsa_output.usb-x_2i2") | ins("mic"))
    session.remove_node("alsa_output.usb-x_2i2")
    expect(session, ins("mic"))


@pytest.mark.parametrize("position", ["AUX2,AUX3", "[ AUX2 AUX3 ]", "3 4", "aux2, 4"])
def test_other_channels_than_the_first(session, position):
    session.add_device("wide", position="AUX0,AUX1,AUX2,AUX3", priority=10)
    session.add_dsp_node(scsynth_sink="wide", scsynth_sink__position=position)
    expect(session, outs("wide", ("AUX2", "AUX3")))


def test_other_channels_of_a_source(session):
    session.add_device("wide", "Audio/Source/Virtual", position="AUX0,AUX1,AUX2,AUX3", priority=4000)
    session.add_dsp_node(outputs=0, inputs=2, scsynth_source__position="AUX3,AUX0")
    expect(session, ins("wide", ("AUX3", "AUX0")))


def test_channels_that_a_device_lacks(session):
    session.add_device("wide", position="AUX0,AUX1,AUX2,AUX3", priority=10)
    session.add_dsp_node(outputs=3, scsynth_sink="wide", scsynth_sink__position="AUX1,AUX7,AUX0")
    expect(session, {("scsynth:out_1", "wide:playback_AUX1"), ("scsynth:out_3", "wide:playback_AUX0")})
    session.remove_node("wide")
    expect(session, outs("main"))  # which has none of them


def told(session, key, text):
    """Wait until the node was told that, and check that it was once."""
    log = session.folder / "scsynth.log"
    line = f"{key}: {text}\n"
    wait_for(lambda: line in log.read_text(errors="replace"), line)
    assert log.read_text(errors="replace").count(line) == 1


def test_what_is_missing_is_said(session):
    session.add_dsp_node(scsynth_sink="Scarlett", scsynth_sink__position="3,4")
    expect(session, outs("main"))
    told(session, "scsynth.notice", 'scsynth.sink: there is no sink "Scarlett" now; until it is there, the outputs are '
                                    'linked to the default one, "main"')
    told(session, "scsynth.notice", 'scsynth.sink-position: "main" has no channel 3, 4')


def test_outputs_go_to_the_channels_of_their_layout(session):
    session.add_device("surround", position="FL,FR,SL,SR,FC,LFE")
    session.add_dsp_node(outputs=7, scsynth_layout="FL FR FC LFE RL RR")
    expect(session, outs("main"))
    told(session, "scsynth.notice", 'scsynth.layout: "main" has no channel FC, LFE, RL, RR')
    session.set_default("sink", "surround")
    expect(session, outs("surround", ("FL", "FR", "FC", "LFE", "SL", "SR")))


def test_a_device_without_any_channel_of_the_layout_keeps_its_order(session):
    session.add_device("speaker", position="MONO", priority=3000)
    session.add_dsp_node(scsynth_layout="FL FR")
    expect(session, {("scsynth:out_1", "speaker:playback_MONO"), ("scsynth:out_2", "speaker:playback_MONO")})


# What nobody hears

def ask(process):
    process.stdin.write(b"scsynth.unheard=true\n")
    process.stdin.flush()


def test_the_reason_is_no_sink(bare):
    bare.start_wireplumber()
    ask(bare.add_dsp_node())
    told(bare, "scsynth.unheard", "PipeWire has no sink; connect a sound card or switch one on (wpctl status lists them)")


def test_the_reason_is_another_sink_than_asked_for(session):
    ask(session.add_dsp_node(scsynth_sink="Scarlett", scsynth_strict__device="true"))
    told(session, "scsynth.unheard", 'there is no sink "Scarlett" (scsynth.sink); pw-scsynth --devices lists those that '
                                     "there are")


def test_the_reason_is_that_the_named_device_is_no_sink(session):
    session.add_device("mic", "Audio/Source/Virtual")
    ask(session.add_dsp_node(scsynth_sink="mic", scsynth_strict__device="true"))
    told(session, "scsynth.unheard", "the device that scsynth.sink names plays no sound, and scsynth.strict-device "
                                     "allows no other")


def test_the_user_needs_no_reason(session):
    process = session.add_dsp_node(outputs=1)
    expect(session, outs("main", ("FL",)))
    remove_by_hand(session)
    ask(process)
    told(session, "scsynth.unheard", "")
    process.stdin.write(b"scsynth.unheard=false\n")
    process.stdin.flush()
    session.remove_node("main")
    ask(process)
    told(session, "scsynth.unheard", "PipeWire has no sink; connect a sound card or switch one on (wpctl status lists them)")
