# SPDX-License-Identifier: GPL-3.0-or-later
"""The way from capture to playback in frames: impulses go to the sink directly and through the
server's inputs and outputs; both arrive in one recording."""
from dataclasses import dataclass

import numpy as np

from bench.stands import SINK, Silent
from tests.lib import audio
from tests.lib.osc import Client
from tests.lib.recording import Recording
from tests.lib.xruns import quantum_of

_RATE = 48000
_LONGEST = 2000
_LEVEL = 0.5
_PLAYER = "impulses"


@dataclass
class Latency:
    quantum: int    # frames in a cycle; PipeWire may round what was asked for
    frames: list    # the delays found, each once
    reported: int   # frames that the node says its inputs are delayed by
    impulses: int


def measure(stand, quantum):
    """The Latency of a server's stand in cycles of about `quantum` frames."""
    session = stand.session
    with stand.running(quantum), Client(stand.server.port) as client:
        client.send("/s_new", "bench_through", 1000, 0, 0)
        stand.session.wait_until(lambda: client.status()[2] == 1, "the synth")
        player = _play_impulses(session)
        try:
            node = stand.server.node_name
            outlet, inlet = session.ports(node, "out")[0], session.ports(node, "in")[0]
            _only_link(session, f"{_PLAYER}:output_FL", f"{SINK}:playback_FL")
            _only_link(session, f"{node}:{outlet}", f"{SINK}:playback_FR")
            session.link(f"{_PLAYER}:output_FL", f"{node}:{inlet}")
            path = session.dir / "impulses-out.wav"
            with Recording(session, path) as recording:
                recording.wait(2)
            frames, impulses = _delays(path)
            return Latency(quantum_of(session.env, SINK), frames, _reported(session, node), impulses)
        finally:
            player.stop()
            session.wait_gone(_PLAYER)


def _play_impulses(session):
    gaps = np.random.default_rng(1).integers(_LONGEST + 500, 3 * _LONGEST, 400)
    signal = np.zeros((int(gaps.sum()) + 1, 2))
    signal[np.cumsum(gaps), 0] = _LEVEL
    path = session.dir / "impulses.wav"
    audio.write_wav(path, signal, _RATE)
    player = session.start(["pw-play", "-P", f"{{ node.name = {_PLAYER} }}", "--target", SINK, path],
                           _PLAYER)
    session.wait_until(lambda: any(out.startswith(f"{_PLAYER}:") for out, _ in session.links()),
                       "the links of the player")
    return player


def _only_link(session, output, inlet):
    """Link two ports and remove every other link from the one or to the other."""
    session.wait_until(lambda: output.split(":")[1] in session.ports(output.split(":")[0]), output)
    if (output, inlet) not in session.links():
        session.link(output, inlet)
    for link in session.links():
        if link != (output, inlet) and (link[0] == output or link[1] == inlet):
            session.run("pw-link", "-d", *link)


def _delays(path):
    direct, through = audio.read_wav(path)[0][_RATE // 10:].T
    sent = np.array(audio.impulses(direct, _LEVEL / 2))
    heard = np.array(audio.impulses(through, _LEVEL / 2))
    sent = sent[sent < len(direct) - _LONGEST]
    after = np.searchsorted(heard, sent)
    if len(sent) < 5 or not len(heard) or after[-1] == len(heard):
        raise Silent(f"{len(sent)} impulses were played, {len(heard)} came through the server")
    delays = heard[after] - sent
    return sorted({int(delay) for delay in delays}), len(sent)


def _reported(session, node):
    params = session.node(node)["info"]["params"].get("ProcessLatency") or [{}]
    return int(params[0].get("rate", 0))
