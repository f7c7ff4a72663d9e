"""Wrong answers to `shift_matrix` that no misconception knows by name."""

from __future__ import annotations

from course.reference import positional_encoding as reference


def offset_without_its_sign(offset, d_model):
    return reference.shift_matrix(abs(offset), d_model)


MUTANTS = [offset_without_its_sign]
