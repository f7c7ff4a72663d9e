"""How `hint` helps with the written question on fine-tuning. No hint gives an answer."""

HINTS = (
    "Make a table with the three proposals as its rows. Its columns are the numbers to keep for each machine, the"
    " accuracy, and what becomes of the old scanner. Fill it in from this notebook.",
    "Write down two questions to the hospital whose answers would change your advice, with the advice that "
    "follows from each answer.",
    "Measure how long the reader takes for a batch before and after `merge`. Which of the hospital's computers "
    "would gain from that, and what would it lose?",
)
