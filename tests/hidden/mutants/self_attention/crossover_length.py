"""Wrong answers to `crossover_length`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

# -- first attempts ----------------------------------------------------------------------------------------------------


def as_in_the_papers_table(d):
    return d


def scores_without_mixing(d):
    return (16 - 12) * d


def squared(d):
    return d**2  # right at d = 2, the width of the text's example


FIRST_ATTEMPTS = {
    as_in_the_papers_table: "At n = d the two costs of the paper's table are equal.",
    scores_without_mixing: "Which of yours is smaller?",
    squared: "Which layer is dearer there, and by how much?",
}

# -- others ------------------------------------------------------------------------------------------------------------


def two_more(d):
    return d + 2  # right at d = 2, the width of the text's example


def first_length_beyond(d):
    return 2 * d + 1


MUTANTS = [two_more, first_length_beyond]
