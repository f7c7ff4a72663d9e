"""How `hint` helps with the written question on masking. No hint gives an answer."""

from course.hidden.written import Question

HINTS = (
    "Print what the language itself loses on your friend's sentences. Subtract the two losses sentence by "
    "sentence. How could you tell whether the difference is luck?",
    "Follow one word from the input to the logits. Stop wherever numbers of several words are mixed, and ask what"
    " the mask does there.",
    "For BERT, hide a word of a sentence and underline all that the model sees. Then let it continue a sentence "
    "that has no end yet. What is missing?",
)

CRITERIA = (
    "Compares 2.1 with the best possible loss of this language, and says how certain that makes it.",
    "Names what to run on the model and on its parts.",
    "Names two ways in which the future gets past a correct mask.",
    "Says why BERT's view is no leak, and what BERT cannot be used for because of it.",
)

OTHERS = (
    Question(
        prompt=(
            "A friend trains BERT's task on your language, but replaces every chosen word by `[MASK]` (instead of "
            "80 %, and 10 % each by random words and by themselves). Another one follows the recipe but chooses 60 "
            "% of all words instead of 15 %.\n\n"
            "What does the first friend's model never learn, and when will that be noticed? What does the second "
            "friend gain, and lose? How could each of them find out before anything else is built on the model? "
            "Write five to eight sentences."
        ),
        answer=(
            "The first model only ever has to say something at positions with `[MASK]`. At all others its output "
            "may be anything, because the loss never reads it. It will be noticed when the model is used, since "
            "then no `[MASK]` stands anywhere, and the vectors of ordinary words are what one wants to use. With "
            "random and unchanged words the model must keep a good guess for each position, because any word may be "
            "wrong. The second friend gets a loss from four times as many positions in each sentence, so each "
            "sentence teaches more. But he also leaves less to guess from. With only 40 % of the words left, many "
            "hidden words cannot be known, and the task becomes another one than in use, where all words are there. "
            "To find out, the first one could measure the model at positions that were not chosen, with no `[MASK]` "
            "in the sentence. The second one could measure how well words are guessed when only 15 % are hidden, "
            "for models that were trained with 15, 30 and 60 %, and compare at the same amount of computing."
        ),
        criteria=(
            "Says at which positions the first model is asked for something, and what it may do at the others.",
            "Says when in the use of the model that is noticed.",
            "Says what the second friend gains with each sentence, and what he takes from the guess.",
            "Gives each of the two a measurement that comes before anything is built on the model.",
        ),
        hints=(
            "At which positions does the loss look at the model's output? What is asked of it everywhere else?",
            "Hide six words of ten in a sentence of yours, and try to guess them.",
        ),
    ),
    Question(
        prompt=(
            "The same sentence gets different predictions when it is put into a batch with a longer sentence.\n\n"
            "Name two mistakes that can cause this, and explain for one of them step by step how the longer "
            "sentence comes in. Write down a test that finds it and that does not depend on any trained weights. "
            "Why does a good loss in training not show the mistake? Write five to eight sentences."
        ),
        answer=(
            "The first cause is a missing padding mask. The short sentence is filled with padding up to the length "
            "of the long one. The padding has vectors like any token, each query gives them some weight, and the "
            "more padding there is, the more weight goes there, so the mixture depends on the longest sentence of "
            "the batch. The second cause is a mean over positions that divides by the padded length, or that adds "
            "up the vectors of padding. (A norm over a whole batch would be a third.) To test it, I take an "
            "untrained model with random weights, compute the output for a sentence alone and for the same sentence "
            "with five tokens of padding, and compare at the real positions. They have to agree up to rounding. I "
            "would also change the padding's token id, and nothing may move. In training the mistake does not show, "
            "because the model gets used to it. Batches of training have padding too, and the model learns to do "
            "well with it. Only when sentences come alone, or in other batches, do the numbers differ."
        ),
        criteria=(
            "Names two mistakes that let a batch change a sentence's prediction.",
            "Follows one of them step by step from the longer sentence to the prediction.",
            "Gives a test that works with random weights, and says what has to agree.",
            "Says why a good loss in training does not show the mistake.",
        ),
        hints=(
            "Follow one query of the short sentence. To how many positions does it give weight, alone and in the "
            "batch?",
            "Two inputs that should give the same output make a good test. Which two would you take here?",
        ),
    ),
)
