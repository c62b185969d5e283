# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of what a sink plays, taken from its monitor ports as 32 bit float WAV."""
import time

from tests.lib.session_config import positions


class Recording:
    """A context manager: records from entry to exit; the file is complete after exit."""

    def __init__(self, session, path, sink="test-sink", channels=None, rate=48000):
        self.path = path
        self._session, self._sink, self._rate = session, sink, rate
        self._channels = channels or session.sinks[sink]

    def __enter__(self):
        name = f"record-{self._sink}"
        self._child = self._session.start(
            ["pw-record", "--target", self._sink, "--rate", self._rate, "--format", "f32",
             "--channels", self._channels, "--channel-map", ",".join(positions(self._channels)),
             "--latency", "1024",
             "-P", f"{{ stream.capture.sink = true node.name = {name} }}", self.path], name)
        self._session.wait_links(
            lambda links: sum(inlet.startswith(f"{name}:") for _, inlet in links) == self._channels,
            f"the links of the recording of {self._sink}")
        self._session.wait_state(name, "running")
        return self

    def __exit__(self, *_):
        self._child.interrupt()
        self._child.wait(5)


def record_monitor(session, seconds, path, **options):
    """Record for that long."""
    with Recording(session, path, **options):
        time.sleep(seconds)
    return path
