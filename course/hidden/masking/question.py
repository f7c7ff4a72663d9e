"""How `hint` helps with the written question on masking. No hint gives an answer."""

HINTS = (
    "Print what the language itself loses on your friend's sentences. Subtract the two losses sentence by "
    "sentence. How could you tell whether the difference is luck?",
    "Follow one word from the input to the logits. Stop wherever numbers of several words are mixed, and ask what"
    " the mask does there.",
    "For BERT, hide a word of a sentence and underline all that the model sees. Then let it continue a sentence "
    "that has no end yet. What is missing?",
)
