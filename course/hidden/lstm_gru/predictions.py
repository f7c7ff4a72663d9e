"""What the notebook on gates has its reader predict."""

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "half_open_gate_after_ten_steps",
        "The state is 1, the inputs are zero, and the candidate is 0. The gate's bias is 0, as in a fresh network. "
        "How much of the 1 is left after ten steps?",
        wrong(
            "about a half",
            "One step leaves a half. The second step halves that again.",
        ),
        wrong(
            "about a tenth",
            "That would be so if each step took away the same amount. Each step multiplies by the gate.",
        ),
        right(
            "about a thousandth",
            "A bias of 0 gives a gate of 0.5, and ten halvings leave 1/1024.",
        ),
    ),
    Prediction(
        "gradient_with_forget_bias_zero",
        "An LSTM has random weights, and its forget gates have a bias of 0. How much of a gradient comes back over "
        "forty steps? In Elman's network it was about a billionth.",
        wrong(
            "nearly all of it, because the cell state only adds",
            "Before it adds, each step multiplies the old cell state by the forget gate. How large is that gate here?",
        ),
        wrong(
            "about a half, because the gates are half open",
            "One step leaves about a half on the direct path. Forty steps multiply forty such numbers.",
        ),
        right(
            "about a ten-millionth",
            "It vanishes too, only less steeply. The gates can keep the gradient, but half open they do not.",
        ),
    ),
)
