"""How `hint` helps with the written question on tokenisers. No hint gives an answer."""

from __future__ import annotations

from course.hidden.written import Question

HINTS = (
    "How many bits does model A pay for one piece of perplexity 30? And over how many bytes are they spread?",
    "Type a sentence of another language than English into the widget. How many bytes does a piece hold there?",
    'Begin (b) with "The merges were learned from English, so a Tagalog word becomes …, and therefore …".',
)

CRITERIA = (
    "Brings both models to the same unit, and shows the calculation.",
    "Says which model is better, and why their perplexities do not compare.",
    "Says what happens to Tagalog words in the tokeniser, and why.",
    "Names one consequence for the cost, and one for what the model can remember.",
)

OTHERS = (
    Question(
        prompt=(
            "Our tokeniser cuts a text into words first, and no merge crosses from one word to the next. A friend "
            "leaves that step out and trains BPE on the whole text as one long word. (a) Which pieces will he find "
            "that you do not? (b) Name one gain and one loss of his way. Five to eight sentences."
        ),
        answer=(
            "(a) His pairs may cross spaces and full stops, so after enough merges he has pieces such as `of the`, "
            "`. The` or whole phrases that occur often. (b) Common phrases become single pieces, so his text is "
            "shorter for the same number of merges. But the same word now falls into different pieces, depending on "
            "what stands beside it: `dog` alone, inside `the dog`, and inside `dog.` are three things. A model has "
            "to learn them one by one, and meets each of them less often. Training is slower as well, because words "
            "cannot be counted once each."
        ),
        criteria=(
            "Gives pieces that only the friend finds, and says why.",
            "Names a gain that one could count.",
            "Names a loss, and shows it with one word beside different neighbours.",
        ),
        hints=(
            "Train both ways on *the cat sat on the mat* by hand, for three merges. Which pairs may your friend "
            "join that you may not?",
            "In how many different pieces may the word `dog` stand in his text?",
        ),
    ),
    Question(
        prompt=(
            "You train skip-gram with noise drawn uniformly from the vocabulary, where the paper draws it by count "
            "to the power 3/4. (a) Write down the best score of a pair for uniform noise. (b) How do the scores of "
            "frequent contexts change? (c) What does that do to a list of a word's best contexts? Five to eight "
            "sentences."
        ),
        answer=(
            "(a) With P_n(c) = 1/V the best score is log P(w, c) / P(w) + log V - log k, which is the logarithm of "
            "the probability of c near w, and a constant. (b) The score no longer divides by how common c is. A "
            "frequent context such as `the` gets a high score with every word, simply because it is frequent. (c) "
            "The best contexts of nearly all words are then the same few frequent words, and the list says little "
            "about the word. Noise by count takes this share out, and what is left is how much more often the two "
            "meet than chance would have it."
        ),
        criteria=(
            "Writes down the best score with the probability of uniform noise in it.",
            "Says what the score no longer takes into account, and what that does to frequent contexts.",
            "Says what the lists of best contexts of different words look like then.",
        ),
        hints=(
            "Write the best score with $P_n(c) = 1/V$. Which part of it still depends on the context alone?",
            "Whose best context is `the`, if a context is not divided by how common it is?",
        ),
    ),
)
