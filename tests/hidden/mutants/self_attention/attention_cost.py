"""Wrong answers to `attention_cost`: a beginner's first attempts."""

from __future__ import annotations


def carets(n, d):
    return {"self_attention": n ^ 2 * d, "recurrent": n * d ^ 2}


def exchanged(n, d):
    return {"self_attention": n * d**2, "recurrent": n**2 * d}


def pairs_without_width(n, d):
    return {"self_attention": n**2, "recurrent": n * d**2}


def a_pair(n, d):
    return n**2 * d, n * d**2


def other_names(n, d):
    return {"attention": n**2 * d, "rnn": n * d**2}


FIRST_ATTEMPTS = {
    carets: "Print 3^2 in Python.",
    exchanged: "Double the number of words.",
    pairs_without_width: "One comparison of two words is a dot product.",
    a_pair: "expected a dict, got a tuple",
    other_names: "the keys are wrong, with 2 missing and 2 too many, such as 'attention'",
}
