"""How `hint` helps with the written question on hidden states. No hint gives an answer.

Two other questions, for another term. "ELIZA's patients believed that she understood them. What would you show them to
argue that she did not, and what would she need first?" And "Your typist's words are mended in nine of ten cases. What
would you change, in which table, for somebody who also leaves letters out, and why is that harder?"
"""

from __future__ import annotations

HINTS = (
    "Write down what is hidden and what is seen for the typist, and then for the telephone. Which of the two has a "
    "table that says how hidden things follow each other?",
    "In CTC, the network's probabilities at one frame do not know the label chosen at another. When does that hurt?",
    "For your friend's idea, count the paths of 5 5 over four frames with a blank, and without one.",
)
