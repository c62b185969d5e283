#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a library of kernels keeps to its instruction set's namespace: check-symbols.py SET LIBRARY...

Of functions and data that several objects define, as templates and inline functions are, the linker keeps one for all.
One that stands outside the namespace of its instruction set could so be run, though compiled for another CPU."""
import subprocess
import sys


def strays(instruction_set, library):
    """The names that the library defines for others and that aren't of scs::<instruction_set>."""
    inside = f'3scs{len(instruction_set)}{instruction_set}'
    listing = subprocess.run(['nm', '--defined-only', '--extern-only', '--format=posix', library], check=True,
                             capture_output=True, text=True).stdout
    defined = [line.split()[0] for line in listing.splitlines() if len(line.split()) > 1]
    if not defined:
        raise SystemExit(f'{library}: no symbols; is it the right library?')
    # DW.ref.…: a pointer that the compiler adds for exceptions, the same in all.
    return [name for name in defined if inside not in name and not name.startswith('DW.ref.')]


def main():
    instruction_set, *libraries = sys.argv[1:]
    found = [(library, name) for library in libraries for name in strays(instruction_set, library)]
    for library, name in found:
        print(f'{library}: outside scs::{instruction_set}: {name}')
    if not libraries:
        raise SystemExit(__doc__)
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
