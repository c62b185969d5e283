# SPDX-License-Identifier: GPL-3.0-or-later
"""What is taken for growth, and what for too long a silence."""
import pytest

from tests.hostile import turns
from tests.hostile.desktop_life import MORE, REST, WARM, Daemon, Failure, Look, Watch


def look(number, memory=0, descriptors=59):
    return Look(number * REST, memory, descriptors, 8, 14)


def watched(*parts):
    """A watch over one daemon whose engines had these memories, look by look."""
    watch, daemon, number = Watch(None), Daemon(), 0
    daemon.parts = []
    for part in parts:
        daemon.parts.append([])
        for memory in part:
            daemon.parts[-1].append(look(number, memory))
            number += 1
    watch.daemons = [daemon]
    return watch


def test_growth_is_told_from_what_a_new_engine_needs():
    warm = [0, 900, 1000]
    flat = watched(warm + [1000] * 12, [20000 + each for each in warm] + [21000] * 12)
    assert flat.growth() == 0
    flat.check_growth()
    growing = watched(warm + [1000 + 10 * REST * i for i in range(12)], warm + [5000 + 10 * REST * i for i in range(12)])
    assert growing.growth() == pytest.approx(10)
    with pytest.raises(Failure, match="10.00 KiB a turn"):
        growing.check_growth()


def test_of_a_few_looks_nothing_is_told():
    watch = watched([0] * (WARM + 5))
    assert watch.growth() is None
    watch.check_growth()


def test_more_descriptors():
    daemon = Daemon()
    for number in range(WARM):
        daemon.add(look(number))
    daemon.add(look(WARM, descriptors=59 + MORE))
    with pytest.raises(Failure, match="62 descriptors instead of 59"):
        daemon.add(look(WARM + 1, descriptors=60 + MORE))


def test_a_silence_that_is_too_long():
    kind = turns.Kind("it thunders", None, 1, 0.5)
    kind.note(0.5)
    kind.note(None)
    with pytest.raises(turns.Wrong, match="it thunders: nothing was heard for 0.501 s"):
        kind.note(0.501)
    assert (kind.count, kind.deaf, kind.longest) == (3, 1, 0.501)


def test_kinds_have_names_of_their_own():
    names = [kind.name for kind in turns.kinds()]
    assert len(set(names)) == len(names)
