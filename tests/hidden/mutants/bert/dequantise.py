"""Wrong answers to `dequantise` that no misconception knows by name."""

from __future__ import annotations

from course.reference.bert import dequantise


def dtype_of_the_levels(codes, scales, levels, shape):
    return dequantise(codes, scales.to(levels), levels, shape)


MUTANTS = [dtype_of_the_levels]
