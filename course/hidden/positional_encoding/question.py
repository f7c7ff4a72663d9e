"""How `hint` helps with the written question on positional encoding. No hint gives an answer."""

HINTS = (
    "Print row 20 of the learned table before and after training. Then ask which number RoPE uses for positions 17 "
    "and 20.",
    "For a list of 16 letters said backwards, write down where positions 0, 3 and 15 have to look, and how far away "
    "that is.",
    "Make a table with the five models as its rows. Note for each what it tells a query: its own position, a distance,"
    " or nothing.",
)
