"""Hidden tests of `lstm_parameters`: how many numbers a stack of LSTM layers learns."""

from functools import partial

from course.exercise import call, exercise
from course.reference import lstm_gru as reference


@exercise(
    reference.lstm_parameters,
    hints=(
        "Write down the shapes of W, U and b of one cell, for two inputs and three units. Do you count the text's 72?",
        "What does the second layer read? And what, when the first one runs in both directions?",
        "Begin with the count of one cell that reads a given width. Then take the layers one by one, and print the "
        "width that each of them reads and the cells that it has.",
    ),
    calls=(
        "lstm_parameters(1, 1)",
        "lstm_parameters(2, 1)",
        "lstm_parameters(1, 2)",
        "lstm_parameters(1, 1, layers=2)",
        "lstm_parameters(1, 1, bidirectional=True)",
        "lstm_parameters(1, 1, layers=2, bidirectional=True)",
    ),
)
def lstm_parameters(rng):
    """One layer, several, both directions, both together."""
    yield call("one layer", 3, 5, public=True)
    yield call("two layers", 3, 5, layers=2, public=True)
    yield call("one layer, both directions", 7, 5, bidirectional=True)
    yield call("two layers, both directions", 7, 5, layers=2, bidirectional=True)
    yield call("many layers, both directions", 11, 13, 5, True)
    yield call("many layers", 2, 17, 7)
    yield call("inputs as wide as the state", 64, 64, 3)
    yield call("one unit", 1, 1)
    D, H = rng.integers(20, 300, 2).tolist()
    yield call("some sizes", D, H, 3, True)


@lstm_parameters.misconception("A second direction has weights of its own. Where are they in your sum?")
def one_direction_only(input_size, hidden_size, layers=1, bidirectional=False):
    return reference.lstm_parameters(input_size, hidden_size, layers)


def _count(input_size, hidden_size, layers=1, bidirectional=False, *, gates=4, biases=4, upper=None):
    """The right sum with one number exchanged, such as the biases of a unit. `upper` is what upper layers read."""
    directions = 2 if bidirectional else 1
    wide = upper(input_size, hidden_size) if upper else directions * hidden_size
    widths = [input_size] + [wide] * (layers - 1)
    return sum(directions * hidden_size * (gates * (width + hidden_size) + biases) for width in widths)


lstm_parameters.misconception(
    "That is PyTorch's count, with two biases for each gate. Ours has one.",
    name="two_biases",
    convention="two biases a gate, as in PyTorch",
)(partial(_count, biases=8))
lstm_parameters.mistakes(
    "Count the parts of W once more. How many pieces did you cut it into in lstm_cell?",
    one_gate=partial(_count, gates=1, biases=1),
)
lstm_parameters.mistakes(
    "For one unit and one input, name every number that is learned. Is something missing?",
    no_bias=partial(_count, biases=0),
)
lstm_parameters.mistakes(
    "How many numbers are in b, and how many gates do they belong to?",
    one_number_for_each_gate=lambda D, H, layers=1, bidirectional=False: (
        _count(D, H, layers, bidirectional, biases=0) + 4 * layers * (1 + bidirectional)
    ),
)
lstm_parameters.mistakes(
    "What does the second layer read, the tokens or the hidden states of the first layer?",
    upper_layers_read_the_input=partial(_count, upper=lambda D, H: D),
)
lstm_parameters.mistakes(
    "How wide is the result of run_bidirectional, which the second layer has to read?",
    upper_layers_read_one_direction=partial(_count, upper=lambda D, H: H),
)


@lstm_parameters.misconception("Are two cells of width H as much as one of width 2H? Count the numbers in U for both.")
def one_cell_of_twice_the_width(input_size, hidden_size, layers=1, bidirectional=False):
    return reference.lstm_parameters(input_size, hidden_size * (2 if bidirectional else 1), layers)
