"""How `hint` helps with the written question on word vectors. No hint gives an answer."""

from course.hidden.written import Question

HINTS = (
    "Write five sentences with a gap into which both `good` and `bad` fit. Then try to write one into which only "
    "`good` fits.",
    "Take one training step on such a sentence. Which vectors does the gradient move when the gap was `good`, and"
    " which when it was `bad`?",
    'Begin (b) with "The two vectors would move apart if the model had to …, because then the loss …".',
)

CRITERIA = (
    "Says from what a word's vector is learned, and applies it to *good* and *bad*.",
    "Says what it means that two vectors are near, and decides from that whether it is a bug.",
    "Changes the data or the task, and not the formula.",
    "Follows the change to the windows or the gradient, and says why the two words would part.",
)

OTHERS = (
    Question(
        prompt=(
            "Two reviews have the same bag of words. The first says *not good, really bad*. The second says *really "
            "good, not bad*.\n\n"
            "(a) Why can a classifier on bags of words not tell them apart, whatever its weights are?\n\n"
            "(b) Name one task for which a bag suffices, and say why.\n\n"
            "(c) A friend counts pairs of neighbouring words as well. What does that mend here, and what does it "
            "cost? Five to eight sentences."
        ),
        answer=(
            "(a) A bag counts each word and forgets the order. Both reviews have the same counts, so the classifier "
            "gets the same input twice and returns the same output. No choice of weights can change that. (b) To "
            "tell which topic a newspaper article is about, a bag is often enough. Words such as *goal* and "
            "*referee* give the topic away wherever they stand. (c) The pair *not good* occurs only in the first "
            "review and *not bad* only in the second, so their bags of pairs differ. But a vocabulary of 10,000 "
            "words has a hundred million possible pairs. Most of them occur never or once, so the table is large "
            "and the counts are thin. The pair also does not reach a *not* that stands three words before its "
            "adjective."
        ),
        criteria=(
            "Says what the classifier receives of each review, and why no weights can help.",
            "Names a task for a bag, and says why order does not matter there.",
            "Names pairs that occur in one of the two reviews only.",
            "Says what the pairs cost, with a number or with a case that they still miss.",
        ),
        hints=(
            "Write the two bags down as two rows of counts, under the same words.",
            "For the last part, count the pairs that a vocabulary of ten words allows. Then take a vocabulary of "
            "10,000.",
        ),
    ),
    Question(
        prompt=(
            "Your vocabulary keeps the words that occur at least `min_count` times, and every other word becomes "
            '`<unk>`. A friend sets `min_count` to 1, "so that nothing is unknown".\n\n'
            "(a) What does CBOW learn about a word that occurs once?\n\n"
            "(b) What does it learn for `<unk>` if `min_count` is 5, and what is that good for?\n\n"
            "(c) Is nothing unknown to your friend's model? Five to eight sentences."
        ),
        answer=(
            "(a) The vector of such a word is moved in a handful of windows and otherwise stays the random vector "
            "that it was in the beginning. So its nearest neighbours are an accident, and its row costs as much "
            "memory as any other. (b) With a minimum of 5, all rare words share the row of `<unk>`, and together "
            "they occur often. The model learns where rare words stand, for example that names and technical terms "
            "follow certain words. A new text with new words then meets a vector that was trained. (c) Her training "
            "text holds no unknown word, but the next text does. Its new words also become `<unk>`, and the row of "
            "`<unk>` was never trained, because no word of her training text had used it."
        ),
        criteria=(
            "Says how often the vector of a word that occurs once is moved, and what its neighbours are worth.",
            "Says what the row of `<unk>` learns from all rare words together, and what it is good for.",
            "Follows a new word into the friend's model, and says how well its row was trained.",
        ),
        hints=(
            "In how many windows does a word stand that occurs once? Compare that with the number of values in its "
            "vector.",
            "Think of the first sentence of a new text, and of a name in it. Which row does the model read, and "
            "when was that row changed last?",
        ),
    ),
)
