# SPDX-License-Identifier: GPL-3.0-or-later
"""What ours answers to the cases of differences.py, in answers.txt: names of cases, then the messages that come back, and
after a line "state" those that its probes bring. `python3 -m tests.differential.answers` writes the file anew from the
present build: read what has changed."""
from pathlib import Path

from tests.differential.cases import cases
from tests.differential.differences import reason_for

FILE = Path(__file__).with_name("answers.txt")
_STATE = "state"


def listed():
    """The cases that are to have answers."""
    return [case for case in cases() if reason_for(case[0])]


def load(text=None):
    """{name: (answers, answers to the probes)}, as lines."""
    found = {}
    for section in (text or FILE.read_text(encoding="utf-8")).split("\n\n"):
        lines = [line for line in section.splitlines() if line and not line.startswith("#")]
        names = [line for line in lines if not line.startswith(" ")]
        messages = [line.strip() for line in lines if line.startswith(" ")]
        at = messages.index(_STATE) if names else 0
        found |= {name: (messages[:at], messages[at + 1:]) for name in names}
    return found


def as_text(answers):
    """What load() reads; cases with the same answers share a section."""
    sections = {}
    for name, (first, state) in answers.items():
        sections.setdefault((tuple(first), tuple(state)), []).append(name)
    return "".join("\n" + "".join(f"{name}\n" for name in names)
                   + "".join(f"    {line}\n" for line in (*first, _STATE, *state))
                   for (first, state), names in sections.items())


def _write():
    from tests.differential import test_differential as test
    from tests.lib import server as servers
    from tests.lib.daemon import Session
    from tests.lib.ports import free_port
    with Session() as session:
        session.force_quantum(64)
        node = servers.NodeServer(session, free_port(), test.SETTINGS)
        session.connect(node.node_name, "test-sink")
        ours = test.Server(node.port)
        answers = {name: tuple(map(test.readable, ours.run(group, packet))) for name, group, packet in listed()}
    head = "# SPDX-License-Identifier: GPL-3.0-or-later\n# Written by python3 -m tests.differential.answers, and read by people.\n"
    FILE.write_text(head + as_text(answers), encoding="utf-8")


if __name__ == "__main__":
    _write()
