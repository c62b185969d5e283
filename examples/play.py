# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays the piece of examples/piece.py on a server that runs: python3 play.py [PORT], 57110 without one."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the modules are of `examples`, wherever that folder is
sys.dont_write_bytecode = True  # where root plays it, a package's folder stays as it was

from examples import piece  # noqa: E402
from examples.client import Client, NoReply  # noqa: E402


def main(arguments):
    if len(arguments) > 1 or arguments and not arguments[0].isdecimal():
        print("python3 play.py [PORT]: a number, 57110 without one", file=sys.stderr)
        return 2
    port = int(arguments[0]) if arguments else 57110
    with Client(port) as client:
        try:
            client.wait_ready(timeout=2)
        except NoReply:
            print(f"No server answers at port {port}", file=sys.stderr)
            return 1
        try:
            piece.prepare(client)
            print(f"{piece.play(client)} voices")
        finally:
            piece.clean_up(client)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
