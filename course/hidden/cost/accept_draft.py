"""Hidden tests of `accept_draft`: all drafts, many uniform numbers, probabilities in quarters and fifths."""

from __future__ import annotations

import itertools

import torch

from course.exercise import call, exercise, given
from course.reference import cost as reference

EXAMPLE_P = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]], dtype=torch.float64)
EXAMPLE_Q = torch.tensor([[0.2, 0.5, 0.3], [0.5, 0.25, 0.25]], dtype=torch.float64)


@exercise(
    reference.accept_draft,
    hints=(
        "A guess x was drawn from q. How often may it stay, so that x does not come more often than p says?",
        "Which tokens have come too seldom so far? Compare p and q at the place where a guess was refused.",
        "What comes behind the first refusal: the rest of the draft, or one token and no more? And if all stay?",
        "Begin with one guess, p = (0.5, 0.3, 0.2) and q = (0.2, 0.5, 0.3). Draw ten thousand guesses, let them "
        "stay or not, and count which tokens are missing until the shares are p.",
    ),
    calls=(
        ("accept_draft(tensor([[0.5, 0.5], [0., 1.]]), tensor([[0.5, 0.5]]), tensor([0]), tensor([0.25, 0.25]))"),
        ("accept_draft(tensor([[0., 1.], [1., 0.]]), tensor([[1., 0.]]), tensor([0]), tensor([0.25, 0.25]))"),
        ("accept_draft(tensor([[0.25, 0.75], [1., 0.]]), tensor([[0.5, 0.5]]), tensor([0]), tensor([0.75, 0.25]))"),
        "accept_draft(tensor([[0.25, 0.75]]), zeros(0, 2), tensor([]).long(), tensor([0.5]))",
        "accept_draft(tensor([[0., 0.5, 0.5]]), zeros(0, 3), tensor([]).long(), tensor([0.]))",
        (
            "accept_draft(tensor([[0., 1.], [0.5, 0.5], [1., 0.]]), tensor([[1., 0.], [0.5, 0.5]]), "
            "tensor([0, 0]), tensor([0., 0.25, 0.25]))"
        ),
    ),
)
def accept_draft(rng):
    """Every draft of two guesses with many uniform numbers each, no guess at all, and tokens that never come.

    No uniform number lies where rounding could decide: they are odd 128ths, and p / q and cumulated shares are not.
    """

    def spread(n, V, parts):
        """Probabilities (n, V) in whole parts, some of them zero."""
        counts = torch.stack([torch.bincount(rng.integers(0, V, parts), minlength=V) for _ in range(n)])
        return counts.double() / parts

    def every(title, p, q, times=1, **settings):
        """All drafts that q can draw, each with uniform numbers of its own."""
        n, V = q.shape
        rows = []
        for draft in itertools.product(range(V), repeat=n):
            if all(q[i, x] > 0 for i, x in enumerate(draft)):
                for _ in range(times):
                    uniforms = (2 * rng.integers(0, 64, n + 1) + 1).double() / 128
                    rows.append((p, q, torch.tensor(draft, dtype=torch.long), uniforms))
        return given(title, **settings).map(rows, on="answer")

    yield every("the worked example", EXAMPLE_P, EXAMPLE_Q, 3, public=True, weight=2.0)
    yield every("two guesses among four", spread(3, 4, 5), spread(2, 4, 4), 5, weight=3.0)
    yield every("one guess among five", spread(2, 5, 4), spread(1, 5, 5), 7, weight=2.0)
    yield every("three guesses among three", spread(4, 3, 5), spread(3, 3, 4), 3, weight=2.0)
    same = spread(4, 3, 7)
    same = torch.where(same > 0, same, 0.0)
    yield every("guesses of a model that agrees", same, same[:3], 2, public=True)
    none = torch.zeros(0, 5, dtype=torch.float64), torch.zeros(0, dtype=torch.long)
    at = [0.004, 0.21, 0.39, 0.61, 0.79, 0.996]
    p = torch.tensor([[0.2, 0.2, 0.0, 0.2, 0.4]], dtype=torch.float64)
    rows = [(p, *none, torch.tensor([u], dtype=torch.float64)) for u in at]
    yield given("no guess", public=True).map(rows, on="answer")
    p = torch.tensor([[0.0, 0.25, 0.75], [0.0, 0.0, 1.0]], dtype=torch.float64)
    q = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64)
    zero = torch.zeros(2, dtype=torch.float64)
    yield call("a uniform number of 0 and a guess that cannot be", p, q, torch.tensor([0]), zero, grad=False)
    yield call("a uniform number of 0 behind a guess", p, q, torch.tensor([1]), zero, grad=False)
    wide = rng.uniform(4, 997, low=0.01), rng.uniform(3, 997, low=0.01)
    p, q = (x / x.sum(-1, keepdim=True) for x in wide)
    stay, go = p[:3].argmax(-1), (q - p[:3]).argmax(-1)
    uniforms = torch.tensor([0.3, 0.3, 0.3, 0.31], dtype=torch.float64)
    yield call("a thousand tokens, all stay", p, q, stay, uniforms, grad=False, public=True)
    refused = torch.tensor([0.3, 0.999, 0.3, 0.53], dtype=torch.float64)
    yield call("a thousand tokens, one goes", p, q, torch.stack([stay[0], go[1], stay[2]]), refused, grad=False)
    yield every("float32", EXAMPLE_P.float(), EXAMPLE_Q.float(), 2)


def _accepting(
    stays=lambda p, q, u: u * q < p,
    rest=lambda p, q: (p - q).clamp(min=0),
    behind=lambda p: p[-1],
    goes_on=False,
):
    """An answer that lets guesses stay so, and chooses so in place of a refused one and behind the last."""

    def accept(p, q, draft, uniforms):
        kept = []
        weights = behind(p)
        for i, x in enumerate(draft.tolist()):
            if stays(p[i, x], q[i, x], uniforms[i]):
                kept.append(x)
            elif not goes_on:
                weights = rest(p[i], q[i])
                break
        if weights is not None:
            kept += reference._chosen(weights if bool(weights.any()) else p[len(kept)], uniforms[-1]).tolist()
        return torch.tensor(kept, dtype=torch.long)

    return accept


@accept_draft.misconception(
    "Draw ten thousand guesses for p = (0.5, 0.3, 0.2) and q = (0.2, 0.5, 0.3), and count the first tokens. Does the "
    "second one come in 39 of 100?"
)
def drawn_from_p_after_a_refusal(p, q, draft, uniforms):
    a = 0
    while a < len(draft) and uniforms[a] * q[a, draft[a]] < p[a, draft[a]]:
        a += 1
    return torch.cat([draft[:a], reference._chosen(p[a], uniforms[-1])])


accept_draft.mistakes(
    "After a refusal, which tokens have come too seldom: those that p likes more than q, or less?",
    distance_for_positive_part=_accepting(rest=lambda p, q: (p - q).abs()),
)
accept_draft.mistakes(
    "A guess that p likes more than q stays always. How often does yours stay for p = 0.5 and q = 0.2?",
    ratio_turned_round=_accepting(stays=lambda p, q, u: u * p < q),
)
accept_draft.mistakes(
    "A guess behind a refused one was made for another text. What may come behind a refusal?",
    goes_on_behind_a_refusal=_accepting(goes_on=True),
)
accept_draft.mistakes(
    "All guesses stayed, and p has one row more than q. What is it for?",
    no_token_behind_all=_accepting(behind=lambda p: None),
    last_place_again=_accepting(behind=lambda p: p[max(len(p) - 2, 0)]),
)
