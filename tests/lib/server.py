# SPDX-License-Identifier: GPL-3.0-or-later
"""The server under test: our node in the daemon or, to test the tests themselves, stock scsynth
as a JACK client (SCS_TEST_SERVER=stock)."""
import os

from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.scsynth import StockServer

NODE = "scsynth"
LIBRARY = "scsynth/libspa-scsynth"


def is_stock():
    return os.environ.get("SCS_TEST_SERVER", "ours") == "stock"


class NodeServer:
    """Our node, created through the daemon's own factory. `settings` are scsynth.* keys without
    that prefix; `library` None: the daemon has to know where the plugin is."""

    def __init__(self, graph, port, settings=None, name=NODE, library=LIBRARY):
        self.graph = self.session = graph
        self.port, self.node_name = port, name
        self.create(graph, port, settings, name, library)
        graph.wait_node(name, timeout=3)
        with Client(port) as client:
            client.wait_ready()

    @staticmethod
    def create(graph, port, settings=None, name=NODE, library=LIBRARY):
        """Ask the daemon for the node without waiting for it."""
        properties = {"factory.name": "audio.scsynth", "node.name": name, "object.linger": 1, "scsynth.osc.port": port}
        properties |= {"library.name": library} if library else {}
        properties |= {f"scsynth.{key}": value for key, value in (settings or {}).items()}
        quoted = {key: f'"{value}"' if " " in str(value) else value for key, value in properties.items()}
        words = " ".join(f"{key}={value}" for key, value in quoted.items())
        graph.pw_cli("create-node", "spa-node-factory", words)

    def stop(self):
        node = self.graph.node(self.node_name)
        if node:
            self.graph.pw_cli("destroy", node["id"])
            self.graph.wait_gone(self.node_name)


def start(session, port=None):
    """The server under test, answering, its outputs linked to the sink "test-sink"."""
    port = port or free_port()
    server = StockServer(session, port) if is_stock() else NodeServer(session, port)
    if not session.links():
        session.connect(server.node_name, "test-sink")
    return server
