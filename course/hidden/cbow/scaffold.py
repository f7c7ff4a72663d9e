"""What several exercises of this topic are examined with."""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return text.split()


def _bananas() -> list[str]:
    return _words("yes , we have no bananas say yes for bananas no bananas , we say")
