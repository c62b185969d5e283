# SPDX-License-Identifier: GPL-3.0-or-later
"""A JACK client that prints what it sees of the transport, a line whenever that has changed, at most 50 a second: whether it
rolls, bar, beat with its fraction, beats a minute, beats a bar, frame."""
import ctypes
import time

from tests.lib.jack_master import BBT, ROLLING, Position, library


def main():
    jack = library()
    client = ctypes.c_void_p(jack.jack_client_open(b"watcher", 0, None))
    if not client:
        raise RuntimeError("no JACK client")
    jack.jack_activate(client)
    last, position = None, Position()
    while True:
        rolling = jack.jack_transport_query(client, ctypes.byref(position)) == ROLLING
        p = position
        seen = (int(rolling), 0, 0, 0, 0, p.frame)
        if p.valid & BBT:
            seen = (int(rolling), p.bar, p.beat + p.tick / p.ticks_per_beat, p.beats_per_minute, p.beats_per_bar, p.frame)
        if seen != last:
            print(*seen, flush=True)
            last = seen
        time.sleep(0.02)


if __name__ == "__main__":
    main()
