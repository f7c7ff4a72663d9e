"""How `hint` helps with the written question on attention over a recurrent encoder. No hint gives an answer."""

from course.hidden.written import Question

HINTS = (
    "Draw the model without attention and the model with it, for a source of six characters and a target of three. "
    "Follow the arrows back from the last digit to the third character, and count them.",
    "Replace the encoder by a table of embeddings on paper. Write down key and value of the first 4 and of the "
    "second 4 in `04.07.1994`.",
    'Begin the second part with "To write the month, the decoder needs a key that …".',
)

CRITERIA = (
    "Counts the steps without attention and with it, and says along which path.",
    "Says how the keys of the two 4s would differ as plain embeddings, and what the decoder could then not tell.",
    "Says what the recurrent encoder puts into a key besides the character.",
)

OTHERS = (
    Question(
        prompt=(
            'The weights of a translation model are drawn as a map, and a colleague says, "Now we can see why the '
            'model chose each word."\n\n'
            "What do the weights say, and what do they not say? Give one reason from this notebook why the position "
            "with the largest weight need not be the one that decided. Then describe an experiment that tests "
            "whether a certain source word mattered for a certain target word. Write five to eight sentences."
        ),
        answer=(
            "The weights say in which proportions the encoder states were mixed into the context. They say nothing "
            "about what those states hold. A bidirectional encoder has read the whole source before, so the state "
            "at one word also knows of its neighbours, and a large weight on a state does not tell which word in it "
            "was used. The decoder's own state goes into the prediction as well. If that state already knows the "
            "answer, the weights may point anywhere without doing harm. To test one source word, I would exchange "
            "it for another word of the same kind, such as one digit for another, and translate again. If the "
            "target word changes with it, and no other change of the same size has that effect, then the word "
            "mattered. Comparing this effect with the weights for many words would show how far the map can be "
            "trusted."
        ),
        criteria=(
            "Says of what the weights are proportions, and what they leave open.",
            "Gives a reason from this notebook why the largest weight need not be the one that decided.",
            "Describes an experiment on one source word, with something to compare its effect with.",
        ),
        hints=(
            "Which words of the source has the state at one position read?",
            "To find out whether a switch matters, you turn it. What is the switch here, and what do you watch?",
        ),
    ),
    Question(
        prompt=(
            "You have three kinds of scores: additive, dot product and general. A friend always takes the additive "
            'one, "because it has the most parameters and a nonlinearity".\n\n'
            "When would you take the dot product all the same? Name one thing that it demands of queries and keys, "
            "and one that grows with their width. Where does the general score stand between the two? Write five to "
            "eight sentences."
        ),
        answer=(
            "I would take the dot product if there are many queries and keys, because all scores are then one "
            "matrix product, without parameters and without an intermediate vector for each pair. The additive "
            "score has to compute a tanh of some width for every pair, which takes more time and memory. The dot "
            "product demands that queries and keys have the same width, and also that they speak the same language, "
            "since each coordinate of the query is compared with the same coordinate of the key. A network whose "
            "decoder and encoder are trained together can learn that. Its size grows with the width. For "
            "coordinates of size one, the typical score is the root of the width, so the softmax gets sharper in "
            "wide models, and one divides by that root. The general score puts a learned matrix between query and "
            "key. So the widths may differ, and the matrix translates between two codes, but it is still a product, "
            "which is fast and has no nonlinearity. More parameters are an advantage only if the scores need them. "
            "The task of this notebook shows whether they do."
        ),
        criteria=(
            "Names a situation for the dot product, and what it saves there.",
            "Names something that the dot product demands of queries and keys.",
            "Says how the size of a score grows with the width, and what that does to the softmax.",
            "Says what the general score adds to the dot product, and what it lacks beside the additive one.",
        ),
        hints=(
            "Count the numbers that have to be computed for one query and $S$ keys under each kind of score.",
            "Draw two random vectors of width 4, and two of width 400. How large is the product of each pair?",
        ),
    ),
)
