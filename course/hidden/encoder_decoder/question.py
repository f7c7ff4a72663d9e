"""How `hint` helps with the written question on the Transformer. No hint gives an answer."""

from course.hidden.written import Question

HINTS = (
    "Write the words of a French sentence under `tgt_in` and under the targets. Which columns can you compute "
    "before any other is finished? Ask the same of `decode_greedy`.",
    "Train for a few hundred batches without the causal mask, as a `variant`. Write down the loss and one translation.",
    "List every tensor that `decode_greedy` computes for the fifth word. Mark those that were the same for the fourth.",
)

CRITERIA = (
    "Says what is known in training and not while the model writes, and which mask makes use of it.",
    "Describes the loss and the translations without the mask, and explains both.",
    "Names the numbers that were computed before the new word came.",
    "Says why these numbers are still the same.",
)

OTHERS = (
    Question(
        prompt=(
            "A colleague removes the residual connections from an encoder of 24 layers and keeps everything else. "
            "Another one keeps them and removes the norms.\n\n"
            "Say for each of the two what happens to the vectors on their way up, what happens to the gradients on "
            "their way down, and what you would see in training. Then explain in your own words what the residual "
            "stream is. Write five to eight sentences."
        ),
        answer=(
            "Without residual connections each layer replaces what came in. Attention averages, so vectors of "
            "different positions become more alike with every layer, and after 24 untrained layers little is left "
            "of the words. A gradient has to pass through 24 sublayers one after the other, and shrinks or is "
            "scrambled at each of them. In training the loss would hardly move, because the lowest layers learn "
            "nothing and the upper ones read noise. With residual connections and without norms every sublayer adds "
            "something to the stream, and reads a stream that has grown already, so what it adds grows as well. In "
            "the notebook's figure the vectors explode. The gradients grow the same way, and training diverges "
            "unless the steps are tiny. The residual stream is the vector of a position that runs from the "
            "embedding to the top. Each sublayer reads it, computes something, and adds its result, so nothing is "
            "lost that a later layer might need, and the gradient finds a way back along the sum."
        ),
        criteria=(
            "Says what becomes of vectors and gradients without residual connections.",
            "Says what becomes of vectors and gradients without norms.",
            "Says for each of the two what one would see in training.",
            "Explains the residual stream by what a sublayer does with it.",
        ),
        hints=(
            "Which of the notebook's three curves belongs to the second colleague?",
            "Write the output of one layer with and without the residual connection, and take its derivative by the "
            "input.",
        ),
    ),
    Question(
        prompt=(
            "You translate with beams of 1, 4 and 100. The wider the beam, the more probable are the sentences that "
            "it finds. Yet with a beam of 100 the translations are often too short, sometimes empty.\n\n"
            "How can a more probable sentence be a worse one? Why does a plain sum of log-probabilities favour "
            "short sentences, and what does the length penalty do about it? What does label smoothing in training "
            "change here? Write five to eight sentences."
        ),
        answer=(
            "The model's probability is only an estimate of how good a translation is. A wide beam finds what the "
            "model thinks best, also where the model is wrong. Each word adds a negative number to the sum of "
            "log-probabilities, so a sentence of twenty words starts with a handicap against one of two. The end of "
            "the sentence may have a small probability at the beginning, say one in a thousand. But twenty words of "
            "probability one half each have less than one in a million. So an empty sentence can be the most "
            "probable one of all. A narrow beam never finds it, because it drops the early end in favour of better "
            "beginnings. The length penalty divides the sum by a power of the length, so sentences of different "
            "lengths are compared by something like the mean of a word. Label smoothing takes some probability from "
            "the right words and gives it to all others, so also to the end of the sentence. It caps how sure each "
            "word can be. A long sentence pays for that at every word, and the pull towards short ones becomes "
            "stronger."
        ),
        criteria=(
            "Separates what the model finds probable from what is a good translation.",
            "Shows with numbers why a sum of log-probabilities favours short sentences.",
            "Says what the length penalty compares instead.",
            "Says where label smoothing moves probability, and what that does to long sentences.",
        ),
        hints=(
            "Compare a sentence of twenty words, each with probability one half, with an end that has one in a "
            "thousand.",
            "The beam searches for the most probable sentence. Whose probability is that?",
        ),
    ),
)
