"""Wrong answers to `dequantise` that no misconception knows by name."""

from __future__ import annotations

from course.reference.bert import dequantise


def dtype_of_the_levels(codes, scales, levels, shape):
    return dequantise(codes, scales.to(levels), levels, shape)


def filled_block_kept(codes, scales, levels, shape):
    return dequantise(codes, scales, levels, (codes.numel() * 2,))


MUTANTS = [dtype_of_the_levels, filled_block_kept]
