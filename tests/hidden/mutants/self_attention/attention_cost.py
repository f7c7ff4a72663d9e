"""Wrong answers to `attention_cost` that no misconception knows by name."""

from __future__ import annotations

import math


def same_for_both(n, d):
    return {"self_attention": n * n * d, "recurrent": n * n * d}


def other_names(n, d):
    return {"attention": n * n * d, "rnn": n * d * d}


def a_pair(n, d):
    return n * n * d, n * d * d


def in_logarithms(n, d):
    return {"self_attention": math.log(n * n * d), "recurrent": math.log(n * d * d)}


MUTANTS = [same_for_both, other_names, a_pair, in_logarithms]
