"""How `hint` helps with the written question on self-attention. No hint gives an answer."""

HINTS = (
    "Reverse a list of three pairs on paper. What becomes of the output at each position? Do the same with the flat "
    "list.",
    "Find two flat lists that hold the same letters and digits and have different answers. What does the layer "
    "receive of each?",
    "For your friend's idea, write the new vector under each word of `a 3 b 7`. Which two words have to find each"
    " other, and what do they know by now?",
)
