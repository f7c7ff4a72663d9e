"""How `hint` helps with the written question on GPT. No hint gives an answer."""

from __future__ import annotations

from course.hidden.written import Question

HINTS = (
    "Write down what the model has read when it defines your word: which tokens, and nothing else. Where could it have "
    "learned what `blorbel` means?",
    "Compare one word under two kinds, and two words under one kind. Which of the two decides more?",
    "Look at the bits per byte in the model card. What does the loss reward, and what does it never ask?",
)

CRITERIA = (
    "Says what the model has learned about definitions.",
    "Names something that one can observe, and says what it tells.",
    "Names errors that more data or a larger model would mend, and says why.",
    "Names errors that would stay, by what the loss does not ask for.",
)

OTHERS = (
    Question(
        prompt=(
            "A company trains two models. One has 64 groups of keys and values for its 64 heads, the other has 8. "
            "(a) What is different while they are trained, and what while they write? (b) Why does nobody share "
            "queries in the same way? Five to eight sentences."
        ),
        answer=(
            "(a) In training all tokens are read at once, so the work hardly differs. The second has fewer weights "
            "in W_k and W_v. While it writes, each new token reads all keys and values of the cache, and these are "
            "8 times fewer bytes. So a machine holds 8 times as many texts, or longer ones, and reading them takes "
            "less time. (b) The query says what a head looks for. Heads with one query and one key would find the "
            "same tokens, and two such heads are no better than one. A query is also used once and then forgotten, "
            "so it takes no room in the cache, and sharing it would save little."
        ),
        criteria=(
            "Says what hardly differs in training, and what does.",
            "Says what is read for each new token while the model writes, and by which factor that shrinks.",
            "Says what a query is for, and what heads with the same one would find.",
            "Says whether shared queries would save anything in the cache.",
        ),
        hints=(
            "Count the bytes of the cache for 64 groups and for 8. Which matrix products become smaller, and which "
            "do not?",
            "Two heads share keys, values and queries. In what could they still differ?",
        ),
    ),
    Question(
        prompt=(
            "Three models have 1.64, 1.54 and 1.26 bits per byte on held-out definitions. A friend says that the last "
            "one is only a quarter better. (a) What do 0.3 bits per byte mean for a definition of 80 bytes? (b) Why "
            "may bits per byte be compared here, and perplexities a token not? Five to eight sentences."
        ),
        answer=(
            "(a) For 80 bytes, 0.3 bits per byte are 24 bits. So the better model gives the whole definition a "
            "probability that is 2 to the power 24 times as large, which is 17 million. A small difference a byte "
            "is a large one a text, because probabilities multiply. (b) The three cut the text differently, the "
            "n-gram into bytes and the others into pieces of three bytes. A perplexity a token compares a guess "
            "among 256 bytes with a guess among 2,048 pieces. Bytes are the same for all, so the bits that a whole "
            "text costs, divided by its bytes, say which model would compress it best."
        ),
        criteria=(
            "Turns the difference for a byte into one for the whole definition, with the number.",
            "Says what it means for the probabilities of the definition.",
            "Says into what each of the models cuts the text.",
            "Says why one of the two measures survives that, and the other does not.",
        ),
        hints=(
            "Multiply the difference for each byte by the bytes of the definition. What does one bit more or less "
            "mean for a probability?",
            "What does each of the three models guess at one step: a byte, or a piece of how many?",
        ),
    ),
)
