"""How `hint` helps with the written question on the inside of a model. No hint gives an answer."""

from __future__ import annotations

from course.hidden.written import Question

HINTS = (
    "A probe has its own weights. What could a probe read from a table of random vectors, one for each word?",
    "Compare the probe's accuracy on word classes with that on labels that you drew. Which of the two says something "
    "about the model?",
    "What would have to change in the model's behaviour, if it used what the probe reads?",
)

CRITERIA = (
    "Says what the embedding of a word is, and why any label of a word can be read from it.",
    "Names the control task and what the difference of the two accuracies says.",
    "Tells what can be read from a stream apart from what the model uses.",
    "Names an experiment that would show a use, such as knocking out or patching.",
)

OTHERS = (
    Question(
        prompt=(
            "Knocking heads out says that head 0 of layer 1 matters most for the surname. Patching says that head 1 "
            "does, and that head 0 restores nothing. Who is right, and about what? Five to eight sentences."
        ),
        answer=(
            "Both are right, about different questions. Knocking out asks what the model can no longer do without a "
            "head. Without head 0 hardly any surname is said, right or wrong, so it says that a surname comes. "
            "Patching asks what differs between two runs and is carried by a head. In both runs a surname comes, so "
            "head 0 says the same in both, and putting one in the place of the other changes nothing. Head 1 says "
            "which surname, and that is the only difference between the runs. So each experiment can only see what its "
            "comparison leaves open. Zero is also a strange value for a head, which never occurs in training, and part "
            "of the harm may come from that."
        ),
        criteria=(
            "Says which question knocking out answers.",
            "Says which question patching answers, and what the two runs have in common.",
            "Says what head 0 and head 1 each tell the model.",
            "Names a limit of one of the two experiments.",
        ),
        hints=(
            "When head 0 is away, which tokens become likely in the place of the surname?",
            "What is the same in the clean and the corrupted text? Could a head that tells it restore anything?",
        ),
    ),
    Question(
        prompt=(
            "Model A answers 9 of 10 questions rightly, model B 870 of 1,000. Both say that they are 95 % sure of each "
            "answer. Which would you ship, and what would you measure first? Five to eight sentences."
        ),
        answer=(
            "Wilson's interval for A is 0.60 to 0.98, and for B 0.85 to 0.89. So A may be far better or far worse than "
            "B, and ten questions cannot tell. B's confidence of 95 % lies outside of its interval, so B is too sure. "
            "For A nothing of the kind is shown, because 0.95 fits 9 of 10. I would first give A the 1,000 questions "
            "that B had, because two models should be compared on the same questions. Then I would compare them "
            "question by question, and measure the calibration of both in bins, with what a perfect forecaster would "
            "show by chance. If I had to ship one today, I would ship B, whose quality is known, and lower its "
            "confidence."
        ),
        criteria=(
            "Gives both intervals, or how wide they are, and says what follows.",
            "Says of which model the confidence is shown to be too high.",
            "Wants both models on the same questions, and enough of them.",
            "Decides, and says why.",
        ),
        hints=(
            "Compute `wilson_interval(9, 10)` and `wilson_interval(870, 1000)`. Do they overlap?",
            "Is 0.95 inside of each interval? What does that say of each model's confidence?",
        ),
    ),
)
