"""How `hint` helps with the written question on word vectors. No hint gives an answer."""

HINTS = (
    "Write five sentences with a gap into which both `good` and `bad` fit. Then try to write one into which only "
    "`good` fits.",
    "Take one training step on such a sentence. Which vectors does the gradient move when the gap was `good`, and"
    " which when it was `bad`?",
    'Begin (b) with "The two vectors would move apart if the model had to …, because then the loss …".',
)
