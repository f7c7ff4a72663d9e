"""What the notebook on pieces of words has its reader predict."""

from __future__ import annotations

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "perplexity_of_longer_pieces",
        "The same kind of bigram model reads the same text, in bytes and in ever longer pieces. "
        "How does its perplexity for a piece change with the number of merges?",
        wrong(
            "it falls, because longer pieces say more about what follows",
            "They do say more. But what has to be guessed now, one byte or several at once?",
        ),
        right(
            "it rises",
            "A longer piece is harder to guess, because it holds more. The perplexity is for a piece, "
            "and the pieces are different things.",
        ),
        wrong(
            "it stays, because it is the same text",
            "The whole text costs about the same. Over how many guesses is that cost shared?",
        ),
    ),
    Prediction(
        "mean_over_the_noise",
        "You train once more, with the mean over the five words of noise in place of their sum. What becomes of the "
        "scores of seen pairs?",
        wrong(
            "nothing, because a mean is only a sum divided by 5",
            "The whole loss is not divided by 5. Which of its two parts is?",
        ),
        wrong(
            "they become five times as large",
            "For which score is the share of seen pairs right? Put k = 1 into the formula for the best score.",
        ),
        right(
            "they all rise by about 1.6",
            "A mean counts the noise once, as if k were 1. The best score is then log 5 = 1.61 higher, for every pair.",
        ),
    ),
)
