# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of the same user in a sandbox that has the host's network, with each value of `scsynth.allow` that tells
them from others."""
import array
import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.hostile.senders import answered_bytes, packed
from tests.lib.osc import Message, encode
from tests.lib.process import wait_for

BUBBLEWRAP = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
SANDBOXES = {
    "unshare": ["unshare", "--mount"],
    "bwrap": BUBBLEWRAP,
    "bwrap-user": [*BUBBLEWRAP, "--unshare-user"],
    "bwrap-pid": [*BUBBLEWRAP, "--unshare-pid"],
}
STATUS = encode(Message("/status"))

pytestmark = pytest.mark.usefixtures("survived")


@pytest.fixture(scope="module", params=("own", "user"))
def victim_settings(request):
    return {"allow": request.param}


@pytest.fixture
def obeyed(victim_settings):
    return victim_settings["allow"] == "user"


def need(command):
    """Skip where this sandbox can't be made."""
    try:
        done = subprocess.run([*command, "true"], check=False, capture_output=True, text=True)
    except FileNotFoundError as error:
        pytest.skip(str(error))
    if done.returncode:
        pytest.skip(f"{' '.join(command)}: {done.stderr}")


@pytest.mark.parametrize("kind", ("udp", "tcp"))
@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_a_sandbox(victim, obeyed, sandbox, kind):
    need(SANDBOXES[sandbox])
    client, path = victim.client, victim.folder / f"{sandbox}-{kind}.wav"
    client.command("/b_alloc", 1, 100)
    packets = [encode(Message("/b_write", 1, str(path), "wav", "int16")), STATUS]
    before = victim.refused()
    answer = answered_bytes(kind, victim.server.port, packets, SANDBOXES[sandbox])
    if obeyed:
        assert answer > 0
        wait_for(path.exists, "the file that the sandbox asked for")
        assert victim.refused() == before
    else:
        assert answer == 0
        wait_for(lambda: victim.refused() == before + len(packed(kind, packets)), "the refused packets to be counted")
        client.sync()
        assert not path.exists()


def test_a_sandbox_that_was_given_the_unix_socket(victim):
    """It has nothing else of the runtime folder, as with Flatpak's --filesystem=xdg-run/NAME."""
    need(BUBBLEWRAP)
    folder = victim.session.env["XDG_RUNTIME_DIR"]
    path = f"{folder}/pw-scsynth-{victim.server.port}"
    before = victim.refused()
    with pytest.raises(subprocess.CalledProcessError):
        answered_bytes("unix", path, [STATUS], [*BUBBLEWRAP, "--tmpfs", folder])
    assert answered_bytes("unix", path, [STATUS], [*BUBBLEWRAP, "--tmpfs", folder, "--bind", path, path]) > 0
    assert victim.refused() == before


# ---- sockets that are handed on

MAKER = """
import array, socket, sys
parcel = socket.socket(fileno=int(sys.argv[1]))
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("127.0.0.1", 0))
parcel.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [sock.fileno()]))])
sock.close()
parcel.recv(1)
"""


def answered(sock, port, seconds=2):
    sock.settimeout(seconds)
    sock.sendto(STATUS, ("127.0.0.1", port))
    try:
        return len(sock.recv(1000)) > 0
    except TimeoutError:
        return False


@contextlib.contextmanager
def control_group():
    """A folder of version 2."""
    lines = [line.split(" - ") for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    mounts = [before.split()[4] for before, after in lines if after.startswith("cgroup2 ")]
    group = Path(mounts[0] if mounts else "/nowhere", f"scs-test-{os.getpid()}")
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        yield group
    finally:
        wait_for(lambda: not (group / "cgroup.procs").read_text(), "the control group to be left")
        group.rmdir()


@contextlib.contextmanager
def made_in(group, wrapper=()):
    """A socket that a program in this control group has made, handed to us and closed; and what ends that program."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        join = ["sh", "-c", f'echo 0 > "{group}/cgroup.procs" && exec "$@"', "sh"]
        maker = subprocess.Popen([*join, *wrapper, sys.executable, "-I", "-c", MAKER, str(theirs.fileno())],
                                 pass_fds=[theirs.fileno()])
        theirs.close()

        def end():
            ours.close()
            maker.wait(10)

        try:
            _, rights, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(array.array("i").itemsize))
            with socket.socket(fileno=array.array("i", rights[0][2])[0]) as sock:
                yield sock, end
        finally:
            end()


@pytest.mark.parametrize("ended", (False, True))
@pytest.mark.parametrize("sandbox", ("bwrap", "bwrap-user"))
def test_a_socket_that_a_sandbox_has_handed_out(victim, obeyed, sandbox, ended):
    need(SANDBOXES[sandbox])
    with control_group() as group, made_in(group, SANDBOXES[sandbox]) as (sock, end):
        if ended:
            end()
        before = victim.refused()
        assert answered(sock, victim.server.port) == obeyed
        assert victim.refused() == before + (not obeyed)


def test_a_socket_that_a_program_outside_has_handed_on(victim):
    with control_group() as group, made_in(group) as (sock, _):
        before = victim.refused()
        assert answered(sock, victim.server.port)
        assert victim.refused() == before


@pytest.mark.parametrize("sandbox", ("bwrap", "bwrap-user"))
def test_a_socket_that_is_handed_into_a_sandbox(victim, obeyed, sandbox):
    """It is obeyed until that is noticed, and again once the sandbox has ended."""
    need(SANDBOXES[sandbox])
    port = victim.server.port
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        assert answered(sock, port)
        before = victim.refused()
        heir = subprocess.Popen([*SANDBOXES[sandbox], "cat"], stdin=subprocess.PIPE, pass_fds=[sock.fileno()])
        with heir, heir.stdin:
            if obeyed:
                time.sleep(2)  # twice as long as it took to notice
                assert answered(sock, port)
            else:
                wait_for(lambda: not answered(sock, port, 0.2), "the sandbox to be noticed")
        wait_for(lambda: answered(sock, port, 0.2), "the sandbox's end to be noticed")
        assert (victim.refused() > before) != obeyed
