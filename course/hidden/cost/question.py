"""How `hint` helps with the written questions on cost. No hint gives an answer."""

from __future__ import annotations

from course.hidden.written import Question

HINTS = (
    "Take one token. Which tokens can come out, and how often does each, if you count accepted and corrected ones "
    "together?",
    "What did you count for 20,000 first tokens? Which of the three rows must agree with which?",
    "What does a poor small model change, if not the text?",
)

CRITERIA = (
    "Says which distribution the written tokens follow, whoever guessed them.",
    "Says how a refused guess is replaced, and why this makes up for what was accepted too seldom.",
    "Says what a poor small model costs.",
    "Names a measurement or a law that supports it.",
)

OTHERS = (
    Question(
        prompt=(
            "Your drafts save passes, and at home they save no time. With a large model on a graphics card the same "
            "drafts write 1.5 times as fast. Which three numbers decide this? Say for each where it differs between "
            "your machine and the other one, and how you would measure it. Five to eight sentences."
        ),
        answer=(
            "The first number is the share of guesses that stay, which gives the tokens of a pass. It depends on the "
            "two models and not on the machine, and I can count it. The second is the time of a guess compared with "
            "that of a pass of the large model. At home both are mostly the time of calling torch, so a guess costs "
            "a tenth of a pass, and beside a large model it is next to nothing. The third is how much longer a pass "
            "over n + 1 tokens takes than one over a single token. On a card that waits for its weights it takes "
            "no longer. On my processor it takes 1.2 times as long. I would time passes over 1, 2, 3 and 5 "
            "tokens, and put the three numbers into the formula."
        ),
        criteria=(
            "Names the share of guesses that stay, and that it does not depend on the machine.",
            "Names the time of a guess, compared with a pass of the large model.",
            "Names the time of a pass over several tokens, compared with one over one.",
            "Says for each how it can be measured.",
        ),
        hints=(
            "Write down what one round takes, and how many tokens it gives. Which quantities stand in that quotient?",
            "What does a large model wait for while it writes a token, and how much more of it do five tokens need?",
        ),
    ),
    Question(
        prompt=(
            "In softmax the largest score cancels: any number in its place gives the same result. A friend says that "
            "blocks of keys need not carry it along. (a) Why does it cancel? (b) What goes wrong without it, and with "
            "which scores? (c) Why can it not be found before the first block? Five to eight sentences."
        ),
        answer=(
            "(a) Each weight is exp(s - m) over the sum of all exp(s - m). The factor exp(-m) stands above and below, "
            "so it cancels for every m. (b) Floats have a largest and a smallest number. Without m a score of 100 "
            "overflows in single precision, and where all scores are below -110 every weight is 0, so 0 is "
            "divided by 0. With the largest score as m the largest weight is 1. (c) It is the largest of all scores, "
            "and they are known only when the last block has been read. To find it first would mean to compute all "
            "scores twice. Carrying it along costs one number for each query, and one factor whenever it grows."
        ),
        criteria=(
            "Shows with the quotient that the number cancels.",
            "Names overflow or a sum of zeros, with scores where it happens.",
            "Says when the largest of all scores is known.",
            "Says what carrying it along costs.",
        ),
        hints=(
            "Write the softmax of two scores with m, and divide above and below by exp(-m).",
            "Print exp(100.) and exp(-110.) in float32.",
        ),
    ),
)
