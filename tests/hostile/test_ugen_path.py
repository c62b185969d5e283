# SPDX-License-Identifier: GPL-3.0-or-later
"""A client may have UGens loaded into the daemon only from folders that the daemon's configuration lists."""
import pytest

from tests.lib.build import BUILD
from tests.lib.daemon import Session
from tests.lib.osc import Client
from tests.lib.ports import free_port
from tests.lib.process import wait_for
from tests.lib.server import LIBRARY, NodeServer, is_stock

pytestmark = pytest.mark.skipif(is_stock(), reason="it is about our node")

OWN = "/usr/lib/SuperCollider/plugins"


def module(text):
    return f"{{ name = libpipewire-module-scsynth args = {{ {text} }} }}"


def folder_with(path, *plugins):
    path.mkdir(parents=True)
    for plugin in plugins:
        (path / plugin).symlink_to(f"{OWN}/{plugin}")
    return path


@pytest.fixture(scope="module")
def allowed(tmp_path_factory):
    return tmp_path_factory.mktemp("allowed")


@pytest.fixture(scope="module")
def session(allowed):
    with Session(modules=[module(f'scsynth.node = false scsynth.ugen-paths.allowed = "/nowhere:{allowed}"')]) as session:
        yield session
        assert session.daemon.running(), session.logs()


@pytest.fixture
def plugins(tmp_path):
    """A folder that nobody has allowed, with what a server needs."""
    return folder_with(tmp_path / "plugins", *(f"{name}.so" for name in
                                               ("IOUGens", "OscUGens", "BinaryOpUGens")))


def create(session, folder, factory="spa-node-factory", **more):
    properties = {"factory.name": "audio.scsynth", "library.name": LIBRARY, "node.name": "forbidden",
                  "scsynth.osc.port": free_port(), "scsynth.ugen-path": folder} | more
    session.run("pw-cli", "create-node", factory, " ".join(f"{key}={value}" for key, value in properties.items()))
    session.pw_cli("info", "0")


@pytest.mark.parametrize("factory", ("spa-node-factory", "adapter"))
@pytest.mark.parametrize("more", (
    {"object.linger": "1"}, {"scsynth.ugen-paths.allowed": "/"}, {"scsynth.node": "true", "object.linger": "true"},
    {"client.id": "0"}, {"module.id": "3", "object.linger": "1"}), ids=str)
def test_a_folder_that_is_not_listed(session, plugins, factory, more):
    before = session.daemon.output().count("scsynth.ugen-paths.allowed")
    create(session, plugins, factory, **more)
    assert session.node("forbidden") is None
    assert session.daemon.output().count("scsynth.ugen-paths.allowed") > before


def test_the_second_factory_does_nothing_for_a_client(session, plugins):
    create(session, plugins, **{"factory.name": "scsynth.ugen-folders", "scsynth.ugen-paths.allowed": "/",
                                "object.linger": "1"})
    create(session, plugins, **{"object.linger": "1"})
    assert session.node("forbidden") is None


def test_a_way_out_of_a_listed_folder(session, plugins, allowed):
    (allowed / "link").symlink_to(plugins)
    for path in (allowed / "link", f"{allowed}/../{plugins}", f"{allowed}-not", f"{allowed}:{plugins}"):
        create(session, path, **{"object.linger": "1"})
        assert session.node("forbidden") is None


def test_listed_folders_and_supercolliders(session, allowed):
    inner = folder_with(allowed / "deep" / "er", "IOUGens.so")
    for path in (OWN, f"{OWN}:{inner}"):
        NodeServer(session, free_port(), {"ugen-path": path}).stop()


def test_the_daemons_own_nodes(plugins):
    one, two = free_port(), free_port()
    node = f"""{{ factory = spa-node-factory args = {{ factory.name = audio.scsynth library.name = {LIBRARY}
        node.name = object scsynth.osc.port = {two} scsynth.ugen-path = "{plugins}" }} }}"""
    with Session(modules=[module(f'scsynth.osc.port = {one} scsynth.ugen-path = "{plugins}" node.name = module')],
                 objects=[node]) as session:
        for port, name in ((one, "module"), (two, "object")):
            session.wait_node(name)
            with Client(port) as client:
                client.wait_ready()
        create(session, plugins, **{"object.linger": "1"})
        assert session.node("forbidden") is None


def test_pw_scsynth_says_what_to_add(session, plugins):
    command = [str(BUILD / "src/cli/pw-scsynth"), "-u", str(free_port()), "-D", "0", "-U", str(plugins)]
    refused = session.start(command, "pw-scsynth")
    wait_for(lambda: refused.returncode() == 1, "the end of pw-scsynth")
    assert f'scsynth.ugen-paths.allowed = "{plugins}"' in refused.output()
    itself = session.start([*command, "--client"], "pw-scsynth")
    wait_for(lambda: "ready" in itself.output(), "a server in its own process")
