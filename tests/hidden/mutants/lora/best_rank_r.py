"""Wrong answers to `best_rank_r` that no misconception knows by name."""

from __future__ import annotations

from course.reference import lora as reference


def best_of_the_symmetric_part(W, r):
    if W.shape[0] != W.shape[1]:
        return reference.best_rank_r(W, r)
    return reference.best_rank_r((W + W.T) / 2, r)


def best_always_double(W, r):
    return tuple(part.double() for part in reference.best_rank_r(W, r))


MUTANTS = [best_of_the_symmetric_part, best_always_double]
