"""Wrong answers to `eliza` that no misconception knows by name."""

from __future__ import annotations

import re

TABLE = {"i": "you", "me": "you", "am": "are", "my": "your", "you": "I", "your": "my"}


def _answered(rules, said, table=TABLE, turn=1):
    match, answer = next((m, answer) for pattern, answer in rules if (m := re.search(pattern, said, re.IGNORECASE)))
    groups = [re.sub(r"\w+", lambda w: table.get(w[0].lower(), w[0]), group) for group in match.groups()]
    return answer.format(*groups[::turn])


def groups_in_reverse(rules, said):
    return _answered(rules, said, turn=-1)


def one_word_missing(rules, said):
    return _answered(rules, said, {word: other for word, other in TABLE.items() if word != "me"})


MUTANTS = [groups_in_reverse, one_word_missing]
