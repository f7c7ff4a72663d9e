"""How `hint` helps with the written question on recurrent networks. No hint gives an answer."""

HINTS = (
    "How long were the sequences that the network was trained on? Read your figure of the gradient at that distance.",
    "List everything that differs between a sequence of 16 tokens and one of 64. Distance is only one of these. "
    "Which can you change one at a time?",
    'Begin the experiment with "I train the same network on …, and plot accuracy against …, separately for …. If '
    'the gradient is the cause, the curve …".',
)
