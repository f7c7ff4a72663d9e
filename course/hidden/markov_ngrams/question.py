"""How `hint` helps with the written question on n-grams. No hint gives an answer."""

from course.hidden.written import Question

HINTS = (
    "Let the writer above write a few lines with its largest n and a low temperature. Search the training text "
    "for 30 characters of what it wrote. What do you find?",
    "Count the contexts of 29 characters in the training text. How many of them occur once, and how many of those"
    " in the new text occur in it at all?",
    "For (b), draw the first picture of this notebook again by hand, for a thousand times as much text. Begin with "
    '"A longer text would fill …, but a window of … would still be new, because …". Then write a sentence whose last '
    "word depends on its first.",
)

CRITERIA = (
    "Says what the model writes, and how many followers nearly every long context has in the training text.",
    "Says what becomes of those contexts on new text, and on what the model then relies.",
    "Says how the best `n` moves with a thousand times the text, with a reason from the number of windows.",
    "Names something that stays out of reach however much is counted, with an example.",
)

OTHERS = (
    Question(
        prompt=(
            'A friend sets $\\alpha = 0$ in her model, because smoothing "invents counts that nobody has seen".\n\n'
            "(a) What happens to her perplexity on a held-out text, and why is a single window enough?\n\n"
            "(b) Another friend takes $\\alpha = 1000$. What does his model write?\n\n"
            "(c) How would you choose $\\alpha$, and on which text? Five to eight sentences are enough."
        ),
        answer=(
            "(a) A held-out text almost always has a window that the training text does not have. Without smoothing "
            "it gets the probability 0. The probability of a text is a product, so the whole text has the "
            "probability 0, and the perplexity is infinite. All other windows cannot make up for one zero. (b) Each "
            "token of the vocabulary gets 1000 extra counts in each context. The true counts hardly matter beside "
            "them, so all followers are about equally likely, and the model writes random tokens. (c) I would try "
            "several values, such as 0.01, 0.1 and 1, and take the one with the lowest perplexity on a text that no "
            "model was counted on. On the training text the best value is always zero, because there no window is "
            "new. I would report the result on a third text, since the second one has helped to choose."
        ),
        criteria=(
            "Follows one unseen window from its count to the perplexity of the whole text.",
            "Compares the true counts with the added ones, and says what the model then writes.",
            "Says what to measure to choose α, on which text, and why the training text will not do.",
        ),
        hints=(
            "Write down the product for a text of three windows. What becomes of it if one factor is zero?",
            "Take a vocabulary of 30 characters and a context that was seen ten times. What are its shares once "
            "each follower has 1000 more counts?",
        ),
    ),
    Question(
        prompt=(
            "In the sentence *The keys that my brother left on the table by the door are mine*, the word *are* "
            "depends on *keys*.\n\n"
            "(a) What does a trigram model of words know when it predicts *are*, and what will it often write "
            "there?\n\n"
            "(b) A friend proposes windows of 15 words, which would reach *keys*. Why does this not help, and what "
            "would a model need in place of a longer window? Five to eight sentences are enough."
        ),
        answer=(
            "(a) A trigram model sees *the door* and nothing before it. After *the door* the word *is* is more "
            "frequent than *are*, so it will often write *is*, as if the door belonged to somebody. (b) A window of "
            "15 words is almost never repeated. The training text has not seen this context, so its counts are "
            "zero, and smoothing gives back shares that say nothing about *keys*. With a vocabulary of 10,000 words "
            "there are more windows of 15 words than any text could show. The counts also know nothing of similar "
            "contexts. What they learn from *the keys on the table* does not help with *the books by the door*. The "
            "model would need a memory of fixed size that holds what matters, here the plural of the subject, and a "
            "way to treat similar words alike."
        ),
        criteria=(
            "Says which words the trigram model sees, and which verb it will prefer after them.",
            "Says how often a window of 15 words recurs, and what its counts say.",
            "Says why the counts of one sentence do not help with a similar one.",
            "Describes what a model needs in place of a longer window.",
        ),
        hints=(
            "Cover all but the last two words before *are*. Which verb would you write?",
            "How often does a window of 15 words from today's newspaper occur in yesterday's?",
        ),
    ),
)
