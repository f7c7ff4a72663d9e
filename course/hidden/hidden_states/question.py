"""How `hint` helps with the written question on hidden states. No hint gives an answer."""

from __future__ import annotations

from course.hidden.written import Question

HINTS = (
    "Write down what is hidden and what is seen for the typist, and then for the telephone. Which of the two has a "
    "table that says how hidden things follow each other?",
    "In CTC, the network's probabilities at one frame do not know the label chosen at another. When does that hurt?",
    "For your friend's idea, count the paths of 5 5 over four frames with a blank, and without one.",
)

CRITERIA = (
    "Says when a table of transitions tells something, and whether the digits of a telephone number are such a case.",
    "Names a task for which one would miss it, and what it would tell there.",
    "Names the numbers that could not be written without the blank.",
    "Names something else that is lost, in the frames between and within the digits.",
)

OTHERS = (
    Question(
        prompt=(
            "Some of ELIZA's patients believed that she understood them. (a) What would you show them to argue that "
            "she did not? (b) What would she need first to answer better, and why can no further rule give it to "
            "her? Five to eight sentences."
        ),
        answer=(
            "(a) Say the same sentence twice, and she gives the same answer twice. Say a sentence of made-up words "
            "around `I feel`, and she answers as if it had a meaning. Her answer depends on the pattern that "
            "matched and on nothing else. (b) She has no state, so she does not know what was said before. A rule "
            "reads one sentence and returns one, and however many rules there are, the third sentence of a "
            "conversation looks to her like the first. She would need something that she carries from sentence to "
            "sentence and changes as she reads."
        ),
        criteria=(
            "Gives sentences to try, and says what ELIZA would answer.",
            "Says on what her answer depends.",
            "Names what she lacks, and says why no rule can hold it.",
        ),
        hints=(
            "Which of ELIZA's answers depends on what you said two sentences ago?",
            "Two people say the same sentence after different stories. What would a good listener do, and what can "
            "a rule do?",
        ),
    ),
    Question(
        prompt=(
            "Your typist's words are mended in nine of ten cases. Another typist also leaves letters out. (a) Why "
            "can your model not mend that, whatever its tables hold? (b) What would you change, and why does the "
            "search become harder? Five to eight sentences."
        ),
        answer=(
            "(a) In the model every hidden letter types exactly one key, so what was meant and what was typed have "
            "the same length. A letter that was left out has no position of its own, and every later letter would "
            "be compared with the wrong key. (b) A state must be allowed to type nothing, with a small probability. "
            "The path can then move on without reading a key, so a table over positions and states is not enough. "
            "It also has to say how many letters were meant so far, or to allow steps over a letter in `log_A`. "
            "There are more paths for each text, and several of them explain it by different letters left out. CTC "
            "has the opposite freedom, where one label may last for many frames."
        ),
        criteria=(
            "Says what the model takes for granted about the two lengths.",
            "Says what a missing letter does to the later ones in this model.",
            "Changes the model so that a letter may be missing.",
            "Says what the search has to go through in addition.",
        ),
        hints=(
            "Write down what was meant and what was typed, one below the other, for a word without its third letter.",
            "How many letters were meant when five keys have been seen? Does your table of states know it?",
        ),
    ),
)
