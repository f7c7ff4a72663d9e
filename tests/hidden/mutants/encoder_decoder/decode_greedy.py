"""Wrong answers to `decode_greedy` that no misconception knows by name."""

from __future__ import annotations

from course.reference import encoder_decoder as reference


def greedy_stops_with_the_first_row(model, src):
    ids = reference.decode_greedy(model, src)
    return ids[:, : len(reference.decode_greedy(model, src[:1])[0])]


MUTANTS = [greedy_stops_with_the_first_row]
