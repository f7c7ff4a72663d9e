"""How `hint` helps with the written question on multi-head attention. No hint gives an answer."""

HINTS = (
    "Give one child a friend who wears a 3 and a rival who wears a 5. Choose the weights of a single head by "
    "hand. What does it bring home? Try again with two heads.",
    "How many numbers has a query with 1, 2 and 64 heads of the same layer? Write out one score for each of the three.",
    'Begin with "For each child, one head can …, and it cannot …". Then answer your friend with one gain and one loss.',
)
