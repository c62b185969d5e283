# SPDX-License-Identifier: GPL-3.0-or-later
"""Startup files of sclang with statements that public ones have, none of which names our server."""
import os
from pathlib import Path

import pytest

from tests.cli.conftest import PW_SCSYNTH
from tests.lib import sclang
from tests.lib.daemon import ROOT
from tests.lib.ports import free_port

SCRIPT = Path(__file__).with_name("startup.scd")
QUARK = ROOT / "sclang/PipeWireServer"
SERVER = 'Server.default = s = Server(\\mine, NetAddr("127.0.0.1", {port}));\n'


class Started:
    """sclang with a startup file and the script after it."""

    def __init__(self, session, folder, text, always):
        self.session, self.port = session, free_port()
        config = folder / "config/SuperCollider"
        config.mkdir(parents=True)
        (config / "startup.scd").write_text(text.replace("{port}", str(self.port)))
        if always:
            (config / "always-pw-scsynth").write_text("")
        env = session.env | {"PATH": f"{PW_SCSYNTH.parent}:{os.environ['PATH']}"}
        self.go = folder / "go"
        self.child = sclang.start(SCRIPT, self.go, folder=folder, env=env, classes=[QUARK])
        self.child.wait_output("STEP done", timeout=60)

    def end(self):
        """Has it quit the server; (steps, output)."""
        self.go.touch()
        assert self.child.wait(30) == 0, self.child.output()
        return sclang.steps(self.child.output()), self.child.output()


@pytest.fixture(name="start")
def fixture_start(session, tmp_path):
    started = []

    def start(text, always=True):
        started.append(Started(session, tmp_path / str(len(started)), text, always))
        return started[-1]

    yield start
    for each in started:
        each.child.stop()


def outlets(session, name):
    return {(ours.partition(":")[2], theirs) for ours, theirs in session.links() if ours.startswith(f"{name}:out")}


def test_options_and_wait_for_boot(session, start):
    """A file that begins with (var takes no line before it."""
    started = start("(\nvar card = \"JackRouter\", options;\n" + SERVER + """
options = Server.default.options;
options.device = card;
options.memSize = 2 ** 17;
options.numBuffers = 1024 * 4;
options.numWireBufs = 256;
options.maxNodes = 1024 * 32;
options.numInputBusChannels = 0;
options.hardwareBufferSize = 512;
options.threads = 2;
s.latency = 0.3;
s.recSampleFormat = "int24";
~waited = false;
s.waitForBoot {
    SynthDef(\\tone, { |out = 0, amp = 0.1| Out.ar(out, SinOsc.ar(330, 0, amp) ! 2) }).add;
    s.sync;
    ~tone = Synth(\\tone);
    s.meter;
    ~waited = true;
};
)
""")
    properties = session.node("JackRouter")["info"]["props"]
    assert properties["scsynth.osc.port"] == started.port
    assert properties["node.description"] == "JackRouter"
    assert properties["node.latency"].startswith("512/")
    assert outlets(session, "JackRouter") == {("out_1", f"{session.default_sink()}:playback_FL"),
                                              ("out_2", f"{session.default_sink()}:playback_FR")}
    steps, output = started.end()
    assert steps["quit"] == "true"
    assert 'there is no device "JackRouter"' in output


def test_ports_of_jack_by_variables(session, start):
    other = ({"test-sink", "second-sink"} - {session.default_sink()}).pop()
    started = start(SERVER + f"""
"SC_JACK_DEFAULT_OUTPUTS".setenv(
    "{other}:playback_FR,"
    "{other}:playback_FL,"
);
"SC_JACK_DEFAULT_INPUTS".setenv("");
"PIPEWIRE_LATENCY".setenv("256/48000");
s.boot;
""")
    name = f"scsynth-{started.port}"
    session.wait_until(lambda: outlets(session, name) == {("out_1", f"{other}:playback_FR"),
                                                          ("out_2", f"{other}:playback_FL")}, "links")
    assert not [link for link in session.links() if link[1].startswith(f"{name}:")]
    assert session.node(name)["info"]["props"]["node.latency"] == "256/48000"
    started.end()


def test_options_in_the_reboot(start):
    steps, output = start(SERVER + """
(
~waited = false;
s.reboot {
    s.options.numBuffers = 1024 * 256;
    s.options.numOutputBusChannels = 4;
    s.waitForBoot { ~waited = true };
    s.latency = 0.5;
};
);
""").end()
    assert (steps["file"], steps["quit"]) == ("true", "true")
    assert "ERROR" not in output


@pytest.mark.parametrize("text", ["2.wait;\ns.boot;\n", 'Server.program = "exec /opt/SuperCollider/scsynth";\n',
                                  "Server.supernova;\n", ""],
                         ids=["that ends with an error", "with another program", "with supernova", "that is empty"])
def test_a_file(session, start, text):
    """The error of the first is sclang's own. It ends the rest of its start, too."""
    started = start(SERVER + text)
    assert session.node(f"scsynth-{started.port}")
    steps, _ = started.end()
    assert (steps["used"], steps["booted"], steps["plays"], steps["quit"]) == ("true",) * 4


def test_the_internal_server(session, start):
    started = start("""
Server.local.addr = NetAddr("127.0.0.1", {port});
Server.default = s = Server.internal;
s.options.blockSize = 512;
s.boot;
""")
    assert session.node(f"scsynth-{started.port}")
    steps, output = started.end()
    assert (steps["plays"], steps["quit"]) == ("true", "true")
    assert "Booting internal server" not in output


def test_the_line_in_the_file(session, start):
    started = start("Server.pipewire(name: \"my piece\");\n" + SERVER, always=False)
    assert session.node("my piece")["info"]["props"]["scsynth.osc.port"] == started.port
    started.end()
