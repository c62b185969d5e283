# SPDX-License-Identifier: GPL-3.0-or-later
"""A daemon whose configuration has two servers with the UGens and commands of pack.cpp."""
import socket
import struct

import pytest

from tests.lib.build import BUILD
from tests.lib.daemon import Session
from tests.lib.osc import Client, Message, decode, encode
from tests.lib.ports import free_port

PLUGINS = "/usr/lib/SuperCollider/plugins"
PACK = BUILD / "tests/packs/pack.so"


class Servers:
    """`ports`: of both servers. `first`: further settings of the first one."""

    def __init__(self, **first):
        self.ports = free_port(), free_port()
        entries = [self._entry(self.ports[0], first), self._entry(self.ports[1], {})]
        self.session = Session(modules=entries, wireplumber=False,
                               env={"SC_PLUGIN_PATH": str(PACK.parent)})  # for servers that come later

    def __enter__(self):
        self.session.__enter__()
        for port in self.ports:
            self.session.wait_node(f"scsynth-{port}", timeout=15)
            with Client(port) as client:
                client.wait_ready()
        return self

    def __exit__(self, *_):
        self.session.close()

    @staticmethod
    def _entry(port, more):
        settings = {"osc.port": port, "osc.tcp": "true", "ugen-path": f'"{PLUGINS}:{PACK.parent}"'}
        settings |= {key.replace("_", "-"): value for key, value in more.items()}
        args = " ".join(f"scsynth.{key} = {value}" for key, value in settings.items())
        return f"{{ name = libpipewire-module-scsynth args = {{ {args} }} }}"

    def destroy(self, port):
        self.session.pw_cli("destroy", self.session.node(f"scsynth-{port}")["id"])
        self.session.wait_gone(f"scsynth-{port}")

    def stop_daemon(self):
        self.session.stop_daemons()
        assert self.session.daemon.returncode() == 0, self.session.logs()

    def wait_logged(self, text):
        self.session.wait_until(lambda: text in self.session.daemon.output(), text)

    @property
    def log(self):
        return self.session.daemon.output()


class TcpClient:
    """Messages over TCP, each after its size."""

    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._socket.close()

    def send(self, address, *args):
        packet = encode(Message(address, *args))
        self._socket.sendall(struct.pack(">i", len(packet)) + packet)

    def receive(self):
        size, = struct.unpack(">i", self._exactly(4))
        return decode(self._exactly(size))

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            more = self._socket.recv(count - len(data))
            assert more, "the connection was closed"
            data += more
        return data


@pytest.fixture(scope="module")
def shared():
    with Servers() as made:
        yield made
        assert made.session.daemon.running(), made.session.logs()


@pytest.fixture
def servers(request):
    """A daemon of the test's own; the parameter: settings of the first server."""
    with Servers(**getattr(request, "param", {})) as made:
        yield made
        if made.session.daemon.running():
            made.stop_daemon()
        assert made.session.daemon.returncode() == 0, made.session.logs()


@pytest.fixture
def client(shared):
    with Client(shared.ports[0], timeout=20) as client:
        yield client
        client.sync(timeout=30)
