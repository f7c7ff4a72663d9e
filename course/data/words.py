"""Cut text into words for a tokeniser: letters, digits or signs, each with the space before it."""

from __future__ import annotations

import re

_WORD = re.compile(r" ?[^\W\d_]+| ?\d+| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s+")


def words_of(text: str) -> list[str]:
    """Return the words of `text`, in order: runs of letters, of digits, of signs, and of white space.

    A word keeps one space before it. Of several spaces the last belongs to the word after them, and the others are
    a word of their own. `"".join(words_of(text)) == text` for every text.

    The pattern is a simpler form of GPT-2's (Radford et al. 2019), which keeps contractions such as `'s` in one
    piece and counts ½ and Ⅷ as numbers.
    """
    return _WORD.findall(text)
