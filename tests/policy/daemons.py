# SPDX-License-Identifier: GPL-3.0-or-later
"""A private D-Bus, PipeWire and WirePlumber in a temporary folder, and snapshots of their graph."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.lib import session_config, wireplumber  # noqa: E402

TIMEOUT = 30  # seconds

PIPEWIRE_CONF = """
context.properties = {
    vm.overrides = { default.clock.min-quantum = 16 }
    support.dbus = true
}
"""


def wait_for(condition, what, timeout=TIMEOUT):
    """Polls until condition() is true and returns its value."""
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout} s for {what}")
        time.sleep(0.03)
    return value


class Graph:
    """A snapshot of the graph, by names."""

    def __init__(self, objects):
        objects = [item for item in objects if item.get("info")]  # an object just gone has none
        self.ids, self.ports, props = {}, {}, {}
        for item in objects:
            info = item["info"]
            props[item["id"]] = info.get("props") or {}
            if item["type"] == "PipeWire:Interface:Node":
                self.ids[props[item["id"]].get("node.name")] = item["id"]
        names = {node: name for name, node in self.ids.items()}
        for item in objects:
            if item["type"] == "PipeWire:Interface:Port":
                own = props[item["id"]]
                name = f'{names.get(own.get("node.id"))}:{own.get("port.name")}'
                self.ports[item["id"]] = name
        self.links = {}
        for item in objects:
            if item["type"] == "PipeWire:Interface:Link":
                info = item["info"]
                pair = (self.ports.get(info["output-port-id"]),
                        self.ports.get(info["input-port-id"]))
                self.links[pair] = info


class Session:
    """Owns the daemons and everything else it starts; close() ends exactly those processes."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="scsynth-policy-"))
        self.env = session_config.environment(self.folder)
        self.env |= session_config.where(self.folder / "stock", [], [])
        self.runtime = Path(self.env["XDG_RUNTIME_DIR"])
        self.drop_ins = Path(self.env["PIPEWIRE_CONFIG_DIR"]) / "pipewire.conf.d"
        self.wireplumber_folder = Path(self.env["WIREPLUMBER_CONFIG_DIR"])
        self.state_file = Path(self.env["XDG_STATE_HOME"]) / "wireplumber" / "scsynth-autoconnect"
        self.processes = []
        self.wireplumber = None
        self._write_config()

    def _write_config(self):
        (self.drop_ins / "10-test.conf").write_text(PIPEWIRE_CONF)
        self.policy = wireplumber.install_policy(self.wireplumber_folder)

    def spawn(self, name, *command):
        log = open(self.folder / f"{name}.log", "ab")
        process = subprocess.Popen(command, env=self.env, stdin=subprocess.PIPE, stdout=log,
                                   stderr=subprocess.STDOUT)
        log.close()
        self.processes.append(process)
        return process

    def stop(self, process):
        self.processes.remove(process)
        process.stdin.close()
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def start_pipewire(self):
        bus = self.runtime / "bus"
        self.env["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={bus}"
        self.spawn("dbus", "dbus-daemon", "--session", "--nofork", "--nopidfile",
                   f"--address=unix:path={bus}")
        wait_for(bus.exists, "the bus")
        self.spawn("pipewire", "pipewire")
        wait_for((self.runtime / "pipewire-0").exists, "PipeWire's socket")

    def start_wireplumber(self):
        self.wireplumber = self.spawn("wireplumber", "wireplumber")

    def stop_wireplumber(self):
        self.stop(self.wireplumber)
        self.wireplumber = None

    def close(self):
        for process in reversed(list(self.processes)):
            self.stop(process)
        shutil.rmtree(self.folder)

    def run(self, *command, check=True):
        result = subprocess.run(command, env=self.env, capture_output=True, text=True,
                                timeout=TIMEOUT)
        if check and result.returncode != 0:
            raise AssertionError(f"{command}: {result.stdout}{result.stderr}")
        return result.stdout

    def graph(self):
        text = self.run("pw-dump")
        # pw-dump prints another array for each change while it runs
        return Graph(json.JSONDecoder().raw_decode(text.lstrip())[0])

    def wait_graph(self, condition, what):
        def check():
            graph = self.graph()
            return graph if condition(graph) else None
        return wait_for(check, what)

    def id_of(self, node):
        """What pw-dump shows may lack a node whose properties are just changing."""
        return self.wait_graph(lambda g: node in g.ids, node).ids[node]

    def add_device(self, name, media_class="Audio/Sink", position="FL,FR", priority=1000):
        self.run("pw-cli", "create-node", "adapter",
                 "{ factory.name=support.null-audio-sink object.linger=1 "
                 f"node.name={name} media.class={media_class} audio.position=[{position}] "
                 f"priority.session={priority} }}")
        self.wait_graph(lambda g: name in g.ids, name)

    def link(self, output, inlet):
        """As a user does, who sees both ports."""
        self.wait_graph(lambda g: {output, inlet} <= set(g.ports.values()), f"{output} and {inlet}")
        self.run("pw-link", output, inlet)

    def remove_node(self, name):
        self.run("pw-cli", "destroy", str(self.id_of(name)))
        self.wait_graph(lambda g: name not in g.ids, f"{name} to go")

    def add_dsp_node(self, name="scsynth", outputs=2, inputs=0, control=(), **props):
        """`control`: "+in:NAME" or "+out:NAME", of which the outputs are hardware's."""
        settings = {"node.name": name, "node.always-process": "true",
                    "scsynth.autoconnect": "true"}
        settings.update({k.replace("__", "-").replace("_", "."): v for k, v in props.items()})
        process = self.spawn(name, os.environ.get("DSP_NODE", "build/wireplumber/dsp-node"),
                             str(outputs), str(inputs), *(f"{k}={v}" for k, v in settings.items()), *control)
        self.wait_graph(lambda g: sum(p.startswith(name + ":") for p in g.ports.values())
                        == outputs + inputs + len(control), f"{name}'s ports")
        return process

    def set_default(self, kind, name):
        self.run("pw-metadata", "0", f"default.configured.audio.{kind}",
                 json.dumps({"name": name}), "Spa:String:JSON")

    def set_metadata(self, node, key, value, *kind):
        self.run("pw-metadata", "--", str(self.id_of(node)), key, value, *kind)

    def remembered(self):
        """What the policy has stored: node name to port names. In the file, which node it was comes before these."""
        if not self.state_file.exists():
            return {}
        entries = dict(line.split("=", 1) for line in self.state_file.read_text().splitlines() if "=" in line)
        return {name: text.split(" ", 1)[1] for name, text in entries.items()}

    def logs(self):
        return "".join(f"--- {path.name}\n{path.read_text(errors='replace')}"
                       for path in sorted(self.folder.glob("*.log")))
