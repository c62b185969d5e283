# SPDX-License-Identifier: GPL-3.0-or-later
"""The graph of a PipeWire daemon, seen and changed with PipeWire's own tools."""
import json
import subprocess

from tests.lib.process import wait_for


class Graph:
    """The graph of the daemon that `env` points to."""

    def __init__(self, env):
        self.env = env

    def wait_until(self, condition, what, timeout=10.0):
        """Wait for a condition of the graph; WaitError names it."""
        return wait_for(condition, what, timeout)

    def run(self, *command, timeout=20.0):
        """Run a program inside the session to its end; its standard output."""
        done = self._complete(*command, timeout=timeout)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n"
                               f"{done.stdout}{done.stderr}")
        return done.stdout

    def pw_dump(self):
        return merged_dumps(self.run("pw-dump", "--no-colors"))

    def pw_cli(self, *command):
        """Run one pw-cli command; its output. pw-cli itself ends with 0 whatever happens."""
        done = self._complete("pw-cli", *command)
        if done.returncode or "Error:" in done.stderr:
            raise RuntimeError(f"pw-cli {' '.join(map(str, command))}: {done.stderr.strip()}")
        return done.stdout

    def objects(self, kind):
        """All objects of an interface: "Node", "Port", "Link", "Metadata", …"""
        return [item for item in self.pw_dump() if item["type"].endswith(f":{kind}")]

    def node(self, name):
        """The node object of that name, or None."""
        return next((item for item in self.objects("Node") if _props(item).get("node.name") == name),
                    None)

    def wait_node(self, name, timeout=10.0):
        return self.wait_until(lambda: self.node(name), f"node {name}", timeout)

    def wait_gone(self, name, timeout=10.0):
        self.wait_until(lambda: self.node(name) is None, f"the end of node {name}", timeout)

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
        self.wait_until(lambda: (output, inlet) in self.links(), f"the link {output} -> {inlet}")

    def wait_links(self, condition, what):
        self.wait_until(lambda: condition(self.links()), what)

    def wait_state(self, node_name, state):
        """Wait for a node's state: "running", "idle", "suspended"."""
        self.wait_until(lambda: (self.node(node_name) or {"info": {}})["info"].get("state") == state,
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
        """Set the quantum of the graph; 0 leaves it to the nodes again."""
        self.run("pw-metadata", "-n", "settings", "0", "clock.force-quantum", frames)
        self.wait_until(lambda: str(self.metadata("settings").get("clock.force-quantum")) == str(frames),
                    f"quantum {frames}")

    def set_quantum(self, frames):
        """Set the default quantum, which counts where none is forced. It leaves no gap, while since about PipeWire 1.0.5
        all nodes are suspended for a change of the forced one."""
        self.run("pw-metadata", "-n", "settings", "0", "clock.quantum", frames)
        self.wait_until(lambda: str(self.metadata("settings").get("clock.quantum")) == str(frames), f"quantum {frames}")

    def _complete(self, *command, timeout=20.0):
        return subprocess.run([str(word) for word in command], env=self.env, timeout=timeout,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)


def merged_dumps(text):
    """The objects of a dump. Changes while pw-dump runs follow as further lists, in which a
    removed object has no info."""
    decoder, objects = json.JSONDecoder(), {}
    text = text.strip()
    while text:
        items, end = decoder.raw_decode(text)
        objects |= {item["id"]: item for item in items}
        text = text[end:].lstrip()
    return [item for item in objects.values() if "type" in item]


def _props(item):
    return (item.get("info") or {}).get("props") or {}
