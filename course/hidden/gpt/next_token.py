"""Hidden tests of `next_token`: which tokens may be drawn, and how often each comes."""

from __future__ import annotations

import torch

from course.exercise import build, call, draws, exercise
from course.reference import gpt as reference

OWN = "the model's own probabilities"
ROWS = 3000
"""Texts of a batch: so many draws tell shares apart that differ by a few hundredths."""
IMPOSSIBLE = -60.0
"""A logit of a token that is never drawn, and that no arithmetic trips over."""


@exercise(
    reference.next_token,
    hints=(
        "Take the probabilities 0.5, 0.3, 0.15 and 0.05. Which tokens stay for top_k = 2? And for top_p = 0.6?",
        "For top_p, sort the probabilities and add them up. Does the token that crosses top_p stay?",
        "Draw ten thousand tokens at a temperature of 0.5 and count them. At 0.5, is the likeliest one likelier? Do "
        "two equal rows of one batch always get the same token?",
        "Begin with a temperature of 0, and then with plain draws from the softmax. Add one cut at a time. A token "
        "whose logit is minus infinity is never drawn.",
    ),
    calls=(
        "next_token(tensor([[1., 5., 3.]]), temperature=0)",
        "next_token(tensor([[1., 5., 3.]]), top_k=1, generator=gen(0))",
        "next_token(tensor([[99., 0., 0.], [0., 0., 99.]]), generator=gen(0))",
        "next_token(tensor([[1., 5., 3.]]), top_p=0.1, generator=gen(0))",
        "next_token(tensor([[99., 0.]]), top_k=9, generator=gen(0))",
        "next_token(tensor([[5., 5., -99.]]), temperature=0)",
    ),
)
def next_token(rng):
    """Tallied are many equal rows, and rows of two kinds in turns, of which each is cut by itself. No tie is cut."""
    p = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64)

    def tallied(title, expected, temperature=1.0, top_k=None, top_p=None, **settings):
        order = rng.permutation(len(p))
        row = p.log()[order] + rng.normal(1)
        expected = torch.tensor(expected, dtype=torch.float64)[order]
        return counted(title, row[None], expected, temperature, top_k, top_p, **settings)

    def in_turns(title, one, other, expected, top_k=None, top_p=None, **settings):
        """Rows of two kinds with tokens of their own, every second one, and larger logits in the second kind."""
        rows = torch.full((2, 8), IMPOSSIBLE)
        rows[0, ::2], rows[1, 1::2] = torch.tensor(one).log(), torch.tensor(other).log() + 5
        expected = torch.tensor(expected, dtype=torch.float64).T.flatten()
        return counted(title, rows, expected, 1.0, top_k, top_p, **settings)

    def counted(title, rows, expected, temperature, top_k, top_p, **settings):
        """These rows again and again, a draw from each: `expected` is how often each token comes in all of them."""
        logits = rows.repeat(ROWS // len(rows), 1)
        case = draws(title, 1, logits, temperature, top_k, top_p, rng.generator(), **settings)
        case = case.law("shape_is", shape=(1, ROWS), because="one token a row: ids of shape (B,)")
        if max(expected) == sum(expected):  # one token is left, which a constant may be
            case = case.counts_with(OWN)
        return case.law("frequencies", probabilities=expected / expected.sum(), draws=ROWS)

    yield tallied(OWN, [0.5, 0.3, 0.15, 0.05], public=True, weight=2.0)
    yield tallied("a temperature of one half", [0.25, 0.09, 0.0225, 0.0025], temperature=0.5, public=True, weight=2.0)
    yield tallied("a temperature of two", [0.7071, 0.5477, 0.3873, 0.2236], temperature=2.0)
    yield tallied("the two likeliest", [0.5, 0.3, 0, 0], top_k=2, public=True, weight=2.0)
    yield tallied("the likeliest alone", [1, 0, 0, 0], top_k=1)
    yield tallied("more than there are", [0.5, 0.3, 0.15, 0.05], top_k=9, public=True)
    yield tallied("the fewest that reach 0.6", [0.5, 0.3, 0, 0], top_p=0.6, public=True, weight=2.0)
    yield tallied("the fewest that reach 0.9", [0.5, 0.3, 0.15, 0], top_p=0.9)
    yield tallied("one token reaches it", [1, 0, 0, 0], top_p=0.3, public=True)
    exactly = torch.tensor([[0.25, 0.5, 0.25]], dtype=torch.float64).log()  # their softmax is exact
    met = torch.tensor([0.0, 1.0, 0.0])
    yield counted("one token reaches it exactly", exactly, met, 1.0, None, 0.5, public=True, weight=0.5)
    yield tallied("temperature, then top_p", [1, 0, 0, 0], temperature=0.5, top_p=0.6, public=True, weight=2.0)
    yield tallied("top_k, then top_p", [1, 0, 0, 0], top_k=2, top_p=0.6, public=True)
    yield tallied("all three", [0.7071, 0.5477, 0.3873, 0], temperature=2.0, top_k=3, top_p=0.97)
    sure, unsure = (0.97, 0.01, 0.01, 0.01), (0.5, 0.3, 0.15, 0.05)
    fewest = [[1, 0, 0, 0], [0.625, 0.375, 0, 0]]
    yield in_turns("rows that reach 0.6 with one token and with two", sure, unsure, fewest, top_p=0.6, public=True)
    likeliest = [[0, 0, 0.375, 0.625], [0.625, 0.375, 0, 0]]
    yield in_turns("the two likeliest of unlike rows", unsure[::-1], unsure, likeliest, top_k=2, public=True)
    tokens = rng.integers(0, 7, 11)
    certain = torch.full((11, 7), IMPOSSIBLE).double().scatter(1, tokens[:, None], 0.0)
    yield call("a possible token a row", certain, 1.0, None, None, rng.generator(), grad=False, weight=0.5).counts_with(
        OWN
    )
    yield call("a temperature of zero", rng.normal(13, 5), 0.0, None, None, rng.generator(), grad=False, public=True)
    close = torch.tensor([[1.0, 0.0, 1.000001], [1.000001, 1.0, 0.0]]).repeat(20, 1)
    yield call("zero, and a close second", close, 0.0, None, None, rng.generator(), grad=False, weight=0.5).counts_with(
        OWN
    )
    even, throws = torch.zeros(41, 97).double(), rng.generator()
    same = "the same generator gave two different batches. Does every random number come from `generator`?"
    other = "two generators gave the same tokens. Where do your random numbers come from?"
    yield (
        build("the generator decides", even, 1.0, None, None, throws, public=True)
        .call(even, 1.0, None, None, throws, on="answer", into="again")
        .call(even, 1.0, None, None, rng.generator(), on="answer", into="other")
        .laws_only()
        .law("equal", of="model", to="again", because=same)
        .law("different", of="model", to="other", because=other)
    )


def _kept(p, top_k=None, top_p=None, cut=lambda together, before, top_p: before >= top_p, one_more=0):
    """The probabilities of what stays: `cut` says what does not, by the sums with each token and before it."""
    if top_k is not None:
        least = p.topk(min(top_k + one_more, p.shape[-1])).values[..., -1:]
        p = p.masked_fill(p < least, 0.0)
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        sums, tokens = p.sort(-1, descending=True)
        together = sums.cumsum(-1)
        gone = cut(together, together - sums, top_p)
        p = p.masked_fill(torch.zeros_like(gone).scatter(-1, tokens, gone), 0.0)
    return p


def _drawing(shares=lambda z, T: (z / T).softmax(-1), draw=None, **kept):
    """An answer that makes probabilities so, keeps so, draws so."""

    def answer(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
        if temperature == 0:
            return logits.argmax(-1)
        p = _kept(shares(logits, temperature), top_k, top_p, **kept)
        return draw(p, generator) if draw else torch.multinomial(p, 1, generator=generator).squeeze(-1)

    return answer


next_token.mistakes(
    "At a temperature of 0.1, is your text bolder or tamer than at 1? Divide or multiply?",
    temperature_multiplied=_drawing(lambda z, T: (z * T).softmax(-1)),
)
next_token.mistakes(
    "Do probabilities of 0.5 and 0.3 keep their ratio when you divide both by the temperature? When does softmax come?",
    temperature_after_the_softmax=_drawing(lambda z, T: z.softmax(-1) / T),
)
next_token.mistakes(
    "With 0.5, 0.3, 0.15 and 0.05, how many tokens does top_k = 2 keep in your function?",
    one_more_than_top_k=_drawing(one_more=1),
)
next_token.mistakes(
    "With 0.5, 0.3, 0.15 and 0.05, the likeliest token alone does not reach 0.6. Does your function keep the one that "
    "crosses it? And what does it keep for top_p = 0.3?",
    drops_the_token_that_crosses=_drawing(cut=lambda together, before, top_p: together > top_p),
)
next_token.mistakes(
    "Of 0.5, 0.25 and 0.25, how many tokens does it take to reach 0.5? How many does your function keep for "
    "top_p = 0.5?",
    one_more_where_top_p_is_met=_drawing(cut=lambda together, before, top_p: before > top_p),
)


@next_token.misconception(
    "Print the scores or the probabilities that you draw from, with and without top_k = 2, and then with and without "
    "top_p = 0.6. Does each of the two change anything?"
)
def top_p_changes_nothing(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return reference.next_token(logits, temperature, top_k, generator=generator)


def _kept_before_the_temperature(top_k_first):
    """An answer that takes top-p of the model's own probabilities, before or behind top-k."""

    def answer(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
        if temperature == 0:
            return logits.argmax(-1)
        p = logits.softmax(-1)
        kept = _kept(p, top_k, top_p) if top_k_first else _kept(_kept(p, None, top_p), top_k)
        return torch.multinomial((kept.log() / temperature).softmax(-1), 1, generator=generator).squeeze(-1)

    return answer


next_token.mistakes(
    "Is top_p told of the temperature? At 0.5, the likeliest of the four tokens has 0.685.",
    top_p_before_the_temperature=_kept_before_the_temperature(top_k_first=True),
    top_p_before_all_others=_kept_before_the_temperature(top_k_first=False),
)


def _first_row_for_all(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return reference.next_token(logits[:1].expand(len(logits), -1), temperature, top_k, top_p, generator)


def _kth_logit_of_the_first_row(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if top_k is not None:
        least = logits[0].topk(min(top_k, logits.shape[-1])).values[-1]
        logits = logits.masked_fill(logits < least, IMPOSSIBLE)
    return reference.next_token(logits, temperature, None, top_p, generator)


def _as_many_for_top_p_as_the_first_row(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if top_p is not None and temperature > 0:
        p = (logits[0] / temperature).softmax(-1).sort(descending=True).values
        top_k = min(top_k or len(p), int((p.cumsum(-1) - p < top_p).sum()))
    return reference.next_token(logits, temperature, top_k, None, generator)


next_token.mistakes(
    "Give it two unlike rows at once, then each alone, with the same settings. Are the same tokens possible?",
    first_row_for_all=_first_row_for_all,
    kth_logit_of_the_first_row=_kth_logit_of_the_first_row,
    as_many_for_top_p_as_the_first_row=_as_many_for_top_p_as_the_first_row,
)


@next_token.misconception(
    "Of 0.5, 0.3, 0.15 and 0.05, top_k = 2 leaves 0.625 and 0.375. How many of these reach 0.6?",
    convention="top-p before top-k",
)
def top_p_before_top_k(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature == 0:
        return logits.argmax(-1)
    kept = _kept(_kept((logits / temperature).softmax(-1), None, top_p), top_k)
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)


next_token.mistakes(
    "Give it a thousand equal rows. Does every row get a throw of its own?",
    one_throw_for_the_batch=_drawing(
        draw=lambda p, generator: torch.multinomial(p, 1, generator=generator).squeeze(-1)[:1].expand(len(p))
    ),
)
next_token.mistakes(
    "Give it a thousand equal rows with 0.6 and 0.4. How often should the second token come?",
    always_the_likeliest=_drawing(draw=lambda p, generator: p.argmax(-1)),
)
