# SPDX-License-Identifier: GPL-3.0-or-later
"""A private PipeWire session: own runtime folder, own bus, null sinks, no hardware, nothing of
the user's. Everything waits for conditions; everything started is ended by its own pid."""
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.lib import process, session_config
from tests.lib.process import Process, wait_for

ROOT = Path(__file__).resolve().parents[2]


class Session:
    """Use as a context manager. `sinks` and `sources` map names to channel counts; `modules` and
    `objects` are further entries of context.modules and context.objects; `fragments` maps file
    names to texts for pipewire.conf.d; `build` is where the plugin and module were built;
    `wireplumber_config` and `wireplumber_data` are folders to lay over WirePlumber's own."""

    def __init__(self, sinks=None, sources=None, modules=(), objects=(), fragments=None,
                 wireplumber=True, wireplumber_config=None, wireplumber_data=None,
                 build=ROOT / "build", env=None):
        self.sinks = {"test-sink": 2} if sinks is None else sinks
        self.sources = sources or {}
        self.build = Path(build)
        self.with_wireplumber = wireplumber
        self.wireplumber = None
        self.daemon = None
        self._modules, self._objects, self._fragments = modules, objects, fragments or {}
        self._overlays = {"config": wireplumber_config, "data": wireplumber_data}
        self._extra_env = env or {}
        self._processes = []
        self.dir = None

    def __enter__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="scs-"))
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for child in reversed(self._processes):
            child.stop()
        self._processes.clear()
        shutil.rmtree(self.dir, ignore_errors=True)

    # Start-up

    def _start(self):
        self.env = self._environment()
        self._start_bus()
        conf = session_config.write(self.dir / "pipewire", self.sinks, self.sources, self._modules,
                                    self._objects, self._fragments, self.with_wireplumber)
        self.daemon = self.start(["pipewire"], "pipewire", PIPEWIRE_CONFIG_DIR=str(conf))
        socket = self.dir / "run" / "pipewire-0"
        self._await(socket.exists, "the daemon's socket")
        if self.with_wireplumber:
            session_config.write_wireplumber(self.dir, **self._overlays)
            self.wireplumber = self.start(["wireplumber"], "wireplumber")
        for name in (*self.sinks, *self.sources):
            self._await(lambda name=name: self.ports(name), f"the ports of {name}")
        if self.with_wireplumber and self.sinks:
            self._await(lambda: self.default_sink() in self.sinks, "a default sink")

    def _environment(self):
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("PIPEWIRE_", "PULSE_", "WIREPLUMBER_", "DBUS_", "XDG_"))}
        for name in ("run", "config", "data", "state", "cache"):
            (self.dir / name).mkdir(mode=0o700)
        env.update(
            HOME=str(self.dir), XDG_RUNTIME_DIR=str(self.dir / "run"),
            PIPEWIRE_RUNTIME_DIR=str(self.dir / "run"), XDG_CONFIG_HOME=str(self.dir / "config"),
            XDG_DATA_HOME=str(self.dir / "data"), XDG_STATE_HOME=str(self.dir / "state"),
            XDG_CACHE_HOME=str(self.dir / "cache"),
            SPA_PLUGIN_DIR=_path(self.build / "spa/plugins", _pkg("libspa-0.2", "plugindir")),
            PIPEWIRE_MODULE_DIR=_path(self.build / "src/module",
                                      _pkg("libpipewire-0.3", "moduledir")))
        env.update(self._extra_env)
        return env

    def _start_bus(self):
        address = f"unix:path={self.dir}/run/bus"
        self.env["DBUS_SESSION_BUS_ADDRESS"] = address
        self.start(["dbus-daemon", "--session", "--nofork", f"--address={address}"], "dbus")
        self._await((self.dir / "run/bus").exists, "the bus")

    def _await(self, condition, what, timeout=15.0):
        try:
            return wait_for(condition, what, timeout)
        except process.WaitError as error:
            raise process.WaitError(f"{error}\n{self.logs()}") from None

    # Processes

    def start(self, command, name, **env):
        """Start a program inside the session; it is stopped with it."""
        child = Process(command, self.env | env, self.dir / f"{name}-{len(self._processes)}.log")
        self._processes.append(child)
        return child

    def run(self, *command, timeout=20.0, check=True):
        """Run a program inside the session to its end; its standard output."""
        done = subprocess.run([str(word) for word in command], env=self.env, timeout=timeout,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n"
                               f"{done.stdout}{done.stderr}")
        return done.stdout

    def logs(self):
        """What the daemons said, for error messages."""
        return "\n".join(f"--- {child.log.name} (status {child.returncode()})\n"
                         f"{child.output()[-3000:]}" for child in self._processes)

    # The graph

    def pw_dump(self):
        text = self.run("pw-dump", "--no-colors")
        return json.loads(text) if text.strip() else []

    def pw_cli(self, *command):
        return self.run("pw-cli", *command)

    def objects(self, kind):
        """All objects of an interface: "Node", "Port", "Link", "Metadata", …"""
        return [item for item in self.pw_dump() if item["type"].endswith(f":{kind}")]

    def node(self, name):
        """The node object of that name, or None."""
        return next((item for item in self.objects("Node") if _props(item).get("node.name") == name),
                    None)

    def wait_node(self, name, timeout=10.0):
        return self._await(lambda: self.node(name), f"node {name}", timeout)

    def wait_gone(self, name, timeout=10.0):
        self._await(lambda: self.node(name) is None, f"the end of node {name}", timeout)

    def ports(self, node_name, direction=None):
        """The names of a node's ports ("in" and "out" with monitor ports), by port id."""
        dump = self.pw_dump()
        ids = [item["id"] for item in dump if _props(item).get("node.name") == node_name]
        ports = [item for item in dump
                 if item["type"].endswith(":Port") and _props(item).get("node.id") in ids]
        ports.sort(key=lambda item: (_props(item)["port.direction"], _props(item)["port.id"]))
        return [_props(item)["port.name"] for item in ports
                if direction in (None, _props(item)["port.direction"])]

    def links(self):
        """All links as ("node:port", "node:port")."""
        dump = {item["id"]: item for item in self.pw_dump()}

        def name(node, port):
            return f"{_props(dump[node])['node.name']}:{_props(dump[port])['port.name']}"

        return sorted(
            (name(info["output-node-id"], info["output-port-id"]),
             name(info["input-node-id"], info["input-port-id"]))
            for info in (item["info"] for item in dump.values() if item["type"].endswith(":Link"))
            if {info["output-port-id"], info["input-port-id"]} <= dump.keys())

    def link(self, output, inlet):
        """Link "node:port" to "node:port" and wait until the link is there."""
        self.run("pw-link", output, inlet)
        self._await(lambda: (output, inlet) in self.links(), f"the link {output} -> {inlet}")

    def wait_links(self, condition, what):
        self._await(lambda: condition(self.links()), what)

    def wait_state(self, node_name, state):
        """Wait for a node's state: "running", "idle", "suspended"."""
        self._await(lambda: (self.node(node_name) or {"info": {}})["info"].get("state") == state,
                    f"{node_name} {state}")

    def connect(self, node_name, sink):
        """Link the outputs of a node to the inputs of a sink, in order."""
        for output, inlet in zip(self.ports(node_name, "out"), self.ports(sink, "in")):
            self.link(f"{node_name}:{output}", f"{sink}:{inlet}")

    # Settings

    def metadata(self, name):
        """The entries of a metadata object as {key: value}."""
        for item in self.objects("Metadata"):
            if (item.get("props") or {}).get("metadata.name") == name:
                return {entry["key"]: entry["value"] for entry in item.get("metadata") or []}
        return {}

    def default_sink(self):
        value = self.metadata("default").get("default.audio.sink")
        return value["name"] if isinstance(value, dict) else None

    def force_quantum(self, frames):
        """Set the quantum of the graph; 0 gives it back to the nodes."""
        self.run("pw-metadata", "-n", "settings", "0", "clock.force-quantum", frames)
        self._await(lambda: str(self.metadata("settings").get("clock.force-quantum")) == str(frames),
                    f"quantum {frames}")


def _props(item):
    return (item.get("info") or {}).get("props") or {}


def _path(*folders):
    return ":".join(str(folder) for folder in folders if Path(folder).is_dir())


def _pkg(package, variable):
    done = subprocess.run(["pkg-config", f"--variable={variable}", package], text=True,
                          capture_output=True, check=True)
    return done.stdout.strip()
