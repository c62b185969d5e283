# SPDX-License-Identifier: GPL-3.0-or-later
"""PipeWire's server for programs of PulseAudio, in a private session."""
import json
import shutil

import pytest

# As pipewire-pulse's own, without what it doesn't need here: to install that package would change the desktop's sound.
CONFIGURATION = """
context.spa-libs = { support.* = support/libspa-support }
context.modules = [
    { name = libpipewire-module-protocol-native }
    { name = libpipewire-module-client-node }
    { name = libpipewire-module-adapter }
    { name = libpipewire-module-metadata }
    { name = libpipewire-module-protocol-pulse args = { server.address = [ "unix:native" ] } }
]
"""


def start(session, folder):
    """Start it; returns a function that lists the streams that play, as pactl shows them."""
    if not shutil.which("pactl"):
        pytest.skip("pactl (package pulseaudio-utils) is missing")
    config = folder / "pulse.conf"
    config.write_text(CONFIGURATION)
    session.start(["pipewire", "-c", config], "pulse")
    # pactl makes the socket's folder, too, and the server of 0.3.65 ends if another one has made it meanwhile.
    session.wait_until((session.dir / "run/pulse/native").exists, "the socket of PulseAudio")

    def listed():
        try:
            return json.loads(session.run("pactl", "-f", "json", "list", "sink-inputs"))
        except RuntimeError:  # it isn't there yet
            return []

    return listed
