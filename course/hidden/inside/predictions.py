"""What the notebook on the inside of a model has its reader predict."""

from __future__ import annotations

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "sentences_without_the_induction_head",
        "The induction head is set to zero at the speakers, and right surnames become rare. What happens to the loss "
        "of the sentences between them?",
        right(
            "nothing",
            "The head is zeroed at the speakers' places alone, and what it adds there is about the next token, which "
            "is the surname. No sentence needs to know who speaks.",
        ),
        wrong(
            "it rises a little",
            "It would if the head were zeroed at all places. At the speakers, what it adds is about the surname alone.",
        ),
        wrong("it falls", "A head that was trained does not disturb what it was trained for."),
    ),
    Prediction(
        "head_that_hurts_and_restores",
        "You zero one head of layer 1 after another, at the speakers. Then you patch one after another, from a text "
        "with the right surname into one with a wrong name. Does the head that hurts most restore most?",
        wrong(
            "yes, and it restores nearly everything",
            "That would be so if one head did everything. Two things are needed for a surname.",
        ),
        wrong(
            "yes, and it restores about half",
            "The head that hurts most says that a surname comes. That is the same in both texts, so there is nothing "
            "to restore.",
        ),
        right(
            "no, it restores nothing",
            "It says that a surname comes, and both texts agree in that. Which surname comes is said by other heads.",
        ),
    ),
    Prediction(
        "eight_examples_in_a_new_form",
        "The dictionary sorts definitions in a form that it has never read. You put eight examples in front. What "
        "becomes of its accuracy?",
        wrong("it gets better", "Large models do. This one has 1.5 million numbers and has read one form of text."),
        wrong("it stays", "The examples do have an effect. Look at what it answers, and at how sure it is."),
        right(
            "it gets worse",
            "With eight examples in front it answers nearly always the same, and its confidence stays high.",
        ),
    ),
)
