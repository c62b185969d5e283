# SPDX-License-Identifier: GPL-3.0-or-later
"""The demonstration behind ./demo: loads the engine into a daemon, plays the piece, records it."""
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from examples import piece
from examples.client import Client, NoReply
from tests.lib import audio
from tests.lib.build import PW_SCSYNTH
from tests.lib.daemon import ROOT, Session
from tests.lib.graph import Graph
from tests.lib.ports import free_port
from tests.lib.recording import Recording
from tests.lib.scsynth import StockServer
from tests.lib.server import LIBRARY, NODE, NodeServer
from tests.lib.session_config import pkg_variable
from tests.lib.xruns import count_xruns

SINK = "demo-sink"
QUANTUM = 256


class Meter:
    """Progress on one line, and the highest load seen."""

    def __init__(self):
        self.average, self.peak, self.most = [], 0.0, 0

    def __call__(self, seconds, status):
        _, _, synths, _, _, average, peak, *_ = status
        self.average.append(average)
        self.peak = max(self.peak, peak)
        self.most = max(self.most, synths)
        end = "\r" if sys.stdout.isatty() and seconds < piece.SECONDS else "\n"
        done = int(20 * seconds / piece.SECONDS)
        print(f"  [{'#' * done}{'.' * (20 - done)}] {seconds:4.1f} s  {synths:3d} synths  "
              f"load {average:5.2f} %", end=end, flush=True)

    def lines(self, voices):
        mean = sum(self.average) / len(self.average)
        return [f"voices played   {voices} (at most {self.most} synths at once)",
                f"DSP load        {mean:.2f} % on average, {self.peak:.2f} % at its peak"]


def perform(port):
    """Play the piece on a server; the lines of its summary."""
    meter = Meter()
    with Client(port) as client:
        try:
            piece.prepare(client)
            voices = piece.play(client, meter)
        finally:
            piece.clean_up(client)
    return meter.lines(voices)


def describe(path):
    """The summary's lines about a recording; an error when it cannot be the piece."""
    samples, rate = audio.read_wav(path)
    peak, rms, seconds = audio.peak(samples), audio.rms(samples), len(samples) / rate
    lines = [f"recorded        {path.relative_to(ROOT)}, {seconds:.1f} s at {rate} Hz",
             f"level           peak {peak:.3f}, RMS {rms:.3f}"]
    if peak < 0.1 or seconds < piece.SECONDS - 1:
        raise SystemExit("\n".join([*lines, "This is too quiet or too short: it did not work."]))
    return lines


def private(reference):
    """Play on a private daemon and record its null sink."""
    path = ROOT / ("reference.wav" if reference else "demo.wav")
    with Session(sinks={SINK: 2}, policy=not reference) as session:
        print("Started a private PipeWire and WirePlumber with a null sink")
        session.force_quantum(QUANTUM)
        server = (StockServer if reference else NodeServer)(session, free_port())
        if reference:
            session.connect(server.node_name, SINK)
        else:
            session.wait_links(lambda links: len(links) == 2, "the links to the null sink")
        print(f"Loaded {server.node_name}: OSC on port {server.port}, quantum {QUANTUM}")
        with Recording(session, path, node=SINK):
            lines = perform(server.port)
            xruns = count_xruns(session.env, server.node_name)
        server.stop()
    lines.append(f"xruns           {'unknown' if xruns is None else xruns}")
    return lines + describe(path)


class OwnProcess:
    """The node in a process of its own, as the daemon loads nothing that isn't below its plugin folder."""

    def __init__(self, graph, installed):
        self.port = free_port()
        folders = {"SPA_PLUGIN_DIR": f"{ROOT / 'build/spa/plugins'}:{installed}"}
        self._process = subprocess.Popen([PW_SCSYNTH, "--client", "-u", str(self.port), "--set", f"name={NODE}"],
                                         env=graph.env | folders, stdout=subprocess.DEVNULL)
        try:
            graph.wait_node(NODE)
            with Client(self.port) as client:
                client.wait_ready()
        except BaseException:
            self.stop()
            raise

    def stop(self):
        self._process.terminate()
        self._process.wait()


@contextlib.contextmanager
def loaded(graph):
    """The port of the node in the user's daemon: the one that is there, or one for the while."""
    node = graph.node("scsynth")
    if node:
        port = int(node["info"]["props"]["scsynth.osc.port"])
        with Client(port) as client:
            try:
                client.wait_ready(timeout=2)
            except NoReply:
                raise SystemExit(f"The node scsynth is there, but no server answers at its port {port}. Remove it, and "
                                 "./demo --live makes one: pw-cli destroy scsynth") from None
        yield port
        return
    installed = Path(pkg_variable("libspa-0.2", "plugindir"))
    is_installed = (installed / f"{LIBRARY}.so").exists()
    server = NodeServer(graph, free_port()) if is_installed else OwnProcess(graph, installed)
    try:
        yield server.port
    finally:
        server.stop()


def _link_outputs(graph, sink):
    """Leave it to WirePlumber's policy, where it is installed; else link to the sink."""
    try:
        graph.wait_until(lambda: any(output.startswith("scsynth:") for output, _ in graph.links()),
                         "links by the policy", timeout=1)
    except TimeoutError:
        graph.connect("scsynth", sink)


def _end(number, _frame):
    raise SystemExit(128 + number)


def live():
    """Play on the user's daemon, through its default sink."""
    graph = Graph(dict(os.environ))
    try:
        sink = graph.default_sink()
    except (RuntimeError, subprocess.SubprocessError) as error:
        raise SystemExit(f"No PipeWire daemon answers ({str(error).strip().splitlines()[-1]}). Start it: "
                         "systemctl --user start pipewire wireplumber") from None
    if not sink:
        raise SystemExit("The daemon has no default sink. WirePlumber chooses one (systemctl --user start wireplumber); "
                         "without a sound card see docs/use.md, \"No sound?\", 7.")
    with loaded(graph) as port:
        _link_outputs(graph, sink)
        print(f"Playing to {sink}", flush=True)
        return perform(port)


def main(arguments):
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)  # so that nothing is left in the daemon
    try:
        lines = live() if "--live" in arguments else private("--reference" in arguments)
    except (TimeoutError, RuntimeError) as error:
        raise SystemExit(f"It did not work: {error}") from None
    except KeyboardInterrupt:
        raise SystemExit("\nStopped.") from None
    print("\n" + "\n".join(lines))


main(sys.argv[1:])
