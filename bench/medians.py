# SPDX-License-Identifier: GPL-3.0-or-later
"""Medians of interleaved pairs, and searches for a limit. Pure functions."""
from statistics import median


def times_cheaper(theirs, ours):
    """How many times less ours cost: the median of the ratios of pairs measured next to each other. A pair with a None
    is left out; None when none is left or ours cost nothing."""
    ratios = [a / b for a, b in zip(theirs, ours) if a is not None and b is not None and b > 0]
    return median(ratios) if ratios else None


def typical(values):
    """The median of what was measured; None when nothing was."""
    measured = [value for value in values if value is not None]
    return median(measured) if measured else None


def without_base(values, base):
    """Each value less the median of `base`, what the same costs without voices."""
    less = median(base)
    return [None if value is None else value - less for value in values]


def beyond_length(cost, blocks):
    """What a note costs whatever its length, and a block more of it: from the costs of notes of `blocks` and of
    twice as many, `cost` being {blocks: cost}."""
    short, long = cost[blocks], cost[2 * blocks]
    return 2 * short - long, (long - short) / blocks


def most(sustains, start, resolution=0.04):
    """The greatest whole number for which `sustains(number)`, to within that part of it, when all below the limit are
    sustained. `start` is tried first; 0 when even a sixteenth of it is too many."""
    low, high = 0, None
    number = start
    while high is None or (low == 0 and number >= max(1, start // 16)):
        if sustains(number):
            low = number
            if high is not None:
                break
            number *= 2
        else:
            high = number
            if low:
                break
            number //= 2
    if not low:
        return 0
    while high - low > max(1, resolution * low):
        middle = (low + high) // 2
        if sustains(middle):
            low = middle
        else:
            high = middle
    return low
