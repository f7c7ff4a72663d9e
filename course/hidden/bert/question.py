"""How `hint` helps with the written question on BERT, and two more questions. No hint gives an answer."""

from __future__ import annotations

from course.hidden.written import Question

HINTS = (
    "Write down the weight that a merged layer has, once on the quantised base and once on the original one. In which "
    "of the two was the update trained?",
    "Compute W minus its dequantised copy for one layer of your model. How large is that beside the update?",
    "Measure both merged layers on the sentences about new nouns. Which one gives the answers of the trained layer?",
)

CRITERIA = (
    "Says beside which weights A and B were trained, and what they learned because of it.",
    "Says what becomes of that on the original weights.",
    "Names the weights to merge onto, and the price.",
    "Names a measurement on held-out data that compares the choices.",
)

OTHERS = (
    Question(
        prompt=(
            "A friend trains on hidden words, and her loss falls to 0.4 nats a word. Yours stops at 2.0. The best "
            "possible loss of hidden words is 1.94. (a) What has she probably done? (b) Why may her model still do "
            "well after fine-tuning, and what has she wasted? Five to eight sentences."
        ),
        answer=(
            "(a) No model can guess hidden words with 0.4 nats, because the language itself is uncertain. She "
            "probably computes the loss at every place, also where the word can be seen. Copying a visible word "
            "costs nearly nothing, so the mean is low. One sees it by printing how many labels are not -100. (b) "
            "The hidden words are among her places, too, so the model still learns to guess them and its vectors "
            "still hold what is an animal. But most of the gradient teaches it to copy, which it can do through the "
            "residual connections at once. With the same number of steps it learns less about hidden words, and the "
            "printed loss no longer says when training has stopped helping."
        ),
        criteria=(
            "Compares her loss with the best possible one, and draws a conclusion.",
            "Names what she has probably done, and how one would see it.",
            "Says why her model has learned something about hidden words all the same.",
            "Says what most of her training went into.",
        ),
        hints=(
            "Over which positions is each of the two losses a mean? What does a visible word cost a model that may "
            "copy it?",
            "Her model also had to guess the hidden words. Which part of her steps taught it that?",
        ),
    ),
    Question(
        prompt=(
            "T5 hides spans and writes them with a decoder, and BERT hides words and guesses each at its place. For "
            "a sentence of twenty words of which three neighbours are hidden: (a) What does each model read and "
            "what does it have to write or guess? (b) Name one task for which you would choose T5's form, and one "
            "for BERT's. Five to eight sentences."
        ),
        answer=(
            "(a) BERT reads twenty tokens, three of them [MASK], and guesses three words, each by itself. It knows "
            "how many words are missing. T5 reads eighteen tokens, because one sentinel stands for the span, and "
            "writes the sentinel, the three words and one more sentinel. It has to find out how many words are "
            "missing, and each word that it writes depends on the one before. (b) For translation or a summary I "
            "would take T5, because the answer is a text of unknown length. For deciding whether a review is good I "
            "would take BERT, since one vector for the whole sentence is enough, and nothing has to be written word "
            "by word."
        ),
        criteria=(
            "Counts what each model reads.",
            "Says what each model writes or guesses, and what it knows about the number of missing words.",
            "Says for each form whether a missing word can depend on another one.",
            "Names a task for each form, with a reason from what its answers look like.",
        ),
        hints=(
            "Write down what each model reads for your sentence, token by token, and what it has to say.",
            "In which of the two tasks is the length of the answer known before the model begins?",
        ),
    ),
)
