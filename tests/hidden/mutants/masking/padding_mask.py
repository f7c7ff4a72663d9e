"""Wrong answers to `padding_mask` that no misconception knows by name."""

from __future__ import annotations

from course.reference import masking as right


def empty_sentences_see_one_word(lengths, max_len):
    return right.padding_mask(lengths.clamp(min=1), max_len)


MUTANTS = [empty_sentences_see_one_word]
