# SPDX-License-Identifier: GPL-3.0-or-later
"""A JACK client that prints what it hears in the first frame of each cycle:

    jack_ear.py  NAME  PORTS

Each line is the time of that frame by the graph's clock (microseconds, CLOCK_MONOTONIC), and a number for each of the ports
in_1, in_2, …"""
import ctypes
import queue
import sys

PROCESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p)
AUDIO, IS_INPUT = b"32 bit float mono audio", 1


class Ear:
    def __init__(self, name, count):
        self._jack = jack = ctypes.CDLL("libjack.so.0")
        for function in ("jack_client_open", "jack_port_register", "jack_port_get_buffer"):
            getattr(jack, function).restype = ctypes.c_void_p
        self._client = ctypes.c_void_p(jack.jack_client_open(name.encode(), 0, None))
        if not self._client:
            raise RuntimeError("no JACK client")
        self._ports = [ctypes.c_void_p(jack.jack_port_register(
            self._client, f"in_{number}".encode(), AUDIO, ctypes.c_ulong(IS_INPUT), ctypes.c_ulong(0)))
                       for number in range(1, count + 1)]
        self.heard = queue.SimpleQueue()
        self._process = PROCESS(self.process)
        jack.jack_set_process_callback(self._client, self._process, None)
        jack.jack_activate(self._client)

    def process(self, frames, _):
        frame, now, then, period = ctypes.c_uint32(), ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_float()
        self._jack.jack_get_cycle_times(self._client, *map(ctypes.byref, (frame, now, then, period)))
        buffers = [ctypes.cast(self._jack.jack_port_get_buffer(port, frames), ctypes.POINTER(ctypes.c_float))
                   for port in self._ports]
        self.heard.put((now.value, *(buffer[0] for buffer in buffers)))
        return 0


def main():
    ear = Ear(sys.argv[1], int(sys.argv[2]))
    while True:
        print(*ear.heard.get(), flush=True)


if __name__ == "__main__":
    main()
