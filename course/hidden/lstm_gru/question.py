"""How `hint` helps with the written question on gates. No hint gives an answer."""

from course.hidden.written import Question

HINTS = (
    "Set the bias of the forget gate to 100 in the cell that draws the gradient, and draw it again.",
    "Print `torch.sigmoid(b)` and its derivative for b = 1, 3 and 100. What does a gate need in order to learn?",
    "Follow one number of the cell state on paper while three parentheses open and close and nothing is ever "
    "forgotten. Which sequences of the task would show the trouble first?",
)

CRITERIA = (
    "Says what the line of the gradient looks like, and which values of the forget gate make it so.",
    "Names what the network can no longer do, and says why training does not bring it back.",
    "Names a measurement on the parentheses that would show it.",
    "Compares the gate and its slope at a bias of 1 or 3 with those at 100.",
)

OTHERS = (
    Question(
        prompt=(
            "A GRU decides with one gate how much of the old state it keeps and how much of the new one it writes. "
            "An LSTM has two gates for these two decisions.\n\n"
            "Describe a task in which one decision is enough, and a task in which the two should be taken apart. "
            "How would you find out, with trained networks, whether the LSTM uses this freedom on your data? Say "
            "what you would plot. Write five to ten sentences."
        ),
        answer=(
            "One decision is enough if a new fact replaces an old one. A network that follows who is speaking in a "
            "dialogue forgets the last speaker exactly when it reads the next one. To keep and to write are then "
            "opposites, and one number can say both. The two come apart if something is to be added while the old "
            "content stays. A counter of open parentheses keeps what it has, with $f$ near one, and adds one, with "
            "$i$ near one as well. The GRU's gate cannot say both, and has to find another code, for example one "
            "with several units. It also happens that the state should be emptied and nothing be written, as at the "
            "end of a sentence. To find out, I would run a trained LSTM on held-out texts and plot, unit by unit, "
            "the input gate against the forget gate. If the points lie near the line $i = 1 - f$, one gate would "
            "do. Points in the corners where both are large or both are small are uses of the freedom. Then I would "
            "train a version with $i = 1 - f$ and compare the losses, because a freedom that is used need not be "
            "needed."
        ),
        criteria=(
            "Describes a task for one decision, and says how keeping and writing go together there.",
            "Describes a task for two decisions, and says which values the two gates would take.",
            "Says which quantities of a trained LSTM to plot, and what each outcome means.",
        ),
        hints=(
            "Write down the new cell state for $f = 1$, $i = 1$ and for $f = 0$, $i = 0$. When would you want each "
            "of them?",
            "The figure that you look for has one gate on each axis. Where does a GRU's pair of numbers lie in it?",
        ),
    ),
    Question(
        prompt=(
            "Somebody trains a bidirectional LSTM to predict the next word. At position $t$ it reads the states of "
            "both directions and predicts word $t + 1$. The perplexity on a held-out text is 1.02.\n\n"
            "What happened? How could you prove it without looking at the code? For which tasks is a bidirectional "
            "network right, and what do they have in common? Write five to ten sentences."
        ),
        answer=(
            "The backward direction begins at the end of the text. Its state at position $t$ has read word $t + 1$ "
            "already, so the network copies the word that it should predict. That the text was held out does not "
            "help, because the answer stands in the input. To prove it, I would change word $t + 1$ alone and look "
            "at the prediction at position $t$. In an honest model it cannot move, and here it follows the change. "
            "I could also let the model continue a text. There is no word $t + 1$ to read then, so what it writes "
            "will be poor, in spite of a perplexity of nearly one. A bidirectional network is right where the whole "
            "input is there before the first answer is due. It can find names in a sentence, decide what a sentence "
            "feels, or encode a sentence that is to be translated. What these tasks have in common is that the "
            "answer is not part of the input."
        ),
        criteria=(
            "Says which words the state of the backward direction has read at position `t`.",
            "Says why a held-out text does not prevent this.",
            "Gives a proof that does not need the code, and says what an honest model would do in it.",
            "Names tasks for a bidirectional network, and what they have in common.",
        ),
        hints=(
            "Which words has the backward state at position $t$ read?",
            "Change one word and compare the predictions before and after. At which positions may an honest model "
            "change its mind?",
        ),
    ),
)
