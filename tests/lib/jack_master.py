# SPDX-License-Identifier: GPL-3.0-or-later
"""A JACK client that is transport master, and puts out what it says as sound:

    jack_master.py  NAME  [SECONDS  ACTION  NUMBER] …

ACTION is start, stop, tempo (beats a minute) or locate (frame), that many seconds after the last of its ports is linked. Bars
have four beats. The ports are beat (in its bar), tempo (beats a second), playing and bar, in each frame as JACK clients see
the transport in that cycle. Prints "done" after the last action and half a second."""
import ctypes
import queue
import sys
import threading

import numpy as np

BEATS_PER_BAR = 4
TICKS = 100_000_000  # a beat: what JACK passes on is an integer
ROLLING = 1
BBT = 0x10


class Position(ctypes.Structure):
    """jack_position_t"""
    _pack_ = 1
    _fields_ = [("unique_1", ctypes.c_uint64), ("usecs", ctypes.c_uint64), ("frame_rate", ctypes.c_uint32),
                ("frame", ctypes.c_uint32), ("valid", ctypes.c_uint32), ("bar", ctypes.c_int32), ("beat", ctypes.c_int32),
                ("tick", ctypes.c_int32), ("bar_start_tick", ctypes.c_double), ("beats_per_bar", ctypes.c_float),
                ("beat_type", ctypes.c_float), ("ticks_per_beat", ctypes.c_double), ("beats_per_minute", ctypes.c_double),
                ("frame_time", ctypes.c_double), ("next_time", ctypes.c_double), ("bbt_offset", ctypes.c_uint32),
                ("audio_frames_per_video_frame", ctypes.c_float), ("video_offset", ctypes.c_uint32),
                ("tick_double", ctypes.c_double), ("padding", ctypes.c_int32 * 5), ("unique_2", ctypes.c_uint64)]


PROCESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p)
TIMEBASE = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_uint32, ctypes.POINTER(Position), ctypes.c_int, ctypes.c_void_p)


def library():
    jack = ctypes.CDLL("libjack.so.0")
    for name in ("jack_client_open", "jack_port_register", "jack_port_get_buffer"):
        getattr(jack, name).restype = ctypes.c_void_p
    jack.jack_last_frame_time.restype = ctypes.c_uint32
    return jack


class Master:
    def __init__(self, name, script):
        self._jack = library()
        self._client = ctypes.c_void_p(self._jack.jack_client_open(name.encode(), 0, None))
        if not self._client:
            raise RuntimeError("no JACK client")
        self._rate = self._jack.jack_get_sample_rate(self._client)
        self._ports = [ctypes.c_void_p(self._jack.jack_port_register(
            self._client, port.encode(), b"32 bit float mono audio", ctypes.c_ulong(2), ctypes.c_ulong(0)))
                       for port in ("beat", "tempo", "playing", "bar")]
        self._script, self._elapsed = script, 0
        self._map = (0.0, 0, 120.0)  # a beat, its frame, beats a minute
        self._said = None            # the map as it was said last
        self._end = (script[-1][0] if script else 0) + 0.5
        self._due = queue.SimpleQueue()  # of the script
        self._process, self._timebase = PROCESS(self.process), TIMEBASE(self.timebase)
        self._jack.jack_set_process_callback(self._client, self._process, None)
        self._jack.jack_activate(self._client)
        if self._jack.jack_set_timebase_callback(self._client, 0, self._timebase, None):
            raise RuntimeError("not the transport master")

    def process(self, frames, _):
        position = Position()
        rolling = self._jack.jack_transport_query(self._client, ctypes.byref(position)) == ROLLING
        at = position.frame + np.arange(frames) * rolling
        beats, tempo = np.zeros(frames), 0
        if self._said:
            beat, frame, minute = self._said
            tempo = minute / 60
            beats = beat + (at - frame) * tempo / self._rate
        bars = np.floor((beats + 1e-9) / BEATS_PER_BAR)
        for port, values in zip(self._ports, (beats - bars * BEATS_PER_BAR, tempo, rolling, bars)):
            buffer = ctypes.cast(self._jack.jack_port_get_buffer(port, frames), ctypes.POINTER(ctypes.c_float))
            np.ctypeslib.as_array(buffer, (frames,))[:] = values
        self._act(position.frame, frames)
        return 0

    def _act(self, frame, frames):
        if not self._jack.jack_port_connected(self._ports[-1]):
            return
        self._elapsed += frames / self._rate
        while self._script and self._script[0][0] <= self._elapsed:
            _, action, number = self._script.pop(0)
            if action == "tempo":
                beat, since, minute = self._map
                self._map = (beat + (frame - since) * minute / 60 / self._rate, frame, number)
            else:
                self._due.put((action, number))
        if self._elapsed > self._end:
            self._due.put(None)
            self._end = float("inf")

    def perform(self):
        """Do what is due, until the script is at its end. Not in the process callback: from PipeWire 1.2 on a
        start takes a lock."""
        while due := self._due.get():
            action, number = due
            if action == "start":
                self._jack.jack_transport_start(self._client)
            elif action == "stop":
                self._jack.jack_transport_stop(self._client)
            else:
                self._jack.jack_transport_locate(self._client, int(number))

    def timebase(self, _state, _frames, position, _new, _argument):
        beat, since, minute = self._said = self._map
        p = position.contents
        ticks = round((beat + (p.frame - since) * minute / 60 / self._rate) * TICKS)
        beats, p.tick = divmod(ticks, TICKS)
        p.bar, p.beat = beats // BEATS_PER_BAR + 1, beats % BEATS_PER_BAR + 1
        p.valid = BBT
        p.bar_start_tick = float((p.bar - 1) * BEATS_PER_BAR * TICKS)
        p.beats_per_bar, p.beat_type, p.ticks_per_beat, p.beats_per_minute = BEATS_PER_BAR, 4, TICKS, minute


def main():
    name, *words = sys.argv[1:]
    script = [(float(words[i]), words[i + 1], float(words[i + 2])) for i in range(0, len(words), 3)]
    master = Master(name, script)
    master.perform()
    print("done", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
