"""Wrong answers to `bahdanau_attention_task` that no misconception knows by name."""

from __future__ import annotations

from course.data import dates
from course.hidden.bahdanau_attention.bahdanau_attention_task import ReadsByRule


def _known(src, src_lengths):
    """Return the right dates and attention weights, computed by rule."""
    return ReadsByRule.decode_greedy(src, src_lengths, 16)


class EveryTwentiethWrong:
    @staticmethod
    def decode_greedy(src, src_lengths, max_len):
        ids, weights = _known(src, src_lengths)
        ids[::20, 9] = dates.FIRST + (ids[::20, 9] - dates.FIRST + 1) % 10
        return ids, weights


class DaysOfTheMonthBefore:
    @staticmethod
    def decode_greedy(src, src_lengths, max_len):
        ids, weights = _known(src, src_lengths)
        return ids.roll(1, 0), weights


MUTANTS = [EveryTwentiethWrong, DaysOfTheMonthBefore]
