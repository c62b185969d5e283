# SPDX-License-Identifier: GPL-3.0-or-later
"""Several hosts, each with a server of its own, that play one score: the moments at which they do."""
import time

import numpy as np
import pytest

from tests.lib import between_hosts, hosts

PPM = (100, -100, 30, 0)
FRAME = 1e9 / hosts.RATE  # ns


@pytest.fixture(scope="module")
def network(ours):
    if reason := hosts.why_not():
        pytest.skip(reason)
    with hosts.Network() as network:
        # Cards that are off by as much as is usual, in machines that have run for different times.
        for number, ppm in enumerate(PPM):
            host = network.add(ppm=ppm, ahead=1000 * number)
            host.start_server()
            host.client.command("/d_loadDir", str(hosts.SYNTHDEFS))
        yield network


def rate_of(clicks):
    """Frames of the driver in a second."""
    return np.polyfit([click.wall / 1e9 for click in clicks], [click.position for click in clicks], 1)[0]


def test_time_tags_are_the_same_moment_at_each_host(network):
    times, heard = hosts.whole(lambda seed: hosts.play_clicks(network.hosts, 80, seed))
    for host, clicks, ppm in zip(network.hosts, heard, PPM):
        # Half a frame, as clicks are at whole frames; a frame where the nearest one is the next block's; and a little.
        late = np.array([click.wall for click in clicks]) - times
        assert np.abs(late).max() < 1.1 * FRAME
        assert abs(late.mean()) < 0.2 * FRAME
        assert rate_of(clicks) == pytest.approx(hosts.RATE * (1 + ppm * 1e-6), abs=0.5)


def test_a_bundle_for_all_is_one_moment(network):
    """Sent to each host one after the other, with a pause that is longer than a cycle."""
    def play(_):
        before = [host.heard.count() for host in network.hosts]
        moment = time.time() + 0.5
        for host in network.hosts:
            host.client.send_at(moment, ("/s_new", "test_impulse", -1, 0, 0))
            time.sleep(0.05)
        return [hosts.wait_clicks(host, old, 1)[0].wall for host, old in zip(network.hosts, before)]
    found = hosts.whole(play)
    assert max(found) - min(found) < 2.1 * FRAME  # each is a frame off at most


@pytest.mark.parametrize("name", between_hosts.WAYS)
def test_sound_goes_from_one_host_to_another(ours, name):
    """By the drop-ins of conf/several-machines: each click of the second host comes to the first, and all take the same
    time, but for what the receiver adapts to."""
    way = between_hosts.WAYS[name]
    if reason := way.why_not() or hosts.why_not():
        pytest.skip(reason)
    with between_hosts.Pair(way, PPM[:2]) as pair:
        latencies = hosts.whole(lambda seed: pair.play(20, seed)).latencies()
    assert np.abs(latencies).max() < 0.1 * hosts.RATE
    assert np.ptp(latencies) < 0.01 * hosts.RATE
