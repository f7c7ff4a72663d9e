"""What the notebook on BERT has its reader predict."""

from __future__ import annotations

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "nouns_without_labels",
        "Fifty labelled sentences are about five animals and five things. A network with fresh weights learns them by "
        "heart. How often is it right about sentences whose five animals and five things it has never seen?",
        wrong(
            "about nine times in ten",
            "Which word of a labelled sentence tells that its subject is an animal? Do the others have that word?",
        ),
        right(
            "about half of the time",
            "The verbs are neutral, so nothing but the noun tells. The vectors of new nouns are still random, and so "
            "are the answers.",
        ),
        wrong(
            "hardly ever",
            "To be wrong that often, the network would have to know the answer and turn it round.",
        ),
    ),
    Prediction(
        "four_bits_beside_an_outlier",
        "Two rows of weights are stored in four bits each. The largest weight of the first row is 0.4, and that of the "
        "second is 2. Both rows share one scale, 2. What becomes of the first row?",
        wrong(
            "nothing, because it has the same sixteen levels",
            "Divide its weights by 2. Between which levels do they lie, and how many levels are left for them?",
        ),
        right(
            "its weights fall on fewer levels, so they come back less exact",
            "Divided by 2, they lie between -0.1 and 0.2, and only four of the sixteen levels are there.",
        ),
        wrong(
            "all its weights become zero",
            "The level beside zero is 0.08, which stands for 0.16 here. A weight of 0.4 is larger than that.",
        ),
    ),
)
