"""Wrong answers to `eliza` that no misconception knows by name."""

from __future__ import annotations

import re

TABLE = {"i": "you", "me": "you", "am": "are", "my": "your", "you": "I", "your": "my"}


def _answered(rules, said, table=TABLE, take=lambda groups: groups, pick=lambda found: found[0]):
    found = [(m, answer) for pattern, answer in rules if (m := re.search(pattern, said, re.IGNORECASE))]
    match, answer = pick(found)
    groups = [re.sub(r"\w+", lambda w: table.get(w[0].lower(), w[0]), group) for group in match.groups()]
    return answer.format(*take(groups))


def last_rule_that_fits(rules, said):
    return _answered(rules, said, pick=lambda found: found[-2] if len(found) > 1 else found[0])


def groups_in_reverse(rules, said):
    return _answered(rules, said, take=lambda groups: groups[::-1])


def you_becomes_me(rules, said):
    return _answered(rules, said, {**TABLE, "you": "me"})


def one_word_missing(rules, said):
    return _answered(rules, said, {word: other for word, other in TABLE.items() if word != "me"})


MUTANTS = [last_rule_that_fits, groups_in_reverse, you_becomes_me, one_word_missing]
