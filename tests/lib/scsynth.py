# SPDX-License-Identifier: GPL-3.0-or-later
"""Stock scsynth: offline on a score, or live in a private session as a JACK client."""
import os
import shutil
import struct
import subprocess
from pathlib import Path

from tests.lib import supercollider
from tests.lib.osc import Bundle, Client, Message, encode

NODE = "SuperCollider"


def score_bytes(events, end):
    """A score file: `events` are (seconds, messages...), a message is (address, *args)."""
    packets = [Bundle(int(seconds * 2**32), [Message(*message) for message in messages])
               for seconds, *messages in sorted(events, key=lambda event: event[0])]
    packets.append(Bundle(int(end * 2**32), [Message("/c_set", 0, 0)]))
    encoded = [encode(packet) for packet in packets]
    return b"".join(struct.pack(">i", len(raw)) + raw for raw in encoded)


def render(events, end, path, rate=48000, program="scsynth", options=()):
    """Render a score of `end` seconds to a float WAV file at `path` and return the path."""
    score = path.with_suffix(".score")
    score.write_bytes(score_bytes(events, end))
    env = dict(os.environ) | {"HOME": str(path.parent)}
    done = subprocess.run([program, "-N", score, "_", path, str(rate), "WAV", "float", *options],
                          env=env, capture_output=True, text=True, timeout=120, check=False)
    right = supercollider.has_rendered(done.returncode) if program == "scsynth" else done.returncode == 0
    if not right or not path.exists():
        raise RuntimeError(f"{program} -N ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return path


class ProgramServer:
    """A server that is a program with a node in a private session; it answers."""

    def __init__(self, session, port, node_name, command, name, **env):
        self.session, self.port, self.node_name = session, port, node_name
        self._process = session.start(command, name, **env)
        session.wait_node(node_name)
        with Client(port) as client:
            client.wait_ready()

    @property
    def pid(self):
        return self._process.pid

    def output(self):
        """What it has printed."""
        return self._process.output()

    def stop(self):
        self._process.stop()
        self.session.wait_gone(self.node_name)


class StockServer(ProgramServer):
    """Stock scsynth, or supernova, which names its node after itself, under pw-jack."""

    def __init__(self, session, port, options=(), program="scsynth"):
        # scsynth leaves its shared memory when it is killed.
        shared = Path(f"/dev/shm/SuperColliderServer_{port}")
        session.at_close(lambda: shared.unlink(missing_ok=True))
        super().__init__(session, port, NODE if program == "scsynth" else program,
                         ["pw-jack", program, "-u", port, "-i", "2", "-o", "2", "-l", "4", "-R", "0", *options],
                         program, SC_JACK_DEFAULT_INPUTS="", SC_JACK_DEFAULT_OUTPUTS="")


def available():
    return shutil.which("scsynth") and shutil.which("pw-jack")
