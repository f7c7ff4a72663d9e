"""What the notebook on CBOW has its reader predict."""

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "similarity_of_two_bags",
        "How similar are the bags of `this fox growls` and `these dogs growl`, by their cosine?",
        wrong(
            "about 0.7, because both say nearly the same",
            "You compare what the sentences mean. Which column of the table is larger than 0 in both rows?",
        ),
        wrong(
            "about 0.3, because `growls` and `growl` are one word",
            "They are one verb, but they are written differently, so they have two columns.",
        ),
        right(
            "0",
            "The two sentences share no word as it is written. Each product of two counts is 0, and so is their sum.",
        ),
    ),
    Prediction(
        "window_that_finds_classes",
        "You train CBOW on smaller contexts. Which one finds the classes as well as two words on either side?",
        right(
            "one word on either side",
            "Both put 98 of 100 neighbours into the same class. The words right beside a word already show its class.",
        ),
        wrong(
            "the two words before the centre",
            "Then a word's vector learns only from the words that follow it. What does it miss?",
        ),
        wrong(
            "none of them, because fewer words always say less",
            "A smaller context guesses the word less well. Do similar words need more to get similar vectors?",
        ),
    ),
)
