# SPDX-License-Identifier: GPL-3.0-or-later
"""Links between documents."""
import re
from pathlib import Path

LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def broken_links(folder):
    """"document: link" of each relative link in a folder's documents that leads nowhere."""
    return [f"{document.relative_to(folder)}: {link}" for document in sorted(Path(folder).rglob("*.md"))
            for link in LINK.findall(document.read_text(encoding="utf-8"))
            if "://" not in link and not (document.parent / link).exists()]
