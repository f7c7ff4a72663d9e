"""What the notebook on reasoning has its reader predict."""

from __future__ import annotations

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "one_right_in_four",
        "A model answers a question rightly in one try of four. You let it try four times. How likely is it that at "
        "least one of the four tries is right?",
        wrong(
            "It is certain, since four quarters are 1",
            "Tries do not take turns. Several of the four may be right, and often none is.",
        ),
        right(
            "About 68 %",
            "All four fail with probability 0.75 to the fourth power, which is 0.316. That holds for tries whose "
            "chance of success is known. Of four tries of which exactly one was right, all four hold it for certain.",
        ),
        wrong(
            "A quarter, as for one try",
            "A quarter is the chance of each try. One right try among the four is enough.",
        ),
    ),
    Prediction(
        "length_without_a_price",
        "The verifier reads the last line only. It pays the same for short answers and for long ones. What happens to "
        "the length of the answers in training?",
        wrong(
            "It stays, because nothing pays for length",
            "Length is not paid for, but it goes with what is. Answers with steps are longer, and more often right.",
        ),
        wrong(
            "They get shorter, because an answer at once is easier to write",
            "An answer at once is easier to write and is mostly wrong. Only what is right is paid for.",
        ),
        right(
            "They get several times as long",
            "Answers with steps are right more often than the others in their group, so they get positive advantages, "
            "and steps become likelier.",
        ),
    ),
    Prediction(
        "paid_and_right",
        "Your graduate trains on with the careless verifier, which pays for `=4*4` as for `=6`. Each token costs 0.01. "
        "Its training now begins with a few answers that break off. What becomes of the share of answers that are "
        "paid, and of the share that are right?",
        wrong(
            "Both stay high, since nearly all answers are right already",
            "They are right at first. But an unfinished answer is paid as well and costs fewer tokens, so it is the "
            "best of its group.",
        ),
        wrong(
            "Both fall, since answers that break off are wrong",
            "They are wrong, but this verifier pays for them. What is paid does not fall.",
        ),
        right(
            "Nearly all are still paid, and hardly any is right",
            "An unfinished answer is paid as much as a right one and saves tokens. So its advantage is positive, and "
            "it becomes likelier in each round.",
        ),
    ),
)
