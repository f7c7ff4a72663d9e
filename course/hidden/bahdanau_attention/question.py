"""How `hint` helps with the written question on attention over a recurrent encoder. No hint gives an answer."""

HINTS = (
    "Draw the model without attention and the model with it, for a source of six characters and a target of three. "
    "Follow the arrows back from the last digit to the third character, and count them.",
    "Replace the encoder by a table of embeddings on paper. Write down key and value of the first 4 and of the "
    "second 4 in `04.07.1994`.",
    'Begin the second part with "To write the month, the decoder needs a key that …".',
)
