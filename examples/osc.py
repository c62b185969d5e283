# SPDX-License-Identifier: GPL-3.0-or-later
"""OSC packets as bytes: encode and decode messages and bundles (pure functions).

Python values and type tags: int i (h when it needs 64 bits), float f, str s, bytes b,
True T, False F, None N, TimeTag t, Double d, a list or tuple [ ... ].
An address is a string, or an int for SuperCollider's numbered commands.
"""
import struct
from dataclasses import dataclass, field

IMMEDIATELY = 1
UNIX_TO_NTP = 2208988800
MAX_DEPTH = 32


class OscError(ValueError):
    """The bytes or values are not an OSC packet."""


class TimeTag(int):
    """A 64 bit NTP time: seconds since 1900 in the upper half, fractions in the lower."""

    @classmethod
    def from_unix(cls, seconds):
        whole = int(seconds // 1)
        return cls((whole + UNIX_TO_NTP << 32) + int((seconds - whole) * 2**32))

    def unix(self):
        return (self >> 32) - UNIX_TO_NTP + (self & 0xFFFFFFFF) / 2**32


class Double(float):
    """A float sent as 64 bits."""


@dataclass
class Message:
    address: str | int
    args: list = field(default_factory=list)

    def __init__(self, address, *args):
        self.address = address
        self.args = list(args)


@dataclass
class Bundle:
    time: int
    elements: list = field(default_factory=list)


def encode(packet):
    """Bytes of a Message or Bundle."""
    if isinstance(packet, Bundle):
        parts = [encode(element) for element in packet.elements]
        body = b"".join(struct.pack(">i", len(part)) + part for part in parts)
        return b"#bundle\0" + struct.pack(">Q", packet.time) + body
    tags, data = _encode_args(packet.args)
    if isinstance(packet.address, int):
        address = struct.pack(">i", packet.address)
    else:
        address = _string(packet.address)
    return address + _string("," + tags) + data


def decode(data):
    """The Message or Bundle in `data`; OscError when it is malformed."""
    try:
        return _decode(bytes(data), 0)
    except (struct.error, UnicodeDecodeError) as error:
        raise OscError(str(error)) from error


def _string(text):
    raw = text.encode() + b"\0"
    return raw + bytes(-len(raw) % 4)


def _encode_args(args):
    tags, data = "", b""
    for arg in args:
        if isinstance(arg, (list, tuple)):
            inner_tags, inner = _encode_args(arg)
            tags, data = tags + "[" + inner_tags + "]", data + inner
        else:
            tag, raw = _encode_one(arg)
            tags, data = tags + tag, data + raw
    return tags, data


def _encode_one(arg):
    if arg is None:
        return "N", b""
    if isinstance(arg, bool):
        return ("T" if arg else "F"), b""
    if isinstance(arg, TimeTag):
        return "t", struct.pack(">Q", arg)
    if isinstance(arg, int):
        if -2**31 <= arg < 2**31:
            return "i", struct.pack(">i", arg)
        return "h", struct.pack(">q", arg)
    if isinstance(arg, Double):
        return "d", struct.pack(">d", arg)
    if isinstance(arg, float):
        return "f", struct.pack(">f", arg)
    if isinstance(arg, str):
        return "s", _string(arg)
    if isinstance(arg, (bytes, bytearray)):
        return "b", struct.pack(">i", len(arg)) + bytes(arg) + bytes(-len(arg) % 4)
    if isinstance(arg, (Message, Bundle)):
        return _encode_one(encode(arg))
    raise OscError(f"cannot send {type(arg).__name__}: {arg!r}")


def _decode(data, depth):
    if depth > MAX_DEPTH:
        raise OscError("bundles nested too deeply")
    if data.startswith(b"#bundle\0"):
        return _decode_bundle(data, depth)
    if len(data) < 4 or len(data) % 4:
        raise OscError(f"a message of {len(data)} bytes")
    if data[0] == 0:
        address, pos = struct.unpack_from(">i", data)[0], 4
    else:
        address, pos = _read_string(data, 0)
    if pos == len(data):
        return Message(address)
    tags, pos = _read_string(data, pos)
    if not tags.startswith(","):
        raise OscError(f"type tags without a comma: {tags!r}")
    return Message(address, *_read_args(data, pos, tags[1:]))


def _decode_bundle(data, depth):
    if len(data) < 16:
        raise OscError("a bundle without a time tag")
    bundle = Bundle(TimeTag(struct.unpack_from(">Q", data, 8)[0]))
    pos = 16
    while pos < len(data):
        size = struct.unpack_from(">i", data, pos)[0]
        pos += 4
        if size < 0 or pos + size > len(data):
            raise OscError(f"a bundle element of {size} bytes")
        bundle.elements.append(_decode(data[pos:pos + size], depth + 1))
        pos += size
    return bundle


def _read_string(data, pos):
    end = data.find(b"\0", pos)
    if end < 0:
        raise OscError("an unterminated string")
    return data[pos:end].decode(), end + 4 - (end - pos) % 4


_FIXED = {"i": ">i", "h": ">q", "f": ">f", "d": ">d", "c": ">i"}
_CONSTANT = {"T": True, "F": False, "N": None, "I": float("inf")}


def _read_args(data, pos, tags):
    stack = [[]]
    for tag in tags:
        if tag == "[":
            stack.append([])
        elif tag == "]":
            if len(stack) < 2:
                raise OscError("an array that never began")
            array = stack.pop()
            stack[-1].append(array)
        else:
            value, pos = _read_one(data, pos, tag)
            stack[-1].append(value)
    if len(stack) > 1:
        raise OscError("an array that never ends")
    return stack[0]


def _read_one(data, pos, tag):
    if tag in _FIXED:
        value = struct.unpack_from(_FIXED[tag], data, pos)[0]
        return value, pos + struct.calcsize(_FIXED[tag])
    if tag in _CONSTANT:
        return _CONSTANT[tag], pos
    if tag in "sS":
        return _read_string(data, pos)
    if tag == "t":
        return TimeTag(struct.unpack_from(">Q", data, pos)[0]), pos + 8
    if tag == "b":
        size = struct.unpack_from(">i", data, pos)[0]
        pos += 4
        if size < 0 or pos + size > len(data):
            raise OscError(f"a blob of {size} bytes")
        return data[pos:pos + size], pos + size + -size % 4
    raise OscError(f"unknown type tag {tag!r}")
