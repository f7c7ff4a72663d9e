"""How `hint` helps with the written question on reasoning, and two more questions. No hint gives an answer."""

from __future__ import annotations

from course.hidden.written import Question

HINTS = (
    "The reward is what the verifier says. Which answers would show you whether the verifier is right?",
    "Which numbers, besides the mean reward, change when a policy finds a hole? Think of the form and the length.",
    "What would you compare the trained model with, and on which questions?",
)

CRITERIA = (
    "Asks for answers to read, and says which ones.",
    "Asks for a second measure that is independent of the training verifier.",
    "Asks for a comparison with the model before training, at the same number of tries.",
    "Says what result of each request would be a reason for doubt.",
)

OTHERS = (
    Question(
        prompt=(
            "Before training, one of 64 tries was right for nearly every question, so pass@64 was close to 1. A "
            "majority vote of the same 64 tries was right far less often than the trained model is with one. (a) How "
            "can both be true? (b) When would a vote be as good as training? Five to eight sentences."
        ),
        answer=(
            "(a) Pass@64 asks whether a single try is right, and something must know which one. A vote has to find it "
            "without a verifier. It succeeds only where the right answer is commoner than each wrong one. Wrong "
            "guesses of the calculator are not spread evenly, because products end in even digits and in 0 more "
            "often. So many of them agree, and more tries make the commonest wrong answer more certain. Training had "
            "the verifier, and put what it found into every try. (b) A vote is as good where the right answer is the "
            "likeliest one for each question, and wrong answers differ from each other."
        ),
        criteria=(
            "Says what pass@k needs to know that a vote does not.",
            "Says under which condition a vote finds the right answer, and why it fails here.",
            "Says what training used that the vote had not.",
        ),
        hints=(
            "Write down ten tries for one question, three of them right. How do the other seven have to fall so that "
            "the vote is wrong?",
            "Who says which of the 64 tries is right, in each of the three cases?",
        ),
    ),
    Question(
        prompt=(
            "The published GRPO divides the advantages of a group by their standard deviation, and it takes the mean "
            "over each answer's tokens before the mean over answers. Whom does each of the two divisions favour? Use a "
            "group with one right answer of eight and one with four, and two wrong answers of 5 and of 50 tokens. Five "
            "to eight sentences."
        ),
        answer=(
            "With one right answer of eight the standard deviation is 0.354, and with four it is 0.535. Dividing "
            "makes the advantages of lopsided groups larger, so questions that are nearly always or nearly never "
            "solved weigh more than those that are solved half of the time. The gradient is then no longer that of "
            "the mean reward. Dividing by the length gives each answer the same weight and each token of a long "
            "answer a smaller one. A wrong answer of 50 tokens is blamed a tenth as much for each token as one of 5. "
            "So long wrong answers are favoured, and among right answers the short ones are."
        ),
        criteria=(
            "Computes or compares the deviations of the two groups.",
            "Says which questions weigh more after the first division.",
            "Says what the second division does to the tokens of a long wrong answer, and of a right one.",
        ),
        hints=(
            "Compute the two standard deviations, with G - 1. Which advantages grow?",
            "How much blame does one token of each wrong answer get?",
        ),
    ),
)
