"""How `hint` helps with the written question on fine-tuning. No hint gives an answer."""

from course.hidden.written import Question

HINTS = (
    "Make a table with the three proposals as its rows. Its columns are the numbers to keep for each machine, the"
    " accuracy, and what becomes of the old scanner. Fill it in from this notebook.",
    "Write down two questions to the hospital whose answers would change your advice, with the advice that "
    "follows from each answer.",
    "Measure how long the reader takes for a batch before and after `merge`. Which of the hospital's computers "
    "would gain from that, and what would it lose?",
)

CRITERIA = (
    "Gives advice with a reason from what the machines share and how they differ.",
    "Supports it with two numbers from this notebook.",
    "Names what one needs to know before deciding.",
    "Says when merging pays, and when it does not.",
)

OTHERS = (
    Question(
        prompt=(
            "In LoRA, $A$ begins with random numbers and $B$ with zeros.\n\n"
            "What does the adapted layer compute before the first step, and why is that wanted? What happens if "
            "both begin with zeros, and what if both begin with random numbers? Which of the two matrices gets a "
            "gradient in the very first step? Write four to six sentences, and support one of them with a gradient "
            "that you write down."
        ),
        answer=(
            "The update is $B A$. With $B = 0$ it is zero, so before the first step the adapted model answers "
            "exactly like the pretrained one, and training begins from what the model can do. The gradient of $B$ "
            "is the output's gradient times $A x$, which is not zero since $A$ is random. The gradient of $A$ is "
            "$B^\\top$ times the output's gradient times $x$, and it is zero in the first step because $B$ is. So "
            "$B$ moves first, and from the second step on both move. If both begin with zeros, both gradients are "
            "zero, and nothing ever moves. If both begin with random numbers, the model begins with a random "
            "disturbance in every layer, and has to unlearn it before it gets better."
        ),
        criteria=(
            "Says what the adapted layer computes before the first step, and why that is wanted.",
            "Writes down a gradient, and says from it which matrix moves first.",
            "Says what happens if both begin with zeros.",
            "Says what happens if both begin with random numbers.",
        ),
        hints=(
            "Write $y = W x + B A x$, and differentiate by the entries of $B$ and of $A$.",
            "Set one of the two to zero in each derivative. Which of them is left?",
        ),
    ),
    Question(
        prompt=(
            "A company fine-tuned a copy of a model completely for its own letters, and now complains that the copy "
            'answers general questions worse than before. It trains a LoRA adapter instead, and says, "With LoRA '
            'nothing can be forgotten."\n\n'
            "What is true about this, and what is not? Consider the model with the adapter, without it, and with "
            "the adapter merged. What can be undone in each of the three, and to the last bit? Write four to six "
            "sentences."
        ),
        answer=(
            "It is true that the base weights stay as they are. Without the adapter the old model is there to the "
            "last bit, whatever the adapter has learned. With the adapter, every input goes through the changed "
            "layers, also the general questions, so the adapted model can forget just like the copy. It may forget "
            "less, since an update of low rank can change less. The company can take the adapter off for general "
            "questions, and put it on for letters. A merged model is one set of weights, and as slow or fast as the "
            "base. Taking the update off again gives back the old weights up to rounding only, so a copy of the "
            "base has to be kept if the last bit matters."
        ),
        criteria=(
            "Says what is true about the base weights.",
            "Says whether the model with its adapter can forget, and why.",
            "Says for each of the three models what can be undone, and how exactly.",
        ),
        hints=(
            "Three models stand before you: base, base with adapter, merged. Which of them does a general question "
            "reach?",
            "Add 0.1 to a number and subtract it again, in single precision. Do you always get the same number?",
        ),
    ),
)
