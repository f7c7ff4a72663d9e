"""How `hint` helps with the written question on gates. No hint gives an answer."""

HINTS = (
    "Set the bias of the forget gate to 100 in the cell that draws the gradient, and draw it again.",
    "Print `torch.sigmoid(b)` and its derivative for b = 1, 3 and 100. What does a gate need in order to learn?",
    "Follow one number of the cell state on paper while three parentheses open and close and nothing is ever "
    "forgotten. Which sequences of the task would show the trouble first?",
)
