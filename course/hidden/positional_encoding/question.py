"""How `hint` helps with the written question on positional encoding. No hint gives an answer."""

from course.hidden.written import Question

HINTS = (
    "Print row 20 of the learned table before and after training. Then ask which number RoPE uses for "
    "positions 17 and 20.",
    "For a list of 16 letters said backwards, write down where positions 0, 3 and 15 must look, and how "
    "far away that is.",
    "Make a table with the five ways as its rows. Note for each what it tells a query, which may be its "
    "own position, a distance, or nothing.",
)

CRITERIA = (
    "Says what each of the two encodings says about position 20, and what training did to that.",
    "Says what a position must know to say a list backwards.",
    "Says which of the five could manage it, and which could not.",
    "Decides about RoPE by what its scores depend on.",
)

OTHERS = (
    Question(
        prompt=(
            "The Transformer *adds* the positional encoding to the word's embedding. A friend finds this careless, "
            'because "a sum can be taken apart in many ways", and proposes to append it as further columns.\n\n'
            "What does addition risk, and why is the risk small in wide models? What would appending cost, and what "
            "would it gain? Use the figure with the products of word and position. Write four to six sentences."
        ),
        answer=(
            "A sum mixes word and position in the same columns. In principle another word at another position could "
            "give the same vector, and the score between two sums has four products, of which two compare a word "
            "with a position and mean nothing. But in a space of many dimensions two vectors that know nothing of "
            "each other are nearly perpendicular. The unwanted products are small compared with a vector's product "
            "with itself, as the figure shows for D = 512, while at D = 4 they are not. The layer also has learned "
            "matrices, which can send words and positions to different directions. Appending keeps the two apart "
            "without any luck. It makes every vector longer, and with it all matrices that read it, in every layer, "
            "so it costs parameters and time. If the widths stay the same, words get fewer columns. Since addition "
            "lets the model decide how many directions to spend on positions, it is the cheaper choice, and not a "
            "careless one."
        ),
        criteria=(
            "Names the products that a sum brings into a score, and those that mean nothing.",
            "Uses the figure to compare these products at a small and at a large width.",
            "Says what appending costs, and in which parts of the model.",
            "Says what appending gains.",
        ),
        hints=(
            "Multiply out the score between two sums of word and position. Which of the four products would you "
            "like to keep?",
            "Compare the figure at D = 4 and at D = 512. Which of the two does a large model use?",
        ),
    ),
    Question(
        prompt=(
            "ALiBi takes from each score a penalty that grows with the distance. RoPE rotates queries and keys.\n\n"
            "A model has to find a telephone number that was mentioned 5,000 tokens ago, and another one has to "
            "guess the next word of a story. Which of the two encodings would you choose for each, and why? What do "
            "ALiBi's different slopes have to do with it, and what would you measure before you decide? Write four "
            "to six sentences."
        ),
        answer=(
            "To guess the next word of a story, near words mostly matter more than far ones. ALiBi builds that in, "
            "it needs no training for it, and it goes on working on texts that are longer than those in training. "
            "To find a number that was mentioned 5,000 tokens ago, a head must not lose it because it is far away. "
            "A slope of one half takes 2,500 from its score, and no product of query and key makes up for that. "
            "ALiBi's heads have different slopes for this reason. The flattest one of eight loses 1/256 a token, "
            "which is about 20 in all, so a strong match may or may not get through. RoPE takes nothing away for "
            "distance as such, so a matching key far away can still win, if such distances occurred in training. "
            "Before deciding I would train both on short texts and measure accuracy against the distance between "
            "question and number, inside the trained length and beyond it."
        ),
        criteria=(
            "Chooses an encoding for each task by what it does to a match that is far away.",
            "Computes what a slope takes from a score over 5,000 tokens, for a steep head and for a flat one.",
            "Names a measurement against the distance, and says at which lengths.",
        ),
        hints=(
            "Compute what a slope of 1/2 and a slope of 1/256 take from the score at a distance of 5,000.",
            "What does RoPE do to the score of a match if the distance was never trained? What does ALiBi do?",
        ),
    ),
)
