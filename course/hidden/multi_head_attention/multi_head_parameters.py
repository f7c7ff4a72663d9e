"""Hidden tests of `multi_head_parameters`."""

from __future__ import annotations

from course.exercise import call, exercise
from course.hidden.multi_head_attention.scaffold import divisible
from course.reference import multi_head_attention as reference


@exercise(
    reference.multi_head_parameters,
    hints=(
        "Count them in a real layer: sum(p.numel() for p in MultiHeadAttention(6, 2).parameters()).",
        "Now the same with three heads, and with one. And which part of the sum is missing without biases?",
    ),
)
def multi_head_parameters(rng):
    """The paper's layer, BERT's, narrow ones; the number of heads changes nothing, and must divide."""
    yield call("the paper's layer, no biases", 512, 8, False, public=True)
    yield call("BERT-Base, with biases", 768, 12, True, public=True)
    yield call("one head, with biases", 512, 1, True)
    yield call("five heads", 35, 5, True)
    yield call("as many heads as columns", 11, 11, False)
    yield call("a width of one", 1, 1, True)
    heads, d = rng.choice([2, 3, 5]), rng.choice([7, 11, 13])
    yield call("some heads of some width", heads * d, heads, rng.choice([True, False]))
    yield call("five heads for a width of twelve", 12, 5, True, raises="ValueError")


@multi_head_parameters.misconception(
    "How wide is one head of eight in a layer of width 512? Do the heads get 512 each?"
)
def full_width_for_every_head(d_model, n_heads, bias):
    divisible(d_model, n_heads)
    return 4 * n_heads * d_model * (d_model + bias)


@multi_head_parameters.misconception("That is the share of one head. How many heads are there?")
def one_head_alone(d_model, n_heads, bias):
    divisible(d_model, n_heads)
    return 4 * (d_model // n_heads) * (d_model + bias)


@multi_head_parameters.misconception(
    "Does a head read its own share of the word, or the whole word? Compare with the shape of W_q.weight."
)
def heads_read_their_share_only(d_model, n_heads, bias):
    divisible(d_model, n_heads)
    d = d_model // n_heads
    return 3 * n_heads * d * (d + bias) + d_model * (d_model + bias)


@multi_head_parameters.misconception(
    "How many columns has W_q.weight? A head of your count reads no more of a word than its own share."
)
def heads_read_and_write_their_share_only(d_model, n_heads, bias):
    divisible(d_model, n_heads)
    d = d_model // n_heads
    return 4 * n_heads * d * (d + bias)


@multi_head_parameters.misconception("List the names of your layer's parameters. How many matrices are there?")
def W_o_not_counted(d_model, n_heads, bias):
    divisible(d_model, n_heads)
    return 3 * d_model * (d_model + bias)


@multi_head_parameters.misconception("List the names of your layer's parameters, with bias=True and with bias=False.")
def biases_never_counted(d_model, n_heads, bias):
    divisible(d_model, n_heads)
    return 4 * d_model * d_model


@multi_head_parameters.misconception("List the names of your layer's parameters, with bias=True and with bias=False.")
def biases_always_counted(d_model, n_heads, bias):
    divisible(d_model, n_heads)
    return 4 * d_model * (d_model + 1)


@multi_head_parameters.misconception("Print the shape of a linear layer's bias. Is it one number?")
def one_number_for_a_bias(d_model, n_heads, bias):
    divisible(d_model, n_heads)
    return 4 * (d_model * d_model + bool(bias))


@multi_head_parameters.misconception("How many of your four linear layers have a bias of their own?")
def one_bias_for_all_four(d_model, n_heads, bias):
    divisible(d_model, n_heads)
    return 4 * d_model * d_model + d_model * bias


@multi_head_parameters.misconception("Which of your four linear layers has no bias? And how long is a bias?")
def bias_of_W_o_forgotten(d_model, n_heads, bias):
    divisible(d_model, n_heads)
    return 4 * d_model * d_model + 3 * d_model * bias


@multi_head_parameters.misconception("Is there a layer of width 12 with 5 heads? What would yours say?")
def any_number_of_heads(d_model, n_heads, bias):
    return 4 * d_model * (d_model + bias)
