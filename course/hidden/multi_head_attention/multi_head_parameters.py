"""Hidden tests of `multi_head_parameters`."""

from course.exercise import call, exercise
from course.hidden.multi_head_attention.scaffold import divisible
from course.reference import multi_head_attention as reference


@exercise(
    reference.multi_head_parameters,
    hints=(
        "Which tensors does the layer learn? Write down the shape of each for a width of 6.",
        "Count them in a real layer with sum(p.numel() for p in MultiHeadAttention(6, 2).parameters()). Count again "
        "with three heads, with one, and without biases. What changes?",
        "Begin with the layer that cannot be built. Then count what the matrices hold in a layer of width D without "
        "biases, and add what a bias brings.",
    ),
    calls=(
        "multi_head_parameters(2, 1, False)",
        "multi_head_parameters(2, 1, True)",
        "multi_head_parameters(2, 2, True)",
        "multi_head_parameters(4, 2, False)",
        "multi_head_parameters(1, 1, True)",
        "multi_head_parameters(3, 2, True)",
    ),
)
def multi_head_parameters(rng):
    """The paper's layer, BERT's, narrow ones. The number of heads changes nothing, and it must divide the width."""
    yield call("the paper's layer, no biases", 512, 8, False, public=True)
    yield call("BERT-Base, with biases", 768, 12, True, public=True)
    yield call("one head, with biases", 512, 1, True)
    yield call("five heads", 35, 5, True)
    yield call("as many heads as columns", 11, 11, False)
    yield call("a width of one", 1, 1, True)
    heads, d = rng.choice([2, 3, 5]), rng.choice([7, 11, 13])
    yield call("some heads of some width", heads * d, heads, rng.choice([True, False]))
    yield call("five heads for a width of twelve", 12, 5, True, public=True, raises="ValueError")


def _counted(count):
    """An answer that counts so, where the heads divide the width D."""

    def answer(d_model, n_heads, bias):
        divisible(d_model, n_heads)
        return count(d_model, n_heads, bias)

    return answer


multi_head_parameters.mistakes(
    "How wide is one head of eight in a layer of width 512? Do the heads get 512 each?",
    full_width_for_every_head=_counted(lambda D, h, bias: 4 * h * D * (D + bias)),
)
multi_head_parameters.mistakes(
    "This is the share of one head. How many heads are there?",
    one_head_alone=_counted(lambda D, h, bias: 4 * (D // h) * (D + bias)),
)
multi_head_parameters.mistakes(
    "How many columns does W_q.weight have? Compare with how much of a word one head reads in your count.",
    heads_read_and_write_their_share_only=_counted(lambda D, h, bias: 4 * D * (D // h + bias)),
)
multi_head_parameters.mistakes(
    "List the names of your layer's parameters. How many matrices are there, and how many do you count?",
    W_o_not_counted=_counted(lambda D, h, bias: 3 * D * (D + bias)),
)


@multi_head_parameters.misconception("List the names of your layer's parameters, with bias=True and with bias=False.")
def biases_never_counted(d_model, n_heads, bias):
    divisible(d_model, n_heads)
    return 4 * d_model * d_model
