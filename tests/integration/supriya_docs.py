# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries out what documents have for supriya, with a running server; runs in supriya's own environment.

Arguments: port, documents. Prints the tree once the notes of control.md are in it."""
import re
import sys
import time
from pathlib import Path

import supriya


def main(port, *documents):
    server = supriya.Server().connect(port=int(port), ip_address="127.0.0.1", maximum_logins=4)
    names = {"server": server}
    for document in documents:
        for code in re.findall(r"^```python\n(.*?)^```", Path(document).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            exec(compile(code, document, "exec"), names)
    until = time.monotonic() + 20
    while "ping" not in (tree := str(server.query_tree())) and time.monotonic() < until:
        time.sleep(0.05)
    print(tree)
    server.disconnect()


main(*sys.argv[1:])
