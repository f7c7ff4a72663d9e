"""Right answers to `majority_vote` that look nothing like the reference."""

from __future__ import annotations

from collections import Counter


def by_most_common(answers):
    votes = [answer for answer in answers if answer is not None]
    return Counter(votes).most_common(1)[0][0] if votes else None


def counting_as_they_come(answers):
    best, most = None, 0
    for answer in answers:
        if answer is not None and answers.count(answer) > most:
            best, most = answer, answers.count(answer)
    return best


ALTERNATIVES = [by_most_common, counting_as_they_come]
