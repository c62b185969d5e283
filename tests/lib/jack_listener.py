# SPDX-License-Identifier: GPL-3.0-or-later
"""A JACK client that prints what it hears:

    jack_listener.py  NAME

Its ports are midi and sound. Each event is a line, "midi FRAME BYTE …", and so is each frame of the sound that isn't 0, "sound
FRAME". Frames are the server's. "missed FRAME" says that it was late: what the cycles before and after this frame held isn't
known."""
import ctypes
import queue
import sys

import numpy as np

from tests.lib.jack_master import PROCESS, library


class Event(ctypes.Structure):
    """jack_midi_event_t"""
    _fields_ = [("time", ctypes.c_uint32), ("size", ctypes.c_size_t), ("buffer", ctypes.POINTER(ctypes.c_ubyte))]


class Listener:
    def __init__(self, name):
        self._jack = library()
        self._client = ctypes.c_void_p(self._jack.jack_client_open(name.encode(), 0, None))
        if not self._client:
            raise RuntimeError("no JACK client")
        self._midi, self._sound = (ctypes.c_void_p(self._jack.jack_port_register(
            self._client, port.encode(), kind, ctypes.c_ulong(1), ctypes.c_ulong(0)))
                                   for port, kind in (("midi", b"8 bit raw midi"), ("sound", b"32 bit float mono audio")))
        self._next = None  # the next cycle's first frame
        self.heard = queue.SimpleQueue()
        self._process = PROCESS(self.process)
        self._jack.jack_set_process_callback(self._client, self._process, None)
        self._jack.jack_activate(self._client)

    def process(self, frames, _):
        now = self._jack.jack_last_frame_time(self._client)
        if self._next is not None and now != self._next:
            self.heard.put(f"missed {now}")
        self._next = now + frames
        sound = ctypes.cast(self._jack.jack_port_get_buffer(self._sound, frames), ctypes.POINTER(ctypes.c_float))
        for frame in np.flatnonzero(np.ctypeslib.as_array(sound, (frames,))):
            self.heard.put(f"sound {now + frame}")
        events, event = ctypes.c_void_p(self._jack.jack_port_get_buffer(self._midi, frames)), Event()
        for number in range(self._jack.jack_midi_get_event_count(events)):
            self._jack.jack_midi_event_get(ctypes.byref(event), events, number)
            data = " ".join(str(byte) for byte in event.buffer[:event.size])
            self.heard.put(f"midi {now + event.time} {data}")
        if self._jack.jack_last_frame_time(self._client) != now:
            self.heard.put(f"missed {now + frames}")
        return 0


def main():
    listener = Listener(sys.argv[1])
    while line := listener.heard.get():
        print(line, flush=True)


if __name__ == "__main__":
    main()
