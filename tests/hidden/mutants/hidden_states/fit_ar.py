"""Wrong answers to `fit_ar` that no misconception knows by name."""

from __future__ import annotations

from course.reference.hidden_states import fit_ar


def first_half_only(x, order):
    return fit_ar(x[: max(2 * order, len(x) // 2)], order)


MUTANTS = [first_half_only]
