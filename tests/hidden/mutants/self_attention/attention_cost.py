"""Wrong answers to `attention_cost`: a beginner's first attempts."""

from __future__ import annotations


def a_pair(n, d):
    return n**2 * d, n * d**2


def other_names(n, d):
    return {"attention": n**2 * d, "rnn": n * d**2}


FIRST_ATTEMPTS = {
    a_pair: "expected a dict, got a tuple",
    other_names: "the keys are wrong, with 2 missing and 2 too many, such as 'attention'",
}
