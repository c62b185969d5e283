# SPDX-License-Identifier: GPL-3.0-or-later
"""Random scores for voices that may be computed side by side: they start in groups of the same SynthDef. Some
are moved, mapped, paused, replaced or freed, between two blocks or in the middle of one."""
import random
from pathlib import Path

from tests.oracle import ugens

SYNTHDEFS = Path(__file__).parent / "batches"
CHANNELS = 8
BUSES = 12  # audio buses that voices read and write; the first ones are the outputs
CONTROLS = 8  # buses of control; what they hold is added to frequencies, but for the two after them, which are levels
LEVEL_BUSES = (CONTROLS, CONTROLS + 1)
GROUPS = 6
FIRST = 1000  # node
MOST = 100  # voices at once, a few more when a chord comes
CHORDS = (1, 1, 2, 3, 5, 8, 9, 16, 17)
HEAD, TAIL, BEFORE, AFTER, REPLACE = range(5)

# SynthDefs that a score often uses, as pieces of music have many voices of such ones.
USUAL = ("default", "fm", "perc", "organ", "acid", "hit", "steps", "string")
OTHERS = ("ends", "pauses", "cutsNext", "cutsGroup", "echo", "room", "hall", "loop", "hiss", "bow", "rain",
          "drift", "dice", "reader", "feedback", "replacer", "crosser", "control", "setter", "controlled", "audible",
          "table", "player", "mixed", "frees")
GATED = {"default", "fm", "organ", "acid", "echo", "hiss", "mixed", "frees"}
RANGES = {"freq": (60, 1500), "pan": (-1, 1), "ratio": (0.3, 3), "index": (0, 5), "time": (0.01, 0.6),
          "cutoff": (200, 4000), "rq": (0.1, 1), "speed": (1, 30), "mix": (0, 1)}
FREQUENCIES = {"control": (0.5, 20), "setter": (0.5, 20), "rain": (1, 60), "dice": (2, 60), "player": (0.3, 2),
               "audible": (-1, 1)}
LEVELS = {"control": (5, 60), "setter": (5, 60), "replacer": (0.3, 1), "reader": (0.3, 1), "feedback": (0.3, 1)}
USUAL_LEVEL = (0.02, 0.15)


class Score:
    """The events of one seed; the same seed, the same events."""

    def __init__(self, seed, seconds, folder):
        self._random = random.Random(seed)
        self._next = FIRST
        self._live = []  # (node, SynthDef) that were started; they may have freed themselves
        self._defs = {one.name: one for path in sorted(SYNTHDEFS.glob("*.scsyndef"))
                      for one in ugens.read(path.read_bytes())}
        self.events = [(0, *ugens.buffers(folder), ("/d_loadDir", str(SYNTHDEFS)), *self._groups(),
                        ("/s_new", "seed", 99, HEAD, 0, "seed", float(seed)),
                        *(("/c_set", bus, float(10 * bus)) for bus in range(CONTROLS)),
                        *(("/c_set", bus, 0.1) for bus in LEVEL_BUSES))]
        self.end = seconds
        time = 0.01
        while time < seconds - 0.1:
            self._step(time)
            time += self._random.choice((0.0, 0.0003, 0.004, 0.02, 0.06)) * self._random.random() + 1e-5

    def before(self, seconds, count=6):
        """The last events before a time, as text."""
        past = [event for event in self.events[1:] if event[0] <= seconds][-count:]
        return "\n".join(f"  {time:.6f}: {' '.join(map(str, message))}"
                         for time, *messages in past for message in messages)

    def _step(self, time):
        if len(self._live) > MOST:
            gone, self._live = self._live[:20], self._live[20:]
            self.events.append((time, ("/n_free", *(node for node, _ in gone))))
            return
        actions = ((self._chord, 5), (self._set, 6), (self._release, 5), (self._free, 2), (self._map, 2), (self._run, 2),
                   (self._move, 3), (self._set_group, 1), (self._bus, 1), (self._clear_group, 0.1), (self._groups, 1),
                   (self._several, 2))
        action, = self._random.choices([each for each, _ in actions], [weight for _, weight in actions])
        if messages := action():
            self.events.append((time, *messages))

    def _several(self):
        return [message for action in (self._chord, self._set, self._release, self._move) for message in action()]

    def _chord(self):
        name = self._random.choice(USUAL if self._random.random() < 0.6 else OTHERS)
        count = self._random.choice(CHORDS) if name in USUAL else self._random.choice(CHORDS[:6])
        action, target = self._random.choice((HEAD, TAIL, TAIL)), self._random.randint(0, GROUPS)
        if self._live and self._random.random() < 0.2:
            action, target = self._random.choice((BEFORE, AFTER)), self._node()
        same_bus = self._random.random() < 0.6 and self._bus_for(name, "out")
        messages = []
        for _ in range(count):
            values = self._values(name)
            if same_bus is not False:
                values["out"] = same_bus
            messages.append(self._new(name, action, target, values))
        if self._live and self._random.random() < 0.1:
            messages.append(self._new(name, REPLACE, self._node(), self._values(name)))
        return messages

    def _new(self, name, action, target, values):
        node, self._next = self._next, self._next + 1
        self._live.append((node, name))
        return ("/s_new", name, node, action, target, *_pairs(values))

    def _set(self):
        return [("/n_set", node, *_pairs(self._some(self._values(name)))) for node, name in self._nodes(4)]

    def _set_group(self):
        return [("/n_set", self._random.randint(1, GROUPS), "amp", self._random.uniform(*USUAL_LEVEL))]

    def _release(self):
        chosen = self._nodes(6)
        self._live = [each for each in self._live if each not in chosen]
        return [("/n_set", node, "gate", 0.0) if name in GATED else ("/n_free", node) for node, name in chosen]

    def _free(self):
        chosen = self._nodes(3)
        self._live = [each for each in self._live if each not in chosen]
        return [("/n_free", *(node for node, _ in chosen))] if chosen else []

    def _map(self):
        return [self._map_one(node, name) for node, name in self._nodes(3)
                if name not in ("control", "setter", "rain", "dice")]

    def _map_one(self, node, name):
        on = self._random.random() < 0.7
        if name == "audible" or self._random.random() < 0.1:
            return ("/n_mapa", node, "freq", self._random.randrange(BUSES) if on else -1)
        if self._random.random() < 0.5:
            return ("/n_map", node, "amp", self._random.choice(LEVEL_BUSES) if on else -1)
        return ("/n_map", node, "freq", self._random.randrange(CONTROLS) if on else -1)

    def _run(self):
        flag = int(self._random.random() < 0.6)
        if self._random.random() < 0.1:
            return [("/n_run", self._random.randint(1, GROUPS), flag)]
        return [("/n_run", node, flag) for node, _ in self._nodes(3)]

    def _move(self):
        chosen = [node for node, _ in self._nodes(3)]
        if len(chosen) < 2:
            return []
        group = self._random.randint(1, GROUPS)
        return [self._random.choice((
            ("/n_before", chosen[0], chosen[1]), ("/n_after", chosen[0], chosen[1]),
            ("/g_head", group, chosen[0], group, chosen[1]), ("/g_tail", group, chosen[0]),
            ("/n_order", self._random.randrange(4), self._random.randint(0, 1) * group or chosen[-1], *chosen[:-1]),
            ("/n_before", self._random.randint(1, 3), chosen[0])))]

    def _bus(self):
        return [("/c_set", self._random.randrange(CONTROLS), self._random.uniform(1, 90)),
                ("/c_set", self._random.choice(LEVEL_BUSES), self._random.uniform(*USUAL_LEVEL))]

    def _clear_group(self):
        return [(self._random.choice(("/g_freeAll", "/g_deepFree")), self._random.randint(1, GROUPS))]

    def _groups(self):
        """Make three groups with one in each, where they no longer exist."""
        return [("/g_new", group, TAIL, max(group - 3, 0)) for group in range(1, GROUPS + 1)]

    def _node(self):
        return self._random.choice(self._live)[0]

    def _nodes(self, most):
        return self._random.sample(self._live, min(len(self._live), self._random.randint(1, most)))

    def _some(self, values):
        values.pop("gate", None)
        names = self._random.sample(sorted(values), self._random.randint(1, len(values)))
        return {name: values[name] for name in names}

    def _bus_for(self, name, control):
        if name in ("control", "setter") or name == "controlled" and control == "in":
            return float(self._random.randrange(CONTROLS))
        return float(self._random.randrange(BUSES if self._random.random() < 0.4 else CHANNELS - 1))

    def _values(self, name):
        values = {}
        for control in self._defs[name].parameters:
            if control in ("out", "in"):
                values[control] = self._bus_for(name, control)
            elif control == "action":
                values[control] = float(self._random.randrange(16))
            elif control == "bufnum":
                values[control] = float(10 if name == "player" else self._random.randrange(4))
            elif control == "amp":
                values[control] = self._random.uniform(*LEVELS.get(name, USUAL_LEVEL))
            elif control == "gate":
                values[control] = 1.0
            else:
                ranges = FREQUENCIES if control == "freq" and name in FREQUENCIES else {name: RANGES[control]}
                values[control] = self._random.uniform(*ranges[name])
        return values


def _pairs(values):
    return [item for pair in values.items() for item in pair]
