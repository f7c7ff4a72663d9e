"""What the notebook on the inside of a model has its reader predict."""

from __future__ import annotations

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "one_of_three_heads_away",
        "Three heads of layer 1 look behind the speaker's first line. The model gives the right surname 0.998. You set "
        "one of the three to zero at the speakers. What is left of the 0.998?",
        wrong(
            "about 0.7", "That would be a third less. Do three heads that find the same thing share it, or repeat it?"
        ),
        right(
            "about 0.9",
            "Each of the three brings the same surname. Two are enough, so one that goes is hardly missed.",
        ),
        wrong("about 0.06", "That is one of sixteen surnames by chance. It takes more than one head to get there."),
    ),
    Prediction(
        "sentences_without_the_induction_heads",
        "Now all three are set to zero at the speakers, and the right surname becomes rare. What happens to the loss "
        "of the sentences between the names?",
        right(
            "nothing",
            "The heads are zeroed at the speakers' places alone, and what they add there is about the surname. No "
            "sentence needs to know who speaks.",
        ),
        wrong(
            "it rises a little",
            "It would if the heads were zeroed at all places. At the speakers, what they add is about the surname.",
        ),
        wrong("it falls", "The heads did not disturb the sentences before. They add what was learned to be of use."),
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
