"""What the notebook on hidden states has its reader predict."""

from __future__ import annotations

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "best_state_of_each_place",
        "In the example of three keys, `s d s` was seen. At each position you take the letter with the largest "
        "posterior probability. What do the three letters spell?",
        wrong(
            "sss, the best path",
            "At the second position d has more than half of the weight. It is spread over several paths.",
        ),
        wrong(
            "another path, which is possible but less likely than sss",
            "Look at the step from d to s in A, and at the step from s.",
        ),
        right(
            "a path that is impossible",
            "s is best at the first position, d at the second and s at the third. But s is only ever followed by s. "
            "Each letter was chosen alone, without asking whether the steps exist.",
        ),
    ),
    Prediction(
        "path_of_a_doubled_digit",
        "Your reader hears `55`. You exchange the two steps of your decoder, so that blanks go first and repeats are "
        "joined after that. Of the numbers with a doubled digit, how many are still right?",
        right(
            "none",
            "The blank between the two fives was all that kept them apart. Once it is gone, they are one repeat.",
        ),
        wrong("about half of them", "Is there any path for 55 that survives the exchange?"),
        wrong(
            "all of them, because the order does not matter",
            "Try 5, blank, 5 in both orders.",
        ),
    ),
)
