# SPDX-License-Identifier: GPL-3.0-or-later
"""A session of supriya with a running server; runs in supriya's own environment.

Arguments: port, a sound file. Prints one JSON object of what it found."""
import json
import sys
import time

import supriya
from supriya.ugens import EnvGen, Out, SinOsc


@supriya.synthdef()
def tone(frequency=440, amplitude=0.2, gate=1):
    envelope = EnvGen.kr(envelope=supriya.Envelope.asr(0.01, 1, 0.01), gate=gate, done_action=2)
    Out.ar(bus=0, source=[SinOsc.ar(frequency=frequency) * envelope * amplitude] * 2)


def main(port, sound_file):
    found = {}
    server = supriya.Server().connect(port=int(port), ip_address="127.0.0.1", maximum_logins=4)
    found["client_id"] = server.client_id
    server.add_synthdefs(tone)
    server.sync()
    group = server.root_node.add_group()
    synth = group.add_synth(tone, frequency=550)
    server.sync()
    time.sleep(1.0)
    found["tree"] = str(server.query_tree())
    found["synth"] = int(synth)
    synth.set(frequency=660)
    server.sync()
    time.sleep(1.0)
    found["controls"] = dict(server.get_synth_controls(synth, "frequency"))
    with server.at(time.time() + 0.2):
        synth.free()
    buffer = server.add_buffer(channel_count=1, frame_count=512)
    server.sync()
    buffer.set_range(0, [0.25, 0.5, 0.75])
    server.sync()
    found["range"] = list(buffer.get_range(0, 3))
    file_buffer = server.add_buffer(file_path=sound_file)
    server.sync()
    info = server.query_buffer(file_buffer).items[0]
    found["file"] = [info.frame_count, info.channel_count, info.sample_rate]
    time.sleep(0.5)
    found["tree_after"] = str(server.query_tree())
    version = server.query_version()
    found["version"] = [version.major, version.minor]
    server.disconnect()
    print(json.dumps(found))


main(*sys.argv[1:])
