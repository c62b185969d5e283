# SPDX-License-Identifier: GPL-3.0-or-later
"""supriya boots servers of its own and renders a score; runs in supriya's own environment.

Arguments: pw-scsynth, a port, a folder. Prints one JSON object of what it found."""
import asyncio
import json
import sys
from pathlib import Path

import supriya
from supriya.ugens import EnvGen, Out, SinOsc


@supriya.synthdef()
def tone(frequency=440, amplitude=0.2, gate=1):
    envelope = EnvGen.kr(envelope=supriya.Envelope.asr(0.01, 1, 0.01), gate=gate, done_action=2)
    Out.ar(bus=0, source=[SinOsc.ar(frequency=frequency) * envelope * amplitude] * 2)


def boot(executable, port):
    """A server's life: the tree while a synth plays."""
    server = supriya.Server().boot(executable=executable, port=port, output_bus_channel_count=2,
                                   maximum_logins=4)
    server.add_synthdefs(tone)
    server.sync()
    synth = server.add_group().add_synth(tone, frequency=550)
    server.sync()
    tree = str(server.query_tree())
    synth.free()
    server.quit()
    return f"{int(synth)} tone" in tree


def boot_on_a_taken_port(executable, port):
    """What supriya raises."""
    first = supriya.Server().boot(executable=executable, port=port)
    try:
        supriya.Server().boot(executable=executable, port=port)
    except supriya.exceptions.ServerCannotBoot as error:
        return type(error).__name__
    finally:
        first.quit()
    return "nothing"


def render(executable, folder):
    """(exit status, the file as hexadecimal digits) of a score."""
    score = supriya.Score(output_bus_channel_count=2)
    with score.at(0):
        with score.add_synthdefs(tone):
            synth = score.add_synth(tone, frequency=660)
    with score.at(0.5):
        score.free_node(synth)
    path, status = asyncio.run(score.render(folder / f"{Path(executable).name}.aiff", duration=1.0,
                                            executable=executable))
    _, silent_status = asyncio.run(score.render(suppress_output=True, duration=1.0,
                                                executable=executable))
    return [status, silent_status, path.read_bytes().hex()]


def main(executable, port, folder):
    port, folder = int(port), Path(folder)
    print(json.dumps({
        "boots": [boot(executable, port) for _ in range(2)],
        "taken": boot_on_a_taken_port(executable, port),
        "rendered": render(executable, folder),
        "reference": render("scsynth", folder),
    }))


main(*sys.argv[1:])
