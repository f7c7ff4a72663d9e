"""Wrong answers to `merge_pair` that no misconception knows by name."""

from __future__ import annotations

import re

from course.reference.tokens import merge_pair


def a_list(word, pair):
    """Return a list, which cannot be a key of the Counter in `train_bpe`."""
    return list(merge_pair(word, pair))


def by_a_regular_expression(word, pair):
    """Replace by a regular expression, as the paper's own code does, which is right for pieces without blanks."""
    pattern = re.compile(rb"(?<!\S)" + re.escape(b" ".join(pair)) + rb"(?!\S)")
    return tuple(pattern.sub(lambda _: b"".join(pair), b" ".join(word)).split(b" "))


MUTANTS = [a_list, by_a_regular_expression]
