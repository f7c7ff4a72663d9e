"""Right answers to `lora_parameters` that look nothing like the reference."""

from __future__ import annotations


def lora_by_sides(shapes, r):
    return r * sum(map(sum, shapes))


def lora_in_a_loop(shapes, r):
    count = 0
    for shape in shapes:
        for side in shape:
            count += r * side
    return count


ALTERNATIVES = [lora_by_sides, lora_in_a_loop]
