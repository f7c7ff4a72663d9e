"""What the notebook on linear time has its reader predict."""

from __future__ import annotations

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "steps_that_never_change",
        "We trained the model once more with a step Δ that is learned, but is the same for every token. Like yours, it "
        "was trained on texts of 8 to 64 positions. How many letters does it name correctly in texts of 256 positions? "
        "Guessing gives 13 %.",
        wrong(
            "about 13 %",
            "It does find something. What it writes and what it reads still depend on the token, and letters near the "
            "end leave more in the state than noise does.",
        ),
        right(
            "about 40 %",
            "Its state fades by the same factor at every position, so how much is left of a letter says how many "
            "positions ago it came, and not whether it was the first or the second.",
        ),
        wrong(
            "about 98 %, like the other",
            "Then nothing would hang on Δ. But a state that fades at every position counts positions, and the order of "
            "the letters is another thing.",
        ),
    ),
    Prediction(
        "gradient_of_a_single_expert",
        "With k = 1, `route` gives the chosen expert the weight 1. What is the gradient of the layer's output with "
        "respect to the router's logits?",
        wrong(
            "the expert's output, times p (1 − p)",
            "That is the gradient of p, the probability among all experts. It is what Switch multiplies by. Here the "
            "weight is a softmax over a single number, which is always 1.",
        ),
        right(
            "zero",
            "The softmax of one number is 1, whatever the number is. So nothing tells the router whether it chose "
            "well. Switch uses one expert and multiplies by its probability among all of them, for this reason.",
        ),
        wrong(
            "it does not exist, since a choice has no gradient",
            "The choice has none, that is true, but the weight is a smooth function of the chosen logits. It is just "
            "constant for k = 1.",
        ),
    ),
)
