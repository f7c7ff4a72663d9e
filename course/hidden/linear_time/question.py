"""How `hint` helps with the written question on linear time, and two more questions. No hint gives an answer."""

from __future__ import annotations

from course.hidden.written import Question

HINTS = (
    "Count the numbers that each of the two keeps of a text of 100,000 tokens. What can be read out of them exactly?",
    "Topic 06's task asks for one pair of many. At which moment does the model learn which pair is asked for?",
    "Think of a text from which one thing is wanted, and of one from which anything may be wanted.",
)

CRITERIA = (
    "Says what she gains, by what it costs to read a word and to keep the text.",
    "Says what becomes of a clause after it was read, and why.",
    "Names questions for which the model will do, and others for which it will not.",
    "Says what to build, with a reason.",
)

OTHERS = (
    Question(
        prompt=(
            "Your selective scan and topic 04's GRU both solve the task. (a) What makes the GRU's step impossible "
            "to compute by `prefix_scan`? (b) What does a gate of the GRU see that Δ does not see, and what would "
            "it take to give that to Δ? Five to eight sentences."
        ),
        answer=(
            "(a) The GRU puts its old state through a matrix and a tanh. Two such steps are no step of the same "
            "kind, so they cannot be joined before the state is known, and the states must be computed one after "
            "the other. The scan's state is only multiplied by a number and added to. (b) The GRU's gates see the "
            "old state, Δ sees the token alone. So a GRU can decide to ignore a letter because it has seen it "
            "before, and the scan cannot, within one layer. In a stack, the second layer's token already holds what "
            "the first layer read, so its Δ may depend on the past after all. That is why such layers are stacked."
        ),
        criteria=(
            "Says what a step of the GRU does to the old state, and what a step of the scan does to it.",
            "Says why two steps of the GRU do not join into one.",
            "Names what a gate of the GRU sees and Δ does not.",
            "Says how Δ could get it.",
        ),
        hints=(
            "Write two steps of each, one put into the other. Can the result be written as one step of the same kind?",
            "Two texts differ in their first token. At which later tokens may a gate of the GRU differ, and at "
            "which may Δ?",
        ),
    ),
    Question(
        prompt=(
            "A model has 8 experts, of which 2 work on each token, and 47 billion parameters, of which 13 billion "
            "are used for a token. (a) What does this save compared with a dense model of 47 billion, and what does "
            "it not save? (b) What happens during training without the balance loss, and why does it not mend "
            "itself? Five to eight sentences."
        ),
        answer=(
            "(a) It saves multiplications. A token costs what a dense model of 13 billion would. It saves no "
            "memory, since the next token may need any of the experts, and all of them must be loaded. (b) An "
            "expert that happens to be chosen more often at the beginning is trained more often and becomes better, "
            "so the router prefers it even more. Experts that are not chosen get no gradient and stay bad. The loss "
            "of the task alone has no reason to change this, since for each single token the better expert is the "
            "right choice. The balance loss raises the price of the crowd until others get their share."
        ),
        criteria=(
            "Says what is saved for each token, and what is not saved, with the numbers.",
            "Follows an expert that is chosen more often at the beginning through the training.",
            "Says why the loss of the task does not mend it.",
        ),
        hints=(
            "Count multiplications for one token, and count the numbers that have to lie in memory.",
            "Which experts get a gradient from a token? What happens to the others?",
        ),
    ),
)
