"""How `hint` helps with the written question on multi-head attention. No hint gives an answer."""

from course.hidden.written import Question

HINTS = (
    "Give one child a friend who wears a 3 and a rival who wears a 5. Choose the weights of a single head by "
    "hand. What does it bring home? Try again with two heads.",
    "How many numbers has a query with 1, 2 and 64 heads of the same layer? Write out one score for each of the three.",
    'Begin with "For each child, one head can …, and it cannot …". Then answer your friend with one gain and one loss.',
)

CRITERIA = (
    "Says how many distributions a head has for each word, and what arrives when it looks at both children.",
    "Says why a wider head does not help.",
    "Says what the second head adds, and where the linear layer finds it.",
    "Says what the friend gains and gives up, with the width that is left for each head.",
)

OTHERS = (
    Question(
        prompt=(
            "A friend splits the heads with `x.view(B, n_heads, T, d)`, without exchanging any axes. She merges "
            "them as you do. All shapes fit, nothing fails, and the model even trains.\n\n"
            "What does each head see now? Take $T = 4$, $D = 4$ and two heads, and say which numbers of which words "
            "land in the first head. How would you notice the mistake, and why may a causal model trained like this "
            "have a suspiciously good loss? Write four to six sentences."
        ),
        answer=(
            "`view` reads the numbers in the order in which they lie in memory, word after word. With four words of "
            "four numbers and two heads of width two, the first eight numbers, all of words 0 and 1, become the "
            'first head, with four "positions" of two numbers each. The second head gets words 2 and 3. So a head '
            "does not see some columns of all words, but all columns of some words, and what it takes for a "
            "position is half a word. I would notice it by changing one word and looking at which heads and "
            "positions move, or by comparing with a loop over the columns of each head. The right merge then puts "
            "side by side what the heads have at the same position. At position 0 these are half of word 0 from the "
            "first head and half of word 2 from the second. So output 0 has read word 2 although the mask is right, "
            "and the loss gets better than it honestly can."
        ),
        criteria=(
            "Lists which numbers of which words land in the first head of the small example.",
            "Says what such a head takes for a position.",
            "Names a test that shows the mistake.",
            "Follows a later word to an earlier output, and says why the mask does not stop it.",
        ),
        hints=(
            "Number the sixteen values from 0 to 15, in the order of memory. Write down the two heads by hand.",
            "What does the right merge put side by side at position 0? Which words are these?",
        ),
    ),
    Question(
        prompt=(
            "After training, you set the output of one of eight heads to zero, and the loss hardly changes. You try "
            "each of the eight, and it is the same for all of them.\n\n"
            "May you conclude that the layer needs no heads? What else may be the reason? Describe how you would "
            "find out whether two heads do the same thing, and whether one of them could be removed before "
            "training, too. Write four to six sentences."
        ),
        answer=(
            "No. Each head was removed alone, and the seven others were there. If two heads do the same thing, each "
            "of them can be spared as long as the other one stays. So I would remove heads in pairs, then in larger "
            "groups, and look where the loss rises. To see whether two heads do the same thing, I would compare "
            "their attention weights on many sentences, position by position, and also what they add to the output, "
            "since equal weights with different values are different work. A residual connection is another reason "
            "why a missing head does little harm, because the layer then only adds less. Whether a head is needed "
            "before training is another question. More heads give training more chances to find a good pattern, "
            "although not all of them are needed afterwards. To answer it, I would train models with fewer heads, "
            "with several seeds each, and compare."
        ),
        criteria=(
            "Says what the eight trials tested, and what they did not.",
            "Names another reason why a missing head may do little harm.",
            "Describes how to compare what two heads do, and not only the loss.",
            "Separates what a trained layer needs from what training needs, with an experiment.",
        ),
        hints=(
            "You take one leg of a table with eight legs, and it stands. What do you know about the others?",
            "Two heads have the same weights. Is it certain that they add the same vector?",
        ),
    ),
)
