"""Hidden tests of `decoder_parameters`: published models, and small ones of any kind."""

from __future__ import annotations

from functools import partial

from course.exercise import call, exercise
from course.reference import gpt as reference


@exercise(
    reference.decoder_parameters,
    hints=(
        "A matrix has in · out numbers, and its bias has out. List W_q, W_k, W_v and W_o. How wide is each result?",
        "How many norms are there in a model of two layers? How many numbers has each with a shift, and without one?",
        "Count the small model of the text by hand, matrix by matrix. Which line differs from your formula's?",
        "Begin with one layer without biases. Give attention and the feed-forward part a variable each, and compare "
        "them with your list, before you add biases, norms and tables.",
    ),
    calls=(
        "decoder_parameters(10, 2, 0, 1, 1, 2, 3, False, False, True)",
        "decoder_parameters(10, 2, 0, 1, 1, 2, 3, False, False, False)",
        "decoder_parameters(10, 2, 0, 1, 1, 2, 3, False, False, True, positions=5)",
        "decoder_parameters(0, 2, 1, 1, 1, 2, 3, False, False, True)",
        "decoder_parameters(0, 2, 1, 1, 1, 2, 3, True, False, True)",
        "decoder_parameters(0, 2, 0, 1, 1, 2, 3, False, True, True)",
    ),
)
def decoder_parameters(rng):
    """The lecture's rows, and sizes that differ from each other, with every switch on and off."""
    yield call("by hand", 10, 4, 2, 2, 1, 2, 6, True, False, True, public=True)
    yield call("GPT-1", 40478, 768, 12, 12, 12, 64, 3072, False, True, True, 512, public=True)
    yield call("LLaMA 65B", 32000, 8192, 80, 64, 64, 128, 22016, True, False, False, public=True)
    yield call("GPT-3", 50257, 12288, 96, 96, 96, 128, 49152, False, True, True, 2048)
    yield call("PaLM", 256000, 18432, 118, 48, 1, 256, 73728, True, False, True)
    yield call("Mistral 7B", 32000, 4096, 32, 32, 8, 128, 14336, True, False, False)
    for gated, bias, tied in ((True, True, False), (False, True, False), (False, False, True), (True, True, True)):
        V, D, d_head, F = rng.choice([101, 103]), rng.choice([13, 17]), rng.choice([2, 3]), rng.choice([29, 31])
        kind = f"{'a gate' if gated else 'no gate'}, {'biases' if bias else 'no biases'}, {'' if tied else 'not '}tied"
        yield call(kind, V, D, rng.choice([2, 5]), 6, 3, d_head, F, gated, bias, tied, rng.choice([0, 7]) + 19)


def _but(V, D, layers, heads, groups, d_head, F, gated, bias, tied, positions=0, *, change):
    """The right count after some of the arguments were changed."""
    asked = {"V": V, "D": D, "layers": layers, "heads": heads, "groups": groups, "d_head": d_head, "F": F}
    asked |= {"gated": gated, "bias": bias, "tied": tied, "positions": positions}
    return reference.decoder_parameters(**asked | change(asked))


def _less(*asked, change):
    """The right count, less some numbers."""
    names = ("V", "D", "layers", "heads", "groups", "d_head", "F", "gated", "bias", "tied", "positions")
    named = dict(zip(names, (*asked, 0)))
    return reference.decoder_parameters(*asked) - change(named)


decoder_parameters.mistakes(
    "With tied=True, how many tables of V rows are there?",
    embedding_counted_twice=partial(_but, change=lambda a: {"tied": False}),
)


@decoder_parameters.misconception("How many matrices has a feed-forward network with a gate?")
def gate_forgotten(V, D, layers, heads, groups, d_head, F, gated, bias, tied, positions=0):
    return reference.decoder_parameters(V, D, layers, heads, groups, d_head, F, False, bias, tied, positions)


decoder_parameters.mistakes(
    "How wide are the keys of all groups together? Try Mistral, with 8 groups for its 32 heads.",
    keys_for_every_head=partial(_but, change=lambda a: {"groups": a["heads"]}),
)
decoder_parameters.mistakes(
    "PaLM has 48 heads of 256 in a width of 18,432. How wide are its queries?",
    heads_share_the_width=partial(_but, change=lambda a: {"d_head": a["D"] // a["heads"]}),
)
decoder_parameters.mistakes(
    "Each layer has two norms. What stands between the last layer and the output?",
    last_norm_forgotten=partial(_less, change=lambda a: a["D"] * (1 + a["bias"])),
)
decoder_parameters.mistakes(
    "With bias=True the norms have a shift, too. How many numbers does each have then?",
    norms_without_a_shift=partial(_less, change=lambda a: a["bias"] * a["D"] * (2 * a["layers"] + 1)),
)
decoder_parameters.mistakes(
    "Learned positions are a table, too. How many numbers does it hold?",
    positions_forgotten=partial(_but, change=lambda a: {"positions": 0}),
)
