# SPDX-License-Identifier: GPL-3.0-or-later
"""A /dev/input of the test's own, by umockdev: programs that run with Input.env see its devices in place of the machine's."""
import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

PRELOADED = "libumockdev-preload.so.0"
PYTHON = "/usr/bin/python3"  # has Debian's packages
SYN, KEY, ABS = 0, 1, 3


def missing():
    """What isn't installed, in words; empty: nothing."""
    if not shutil.which("umockdev-wrapper"):
        return "umockdev"
    found = subprocess.run([PYTHON, "-c", "import gi; gi.require_version('UMockdev', '1.0')"], capture_output=True, check=False)
    return "" if found.returncode == 0 else "gir1.2-umockdev-1.0 and python3-gi"


class Input:
    """`folder`: where it may write."""

    def __init__(self, folder):
        self._process = subprocess.Popen(["umockdev-wrapper", PYTHON, "-B", __file__, folder], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        self.root = Path(json.loads(self._process.stdout.readline()))
        self.env = {"LD_PRELOAD": PRELOADED, "UMOCKDEV_DIR": str(self.root)}

    def _do(self, *what):
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        assert json.loads(self._process.stdout.readline()) == "done"

    def plug(self, number, name, keys=(), axes=None, down=()):
        """A device at /dev/input/event`number`. `axes`: {code: (value, lowest, highest)}; `down`: of its keys."""
        self._do("plug", number, name, list(keys), list((axes or {}).items()), list(down))

    def unplug(self, number):
        self._do("unplug", number)

    def send(self, number, *events):
        """Events of a device, (type, code, value), which come at once."""
        self._do("send", number, events)

    def stop(self):
        self._process.stdin.close()
        self._process.wait(10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def _bits(codes, size):
    made = bytearray(size)
    for code in codes:
        made[code // 8] |= 1 << code % 8
    return bytes(made)


def _answers(name, keys, axes, down):
    """What ioctls answer, as umockdev has it: a line each, with the size that libevdev asks for."""
    bits = {0: _bits([SYN] + [KEY] * bool(keys) + [ABS] * bool(axes), 8), KEY: _bits(keys, 96), ABS: _bits(dict(axes), 8)}
    sizes = {0x02: 8, 0x04: 8, 0x05: 8, 0x11: 8, 0x12: 8, 0x14: 8, 0x15: 16}  # of types that it has not
    lines = [("VERSION", 0, struct.pack("i", 0x10001)), ("ID", 0, struct.pack("4H", 3, 1, 2, 3)),
             ("NAME(0)", len(name) + 1, name.encode().ljust(255, b"\0")), ("PROP(0)", 8, bytes(8)),
             *((f"BIT({kind})", len(data), data) for kind, data in (bits | {k: bytes(n) for k, n in sizes.items()}).items()),
             ("KEY(0)", 96, _bits(down, 96)), ("LED(0)", 8, bytes(8)), ("SW(0)", 8, bytes(8)),
             *((f"ABS({code})", 0, struct.pack("6i", *place, 0, 0, 0)) for code, place in axes)]
    return "".join(f"EVIOCG{what} {result} {data.hex().upper()}\n" for what, result, data in lines)


def _serve(folder):
    """In a process of its own, which umockdev-wrapper has started."""
    import gi  # pylint: disable=import-outside-toplevel
    gi.require_version("UMockdev", "1.0")
    from gi.repository import UMockdev  # pylint: disable=import-outside-toplevel
    bed = UMockdev.Testbed.new()
    nodes = Path(bed.get_root_dir(), "dev/input")
    nodes.mkdir(parents=True)

    def plug(number, name, *answers):
        node = f"/dev/input/event{number}"
        bed.add_from_string(f"P: /devices/input{number}/event{number}\nN: input/event{number}\n"
                            f"E: DEVNAME={node}\nE: SUBSYSTEM=input\nA: dev=13:{64 + number}\n")
        path = Path(folder, f"event{number}.ioctl")
        path.write_text(f"@DEV {node}\n" + _answers(name, *answers), encoding="utf-8")
        bed.load_ioctl(node, str(path))
        (nodes / f"event{number}").chmod(0o644)  # as udev does once the device is ready

    def unplug(number):
        # umockdev leaves these, and the same terminal may come again.
        os.close(bed.get_dev_fd(f"/dev/input/event{number}"))
        terminal = os.readlink(nodes / f"event{number}")
        (nodes.parent / ".ptymap" / terminal.replace("/", "_")).unlink()
        bed.remove_device(f"/sys/devices/input{number}/event{number}")

    def send(number, events):
        data = b"".join(struct.pack("qqHHi", 0, 0, *event) for event in [*events, (SYN, 0, 0)])
        with open(bed.get_dev_fd(f"/dev/input/event{number}"), "wb", closefd=False) as written:
            written.write(data)

    print(json.dumps(bed.get_root_dir()), flush=True)
    for line in sys.stdin:
        what, *rest = json.loads(line)
        {"plug": plug, "unplug": unplug, "send": send}[what](*rest)
        print(json.dumps("done"), flush=True)


if __name__ == "__main__":
    _serve(sys.argv[1])
