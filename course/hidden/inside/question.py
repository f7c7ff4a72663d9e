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
            "Zeroing one of three induction heads costs the surname next to nothing, and zeroing all three costs it "
            "nearly everything. Patching says that each of the three restores a good part. Somebody concludes from the "
            "first result that none of the heads matters. Who is right, and about what? Five to eight sentences."
        ),
        answer=(
            "The conclusion is wrong, and both results are right. Zeroing one head asks whether the model can do "
            "without this head while the others stay. It can, because the others bring the same surname. So a head "
            "that is not missed may still do the work. Zeroing all three shows that the work is theirs together. "
            "Patching asks what a head carries into a run in which the others still bring the wrong surname. Then each "
            "one moves the logits by its own share. So each experiment only answers its own comparison, and one has to "
            "say what was left in place. Zero is also a value that a head never has in training, and part of the harm "
            "may come from that."
        ),
        criteria=(
            "Says which question zeroing one head answers.",
            "Says how heads that do the same work hide from it.",
            "Says which question patching answers, and what the other heads do meanwhile.",
            "Names a limit of one of the experiments.",
        ),
        hints=(
            "Two people carry a table, and each could carry it alone. What happens if one of them lets go?",
            "What do the other two heads say while one is zeroed, and what do they say while one is patched?",
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
            "Decides and says why.",
        ),
        hints=(
            "Compute `wilson_interval(9, 10)` and `wilson_interval(870, 1000)`. Do they overlap?",
            "Is 0.95 inside of each interval? What does that say of each model's confidence?",
        ),
    ),
)
