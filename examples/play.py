# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays the piece of examples/piece.py on a server that runs: python3 play.py [PORT], 57110 without one."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the modules are of `examples`, wherever that folder is
sys.dont_write_bytecode = True  # where root plays it, a package's folder stays as it was

from examples import piece  # noqa: E402
from examples.client import Client, NoReply  # noqa: E402


def main(arguments):
    port = int(arguments[0]) if arguments and arguments[0].isdecimal() else 57110
    if len(arguments) > 1 or arguments and not arguments[0].isdecimal() or not 0 < port < 65536:
        print("python3 play.py [PORT]: a number from 1 to 65535, 57110 without one", file=sys.stderr)
        return 2
    with Client(port) as client:
        try:
            client.wait_ready(timeout=2)
        except NoReply:
            print(f"No server answers at port {port}. Start one, for example in another terminal: pw-scsynth -u {port}",
                  file=sys.stderr)
            return 1
        try:
            piece.prepare(client)
            print(f"{piece.play(client)} voices")
        finally:
            piece.clean_up(client)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
