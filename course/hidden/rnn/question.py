"""How `hint` helps with the written question on recurrent networks. No hint gives an answer."""

from course.hidden.written import Question

HINTS = (
    "How long were the sequences that the network was trained on? Read your figure of the gradient at that distance.",
    "List everything that differs between a sequence of 16 tokens and one of 64. Distance is only one of these. "
    "Which can you change one at a time?",
    'Begin the experiment with "I train the same network on …, and plot accuracy against …, separately for …. If '
    'the gradient is the cause, the curve …".',
)

CRITERIA = (
    "Gives a reason from a figure of this notebook, and not from general knowledge.",
    "Names another cause, and says what the hidden state would have to hold.",
    "Describes an experiment with what is trained and what is plotted.",
    "Says which outcome speaks for the gradient, and which for the other cause.",
)

OTHERS = (
    Question(
        prompt=(
            "A friend trains a recurrent network and clips the gradient's norm at 0.001, \"to be on the safe "
            'side". Another one clips at 1000.\n\n'
            "What does clipping change in a step, and what does it leave as it is? Describe what you expect to see "
            "in the loss of each of the two. Against which of the two problems, the gradient that explodes and the "
            "gradient that vanishes, does clipping help, and why not against the other? Write five to ten "
            "sentences."
        ),
        answer=(
            "Clipping scales all gradients by one factor as soon as their common norm exceeds the bound. The "
            "direction stays, and only the length of the step changes. With a bound of 0.001 nearly every step is "
            "cut. The steps all have the same tiny length, so plain gradient descent falls slowly and evenly, and "
            "may look as if it had converged. (Adam divides by the usual size of a gradient, so there the small "
            "bound matters less.) With a bound of 1000 almost nothing is ever cut. The loss falls as without "
            "clipping, until one batch has a huge gradient. That step throws the weights far away, and the loss "
            "jumps up and may not recover. Clipping helps against gradients that explode, because it limits how far "
            "one step can go. It does not help against gradients that vanish. It makes nothing longer, and a common "
            "factor would not bring back what the early time steps have lost against the late ones."
        ),
        criteria=(
            "Says what clipping changes in a step, and what it leaves as it is.",
            "Describes the loss with the small bound, and says why it looks like that.",
            "Describes the loss with the large bound, and says when it differs from a training without clipping.",
            "Says which of the two problems clipping helps against, and why not against the other.",
        ),
        hints=(
            "Take the gradients (3, 4) and (0.3, 0.4), and clip both at 1. What happened to their directions and "
            "lengths?",
            "If the gradient from early steps is a millionth of that from late ones, what is it after both were "
            "scaled by one factor?",
        ),
    ),
    Question(
        prompt=(
            "Your writer was trained with teacher forcing. It predicts the next token well as long as it reads the "
            "true text, and it goes wrong when it reads its own.\n\n"
            "Explain why one wrong token can be followed by many. Then judge two proposals: training for twice as "
            "long, and training with scheduled sampling from the first step on. What would each of them change, and "
            "what could go wrong? Write five to ten sentences."
        ),
        answer=(
            "With teacher forcing the network reads only right texts in training, so its hidden states are those of "
            "right texts. When it writes, a wrong token leads to a state that training never visited. What the "
            "network says there was never trained, so the next token is probably wrong as well, and takes it "
            "further away. This is called exposure bias. Training for twice as long makes wrong tokens rarer, "
            "because the predictions on right texts get better. But it does not show the network a single text with "
            "a mistake in it, so what happens after a mistake stays open. Scheduled sampling lets the network read "
            "its own tokens now and then, so it meets such states and can learn to return. From the first step on "
            "this does harm, because an untrained network's tokens are noise. The true next token has little to do "
            "with what the network has read. It may then learn to ignore its input, and tokens that go by their "
            "position alone. So one begins with true tokens and exchanges more of them later."
        ),
        criteria=(
            "Says which states the network visits in training, and where a wrong token takes it.",
            "Says what training for twice as long changes, and what it leaves open.",
            "Says what scheduled sampling shows the network that teacher forcing does not.",
            "Says what the tokens of an untrained network are like, and what it may learn from reading them.",
        ),
        hints=(
            "Which hidden states does the network visit in training, and which does it visit after its first wrong "
            "token?",
            "What does an untrained network write? Should the network learn to continue that?",
        ),
    ),
)
