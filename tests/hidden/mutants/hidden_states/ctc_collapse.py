"""Wrong answers to `ctc_collapse` that no misconception knows by name."""

from __future__ import annotations

from itertools import pairwise

from course.reference.hidden_states import ctc_collapse


def first_label_lost(path, blank=0):
    return ctc_collapse(path, blank)[1:]


def turned_round(path, blank=0):
    return ctc_collapse(path, blank)[::-1]


def pairs_only(path, blank=0):
    return [b for a, b in pairwise(path) if a != b and b != blank]


def path_changed(path, blank=0):
    found = ctc_collapse(path, blank)
    path[:] = found
    return found


MUTANTS = [first_label_lost, turned_round, pairs_only, path_changed]
