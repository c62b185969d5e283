# SPDX-License-Identifier: GPL-3.0-or-later
"""SynthDefs of ugens/ in which an input of a unit is at control rate that the unit reads sample by sample."""
import re
import struct
from dataclasses import dataclass, replace

from tests.lib.build import ROOT
from tests.oracle import ugens

EVERY = (1 << 64) - 1
AUDIO, CONTROL, DEMAND = 2, 1, 3


@dataclass
class Whole:
    """A SynthDef as a file has it. A unit: (name, rate, inputs, rates of the outputs, operator); an input: (unit, output) or
    (-1, constant)."""
    name: str
    constants: list
    values: list
    names: list
    units: list

    def bytes(self):
        body = _text(self.name)
        for numbers in (self.constants, self.values):
            body += struct.pack(f">i{len(numbers)}f", len(numbers), *numbers)
        body += struct.pack(">i", len(self.names))
        for name, index in self.names:
            body += _text(name) + struct.pack(">i", index)
        body += struct.pack(">i", len(self.units))
        for name, rate, inputs, outputs, operator in self.units:
            body += _text(name) + struct.pack(">biih", rate, len(inputs), len(outputs), operator)
            body += b"".join(struct.pack(">ii", *each) for each in inputs) + bytes(outputs)
        return b"SCgf" + struct.pack(">ih", 2, 1) + body + struct.pack(">h", 0)

    def with_input(self, unit, index, audio):
        """The same whose input comes from a new control, as it is or made audio."""
        source = self.units[unit][2][index]
        value = self.constants[source[1]] if source[0] < 0 else 0.37
        first = [("Control", CONTROL, [], [CONTROL], len(self.values))]
        if audio:
            first.append(("K2A", AUDIO, [(0, 0)], [AUDIO], 0))
        units = list(first)
        for number, (name, rate, inputs, outputs, operator) in enumerate(self.units):
            inputs = [(from_ + len(first) if from_ >= 0 else from_, output) for from_, output in inputs]
            if number == unit:
                inputs[index] = (len(first) - 1, 0)
            units.append((name, rate, inputs, outputs, operator))
        return replace(self, values=[*self.values, value], names=[*self.names, ("held", len(self.values))], units=units)


def read(data):
    """Each SynthDef of a file of version 2."""
    reader = ugens.Reader(data)
    reader.skip(8)
    for _ in range(reader.take("h")):
        name = reader.string()
        constants, values = ([reader.take("f") for _ in range(reader.take("i"))] for _ in range(2))
        names = [(reader.string(), reader.take("i")) for _ in range(reader.take("i"))]
        units = []
        for _ in range(reader.take("i")):
            unit, rate, inputs, outputs, operator = reader.string(), *(reader.take(kind) for kind in "biih")
            inputs = [(reader.take("i"), reader.take("i")) for _ in range(inputs)]
            units.append((unit, rate, inputs, [reader.take("b") for _ in range(outputs)], operator))
        for _ in range(reader.take("h")):
            reader.string()
            reader.skip(4 * len(values))
        yield Whole(name, constants, values, names, units)


def rows():
    """{unit: inputs that it reads sample by sample, a bit each} of the tables of units."""
    table = {}
    for name in "core-units.hpp", "sc3-plugins-units.hpp":
        for row in (ROOT / "src/engine/units" / name).read_text().split("\n    unit(")[1:]:
            if inputs := re.search(r"\.reads_samples\(([^()]+)\)", row):
                bits = eval(inputs[1], {"every_input": EVERY}) & EVERY  # pylint: disable=eval-used
                table[row.split('"')[1]] = bits
    return table


def cases(path, table):
    """(unit, input, SynthDef with it at control rate, the same at audio rate) of a file, once for each input."""
    seen = set()
    for one in read(path.read_bytes()):
        for number, (name, rate, inputs, _, _) in enumerate(one.units):
            for index, source in enumerate(inputs):
                demand = source[0] >= 0 and one.units[source[0]][1] == DEMAND
                if rate == AUDIO and table.get(name, 0) >> index & 1 and not demand and (name, index) not in seen:
                    seen.add((name, index))
                    yield name, index, one.with_input(number, index, False), one.with_input(number, index, True)


def _text(name):
    return bytes([len(name)]) + name.encode()
