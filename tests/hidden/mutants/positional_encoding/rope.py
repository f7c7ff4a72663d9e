"""Wrong answers to `rope` that no misconception knows by name."""

from __future__ import annotations

from course.reference import positional_encoding as reference


def rope_whole_places_only(x, positions=None, base=10000.0):
    return reference.rope(x, None if positions is None else positions.long(), base)


def rope_always_double(x, positions=None, base=10000.0):
    return reference.rope(x.double(), positions, base)


def rope_always_of_one_base(x, positions=None, base=10000.0):
    return reference.rope(x, positions)


def rope_from_a_table_of_2048(x, positions=None, base=10000.0):
    return reference.rope(x, None if positions is None else positions.clamp(max=2047), base)


MUTANTS = [rope_whole_places_only, rope_always_double, rope_always_of_one_base, rope_from_a_table_of_2048]
