"""How `hint` helps with the written question on self-attention. No hint gives an answer."""

from course.hidden.written import Question

HINTS = (
    "Reverse a list of three pairs on paper. What becomes of the output at each position? Do the same with the flat "
    "list.",
    "Find two flat lists that hold the same letters and digits and have different answers. What does the layer "
    "receive of each?",
    "For your friend's idea, write the new vector under each word of `a 3 b 7`. Which two words have to find each"
    " other, and what do they know by now?",
)

CRITERIA = (
    "Names one property of self-attention, and explains both lists with it.",
    "Says where each of the two lists holds what belongs together.",
    "Judges the proposal by what the new vector tells the layer beyond the embeddings.",
)

OTHERS = (
    Question(
        prompt=(
            'A friend leaves out the division by $\\sqrt{D}$, because "the network can learn to make its queries '
            'smaller".\n\n'
            "What do the weights of an untrained layer of width 1024 look like without the division, and what does "
            "that mean for the gradient? Why is it the root and not $D$ itself? Is your friend right that the "
            "network could learn it? Write four to six sentences."
        ),
        answer=(
            "Queries and keys of an untrained layer have coordinates of size about one, so a score is a sum of 1024 "
            "random products, and its typical size is $\\sqrt{1024} = 32$. A softmax over scores that lie dozens "
            "apart puts nearly all weight on one position, chosen at random. There the softmax is saturated. Its "
            "slopes are products of weights of which one is nearly zero, so almost no gradient reaches queries and "
            "keys. The size of a sum of independent products grows with the root of their number, so dividing by "
            "$D$ would make all scores nearly equal, and the layer would begin by averaging everything. In "
            "principle the network can learn smaller queries. But the gradient that should teach it is the very one "
            "that vanishes, so learning is slow or depends on luck."
        ),
        criteria=(
            "Gives the typical size of a score at width 1024, and the weights that follow from it.",
            "Says what such weights mean for the gradient.",
            "Says how a sum grows with the number of its terms, and what dividing by `D` would do.",
            "Weighs what the network could learn against the gradient that would have to teach it.",
        ),
        hints=(
            "How large is a sum of 1024 products of random numbers of size one?",
            "What does a softmax return for the scores 0, 32 and -10? How much does its output change if the last "
            "score moves by one?",
        ),
    ),
    Question(
        prompt=(
            "A layer of self-attention with its projections and its feed-forward network reads 1,000 tokens in one "
            "second. Its width is 1,000.\n\n"
            'A friend says, "For 10,000 tokens it takes a hundred seconds, because attention is quadratic." Why '
            "is that too much? Estimate the time, and say which part of the layer you used for each number. At "
            "which lengths would your friend's rule be nearly right? Write four to six sentences."
        ),
        answer=(
            "Only the scores and the mixing of values grow with the square of the length, with about $2 n^2 d$ "
            "multiplications. Projections and feed-forward network grow in proportion to the length, with about $4 "
            "n d^2 + 8 n d^2 = 12 n d^2$, if the feed-forward network is four times as wide. At $n = d = 1000$ the "
            "quadratic part is 2 of 14 parts, so about 0.14 seconds, and the rest takes 0.86 seconds. For ten times "
            "the length, the first becomes a hundred times as long and the second ten times as long. That makes $14 "
            "+ 8.6$, about 23 seconds. Your friend's rule is nearly right where the quadratic part dominates. This "
            "is so if $2 n$ is much larger than $12 d$, so from some 60,000 tokens on at this width. (The memory "
            "for the weights is another matter, and always grows with the square.)"
        ),
        criteria=(
            "Splits the second into a part that grows with the square of the length and a part that does not.",
            "Names the parts of the layer that stand behind both numbers.",
            "Gives each part its own factor, and adds them up.",
            "Says from which lengths on the square dominates, and how that follows from the two parts.",
        ),
        hints=(
            "Split the second into a part that is quadratic in the length and a part that is proportional to it. "
            "The cost table of this notebook has both.",
            "Multiply each part by its own factor, and add them up again.",
        ),
    ),
)
