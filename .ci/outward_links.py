"""A preprocessor of mdBook: links that leave docs/ lead to the repository on the forge.

In the checkout such links are relative paths, which readers and the forge follow.
"""

import json
import os
import re
import sys

LINK = re.compile(r"\]\((\.\./[^)#]*)(#[^)]*)?\)")


def outward(path: str, text: str, forge: str) -> str:
    """The text of a page at `path` (from docs/), with links out of docs/ made absolute."""

    def replaced(link: re.Match[str]) -> str:
        place = os.path.normpath(os.path.join("docs", os.path.dirname(path), link[1]))
        if place.startswith("docs/"):
            return link[0]
        return f"]({forge}/blob/main/{place}{link[2] or ''})"

    return LINK.sub(replaced, text)


def walk(sections: list, forge: str) -> None:
    for section in sections:
        chapter = section.get("Chapter") if isinstance(section, dict) else None
        if chapter:
            chapter["content"] = outward(chapter["path"] or "", chapter["content"], forge)
            walk(chapter["sub_items"], forge)


if sys.argv[1:2] == ["supports"]:
    sys.exit(0)
context, book = json.load(sys.stdin)
walk(book.get("sections", book.get("items")), context["config"]["output"]["html"]["git-repository-url"])
json.dump(book, sys.stdout)
