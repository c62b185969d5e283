# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the C++ files write integers and casts in one way: `size_t`, not `std::size_t`; `size_t(x)`, not
`static_cast<size_t>(x)`. Casts to what is no arithmetic type, or has two words, stay static_casts.

    python3 -m tools.spelling [--fix]

prints the places that don't, or rewrites them (then `python3 -m tools.format --fix`, as lines change their length)."""
import re
import sys

from tools.cpp_files import ROOT, cpp_files

INTEGERS = r"(?:u?int(?:_fast|_least)?(?:8|16|32|64)|u?intptr|u?intmax|size|ptrdiff)_t"
ARITHMETIC = rf"(?:{INTEGERS}|ssize_t|bool|char|short|int|long|unsigned|float|double)"
# What is no code comes first, and is passed over: comments, raw strings, strings, characters.
NO_CODE = (r'//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/|R"(?P<raw>[^()\\\s]*)\(.*?\)(?P=raw)"|"(?:[^"\\\n]|\\.)*"'
           r"|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)*'")
FOUND = re.compile(rf"(?P<no_code>{NO_CODE})|(?P<integer>(?<!using )(?<![\w:])(?:::)?std::(?P<name>{INTEGERS})\b)"
                   rf"|(?P<cast>\bstatic_cast<(?:std::)?(?P<type>{ARITHMETIC})>)(?=\()", re.S)


def rewritten(text):
    """The text as it has to be."""
    return FOUND.sub(lambda match: match.group("name") or match.group("type") or match.group(), text)


def places(text):
    """(line, what is there, what has to be there)."""
    return [(text.count("\n", 0, match.start()) + 1, match.group(), match.group("name") or match.group("type"))
            for match in FOUND.finditer(text) if not match.group("no_code")]


def main(arguments):
    found = 0
    for path in cpp_files():
        text = (ROOT / path).read_text()
        if "--fix" in arguments:
            if rewritten(text) != text:
                (ROOT / path).write_text(rewritten(text))
            continue
        for line, there, wanted in places(text):
            found += 1
            print(f"{path}:{line}: {there} is written {wanted} here")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
