"""Hidden tests of `lstm_parameters`."""

from __future__ import annotations

from course.exercise import call, exercise
from course.reference import lstm_gru as reference


@exercise(
    reference.lstm_parameters,
    hints=(
        "Write down the shapes of W, U and b of one cell, and multiply.",
        "What does the second layer read? And what, when the first one runs in both directions?",
        "Compare with sum(p.numel() for p in nn.LSTM(...).parameters()), and find the second bias.",
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


def _count(input_size, hidden_size, layers, bidirectional, gates=4, biases=1, upper=None, wide=True):
    directions = 2 if bidirectional else 1
    above = (directions if wide else 1) * hidden_size if upper is None else upper
    widths = [input_size] + [above] * (layers - 1)
    return sum(directions * gates * hidden_size * (width + hidden_size + biases) for width in widths)


@lstm_parameters.misconception(
    "That is PyTorch's count: it keeps two biases a gate. Ours has one.", convention="two biases a gate, as in PyTorch"
)
def two_biases(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size, hidden_size, layers, bidirectional, biases=2)


@lstm_parameters.misconception("Count the parts of W once more. How many pieces did you cut it into in lstm_cell?")
def as_many_as_a_gru(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size, hidden_size, layers, bidirectional, gates=3)


@lstm_parameters.misconception("For one unit and one input, name every number that is learned. Is something missing?")
def no_bias(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size, hidden_size, layers, bidirectional, biases=0)


@lstm_parameters.misconception("What does the second layer read: the tokens, or the states of the first layer?")
def upper_layers_read_the_input(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size, hidden_size, layers, bidirectional, upper=input_size)


@lstm_parameters.misconception("How wide is the result of run_bidirectional, which the second layer has to read?")
def upper_layers_read_one_direction(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size, hidden_size, layers, bidirectional, wide=False)


@lstm_parameters.misconception("How wide is the result of a layer that reads in one direction only?")
def upper_layers_always_read_both(input_size, hidden_size, layers=1, bidirectional=False):
    first = _count(input_size, hidden_size, 1, bidirectional)
    return first + (layers - 1) * _count(2 * hidden_size, hidden_size, 1, bidirectional)


@lstm_parameters.misconception("Which of the layers read in both directions: the first alone?")
def upper_layers_in_one_direction(input_size, hidden_size, layers=1, bidirectional=False):
    below = _count(input_size, hidden_size, 1, bidirectional)
    wide = 2 * hidden_size if bidirectional else hidden_size
    above = _count(wide, hidden_size, 1, False) + (layers - 2) * _count(hidden_size, hidden_size, 1, False)
    return below + above if layers > 1 else below


@lstm_parameters.misconception("How many numbers are in b, and how many gates do they belong to?")
def one_bias_for_all_gates(input_size, hidden_size, layers=1, bidirectional=False):
    surplus = 3 * hidden_size * layers * (2 if bidirectional else 1)
    return reference.lstm_parameters(input_size, hidden_size, layers, bidirectional) - surplus


@lstm_parameters.misconception("A second direction has weights of its own. Where are they in your sum?")
def one_direction_only(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size, hidden_size, layers, False)


@lstm_parameters.misconception("Are two cells of width H as much as one of width 2H? Count the numbers in U for both.")
def one_cell_of_twice_the_width(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size, hidden_size * (2 if bidirectional else 1), layers, False)


@lstm_parameters.misconception("Your sum does not grow with the layers. Has each layer weights of its own?")
def one_layer_only(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size, hidden_size, 1, bidirectional)


@lstm_parameters.misconception("A gate reads the state, too. Which of its weights is missing in your sum?")
def without_the_recurrence(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size - hidden_size, hidden_size, 1, bidirectional) + (layers - 1) * _count(
        0, hidden_size, 1, bidirectional
    ) * (2 if bidirectional else 1)


@lstm_parameters.misconception("That is one gate. How many does a cell have?")
def one_gate_only(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size, hidden_size, layers, bidirectional, gates=1)
