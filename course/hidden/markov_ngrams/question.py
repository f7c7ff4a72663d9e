"""How `hint` helps with the written question on n-grams. No hint gives an answer."""

HINTS = (
    "Let the writer above write a few lines with its largest n and a low temperature. Search the training text "
    "for 30 characters of what it wrote. What do you find?",
    "Count the contexts of 29 characters in the training text. How many of them occur once, and how many of those"
    " in the new text occur in it at all?",
    "For (b), draw the first picture of this notebook again by hand. Add what a thousand times as much text would"
    " change. Then write a sentence whose last word depends on its first.",
)
