# SPDX-License-Identifier: GPL-3.0-or-later
"""Which links are expected, and when the policy has done all that it was to do."""
from daemons import wait_for

STEREO = ("FL", "FR")


def outs(sink, channels=STEREO, node="scsynth"):
    return {(f"{node}:out_{i}", f"{sink}:playback_{c}") for i, c in enumerate(channels, 1)}


def ins(source, channels=STEREO, node="scsynth"):
    return {(f"{source}:capture_{c}", f"{node}:in_{i}") for i, c in enumerate(channels, 1)}


def links_of(graph, node="scsynth"):
    return {pair for pair in graph.links
            if any(port and port.startswith(node + ":") for port in pair)}


def expect(session, links, node="scsynth"):
    return session.wait_graph(lambda g: links_of(g, node) == links,
                              f"exactly {sorted(links)} at {node}")


def witness(session, name="witness", sink="main"):
    """Link a second node. Once that is linked, the policy has done everything that it was to do before."""
    session.add_dsp_node(name)
    expect(session, outs(sink, node=name), name)


def remove_by_hand(session, node="scsynth"):
    """Removes the link of out_1 as a user does and waits until the policy has understood."""
    session.run("pw-link", "-d", f"{node}:out_1", "main:playback_FL")
    wait_for(lambda: session.remembered().get(node) == "out_1", "the remembered removal")


def nothing_remembered(session, sink="main"):
    """Check that no removal was taken for the user's."""
    return remembered(session, sink) == {}


def remembered(session, sink="main"):
    """The removals that were taken for the user's. A real one, made last, shows that all others were judged."""
    session.add_dsp_node("probe", target_object=sink)
    expect(session, outs(sink, node="probe"), "probe")
    session.run("pw-link", "-d", "probe:out_1", f"{sink}:playback_FL")
    wait_for(lambda: "probe" in session.remembered(), "the remembered removal")
    found = session.remembered()
    del found["probe"]
    return found
