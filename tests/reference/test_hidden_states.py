"""The reference against sums over all paths, against torch's own convolution and CTC, and against laws."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from course.reference.hidden_states import (
    causal_conv1d,
    ctc_collapse,
    ctc_loss,
    eliza,
    fit_ar,
    hmm_forward,
    hmm_posterior,
    receptive_field,
    viterbi,
)
from tests.reference.numbers import close, close_gradients, gradients, noise

INF = math.inf
SIZES = [(2, 3, 5, 4), (3, 5, 2, 3), (1, 1, 3, 2), (5, 4, 1, 7), (2, 2, 3, 1)]
"""B, T, S, V: primes where brute force allows, and the corners where a size is one."""
few = settings(max_examples=40)


# --- rules -----------------------------------------------------------------------------------------------------------

RULES = [(r"i am (.*)", "Why are you {0}?"), (r"my (\w+) (.*)", "Your {0} {1}, you say?"), (r".*", "Please go on.")]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("I am sad", "Why are you sad?"),
        ("Well, i AM sad about me, and about you.", "Why are you sad about you, and about I.?"),
        ("my mother fears my dog", "Your mother fears your dog, you say?"),
        ("my cat. I am tired", "Why are you tired?"),
        ("Some army", "Please go on."),
        ("My mother sees you and I", "Your mother sees I and you, you say?"),
    ],
)
def test_eliza_answers_by_the_first_rule(said, answer):
    assert eliza(RULES, said) == answer


def test_eliza_without_a_rule_says_so():
    with pytest.raises(ValueError, match="none of the 1 rules"):
        eliza(RULES[:1], "hello")


# --- hidden Markov models --------------------------------------------------------------------------------------------


def model(S, V, seed=0, zeros=False, dtype=torch.float64):
    """Log-probabilities of a start, a chain and its emissions; with `zeros`, many of them −∞."""
    tables = [noise(*shape, seed=seed + i, dtype=dtype).detach() for i, shape in enumerate(((S,), (S, S), (S, V)))]
    if zeros:
        tables = [torch.where(table < -0.3, -INF, table) for table in tables]
        for table in tables:
            table[..., 0] = 0.0
    return [table.log_softmax(-1) for table in tables]


def text(B, T, V, seed=0):
    return torch.randint(V, (B, T), generator=torch.Generator().manual_seed(seed))


def all_paths(log_start, log_A, log_E, seen):
    """Every path (N, T), and its log p(path, seen) for each text (B, N)."""
    S, T = len(log_start), seen.shape[1]
    paths = torch.tensor(list(itertools.product(range(S), repeat=T)))
    joint = log_start[paths[:, 0]] + log_A[paths[:, :-1], paths[:, 1:]].sum(1)
    return paths, joint + log_E[paths, seen[:, None, :]].sum(-1)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("B, T, S, V", SIZES)
def test_the_three_sums_agree_with_all_paths(B, T, S, V, zeros):
    tables, seen = model(S, V, zeros=zeros), text(B, T, V)
    paths, joint = all_paths(*tables, seen)
    log_alpha, log_p = hmm_forward(*tables, seen)
    close(log_p, joint.logsumexp(1))
    for t in range(T):
        part, until = all_paths(*tables, seen[:, : t + 1])
        ends = F.one_hot(part[:, t], S).bool()
        sums = torch.where(ends, until[:, :, None], -INF).logsumexp(1)
        close(log_alpha[:, t], sums)
    found, scores = viterbi(*tables, seen)
    close(scores, joint.amax(1))
    possible = scores > -INF
    assert possible.any()
    close(joint.gather(1, (paths[None] == found[:, None]).all(-1).int().argmax(1, keepdim=True))[possible, 0],
          scores[possible])  # fmt: skip
    posterior = hmm_posterior(*tables, seen)
    shares = (joint - log_p[:, None]).exp()
    expected = torch.einsum("bn,nts->bts", shares, F.one_hot(paths, S).double())
    close(posterior[possible], expected[possible])
    close(posterior[possible].sum(-1), torch.ones(int(possible.sum()), T, dtype=torch.float64))


def test_gradients_of_the_forward_sum_are_those_of_all_paths():
    tables = [table.requires_grad_() for table in model(3, 4)]
    seen = text(2, 4, 4)
    ours, theirs = hmm_forward(*tables, seen)[1], all_paths(*tables, seen)[1].logsumexp(1)
    close_gradients(ours, theirs, tables)


def test_gradients_stay_finite_beside_what_is_impossible():
    tables = [table.requires_grad_() for table in model(5, 3, zeros=True)]
    log_p = hmm_forward(*tables, text(3, 7, 3))[1]
    assert all(gradient.isfinite().all() for gradient in gradients(log_p[log_p > -INF], tables))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_thousand_steps_stay_finite(dtype):
    tables, seen = model(5, 3, dtype=dtype), text(2, 1000, 3)
    log_alpha, log_p = hmm_forward(*tables, seen)
    assert log_alpha.isfinite().all() and log_p.max() < -300 and log_p.dtype == dtype
    close(hmm_posterior(*tables, seen).sum(-1), torch.ones(2, 1000, dtype=dtype)) if dtype == torch.float64 else None
    assert viterbi(*tables, seen)[1].isfinite().all()


def test_what_is_impossible_is_minus_infinity_and_never_nan():
    log_start = torch.tensor([0.0, -INF])
    log_A = torch.tensor([[0.0, -INF], [0.0, -INF]])
    log_E = torch.tensor([[0.0, -INF], [-INF, 0.0]])
    seen = torch.tensor([[0, 0, 0], [0, 1, 0]])
    log_alpha, log_p = hmm_forward(log_start, log_A, log_E, seen)
    assert log_p.tolist() == [0.0, -INF] and not log_alpha.isnan().any()
    assert viterbi(log_start, log_A, log_E, seen)[1].tolist() == [0.0, -INF]


def test_the_example_of_the_notebook():
    """Keys a, s and d; s d s is seen."""
    start, A, E = (
        [0.5, 0.25, 0.25],
        [[0.6, 0, 0.4], [0, 1, 0], [0, 0.2, 0.8]],
        [[0.8, 0.2, 0], [0.1, 0.8, 0.1], [0, 0.2, 0.8]],
    )
    tables, seen = (
        [torch.tensor(table, dtype=torch.float64).log() for table in (start, A, E)],
        torch.tensor([[1, 2, 1]]),
    )
    assert hmm_forward(*tables, seen)[1].exp().item() == pytest.approx(0.03728)
    path, score = viterbi(*tables, seen)
    assert path.tolist() == [[1, 1, 1]] and score.exp().item() == pytest.approx(0.016)
    expected = torch.tensor([[0.275, 0.429, 0.296], [0, 0.451, 0.549], [0, 0.725, 0.275]], dtype=torch.float64)
    torch.testing.assert_close(hmm_posterior(*tables, seen)[0], expected, rtol=0, atol=6e-4)


def test_impossible_tables_are_named():
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        hmm_forward(torch.zeros(2), torch.zeros(2, 3), torch.zeros(2, 5), torch.zeros(1, 4, dtype=torch.long))


# --- over time -------------------------------------------------------------------------------------------------------


def test_a_tone_is_autoregressive_of_order_two_and_two_tones_of_order_four():
    t = torch.arange(200, dtype=torch.float64)
    angle = 2 * math.pi * 770 / 8000
    close(fit_ar((angle * t + 0.3).sin(), 2), torch.tensor([2 * math.cos(angle), -1.0], dtype=torch.float64))
    both = (angle * t).sin() + (2 * math.pi * 1336 / 8000 * t).sin()
    torch.testing.assert_close(
        fit_ar(both, 4), torch.tensor([2.6417, -3.6393, 2.6417, -1.0], dtype=torch.float64), rtol=0, atol=1e-4
    )


@few
@given(order=st.integers(1, 5), more=st.integers(0, 20), seed=st.integers(0, 99))
def test_the_error_of_the_best_predictor_has_nothing_left_of_what_came_before(order, more, seed):
    x = noise(2 * order + more, seed=seed).detach()
    weights = fit_ar(x, order)
    before = torch.stack([x[order - k : len(x) - k] for k in range(1, order + 1)], 1)
    torch.testing.assert_close(before.T @ (x[order:] - before @ weights), torch.zeros(order, dtype=x.dtype),
                               rtol=0, atol=1e-8)  # fmt: skip


def test_too_short_a_series_is_refused():
    with pytest.raises(ValueError, match=r"\(5,\)"):
        fit_ar(torch.zeros(5), 3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "B, C, T, D, k, dilation", [(2, 3, 11, 5, 3, 2), (1, 1, 1, 1, 1, 1), (3, 2, 4, 7, 5, 3), (2, 5, 7, 3, 2, 1)]
)
def test_the_causal_convolution_is_torchs_behind_zeros(B, C, T, D, k, dilation, dtype):
    x, W, b = noise(B, C, T, dtype=dtype), noise(D, C, k, seed=1, dtype=dtype), noise(D, seed=2, dtype=dtype)
    ours = causal_conv1d(x, W, b, dilation)
    theirs = F.conv1d(F.pad(x, ((k - 1) * dilation, 0)), W, b, dilation=dilation)
    assert ours.shape == (B, D, T)
    close(ours, theirs)
    close_gradients(ours, theirs, [x, W, b])


@pytest.mark.parametrize(("kernel", "dilations"), [(3, [1, 2, 4, 8]), (2, [1]), (1, [1, 5]), (5, [3, 3]), (2, [])])
def test_the_receptive_field_is_what_reaches_the_last_output(kernel, dilations):
    field = receptive_field(kernel, dilations)
    x = torch.ones(1, 1, field + 3, requires_grad=True)
    y = x
    for dilation in dilations:
        y = causal_conv1d(y, torch.ones(1, 1, kernel), torch.zeros(1), dilation)
    (felt,) = torch.autograd.grad(y[0, 0, -1], x)
    reached = felt[0, 0].nonzero().squeeze(1)
    assert len(felt[0, 0]) - int(reached.min()) == field


# --- CTC -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "spelt"),
    [([0, 5, 5, 0, 5, 0], [5, 5]), ([5, 5, 5], [5]), ([0, 0], []), ([], []), ([1, 0, 1, 2, 2, 1], [1, 1, 2, 1])],
)
def test_collapse(path, spelt):
    assert ctc_collapse(path) == spelt


def test_collapse_with_another_blank():
    assert ctc_collapse([2, 0, 0, 2, 0], blank=2) == [0, 0]


def frames(B, T, V, seed=0, dtype=torch.float64):
    return noise(B, T, V, seed=seed, dtype=dtype)


@pytest.mark.parametrize("blank", [0, 2])
def test_the_loss_is_the_sum_over_all_paths_that_collapse_to_the_target(blank):
    T, V = 5, 3
    log_p = frames(1, T, V).log_softmax(-1)
    paths = torch.tensor(list(itertools.product(range(V), repeat=T)))
    scores = log_p[0, torch.arange(T), paths].sum(1)
    spelt = [tuple(ctc_collapse(path, blank)) for path in paths.tolist()]
    for target in sorted({*spelt}):
        those = torch.tensor([s == target for s in spelt])
        padded = torch.tensor([[*target, 1, 1]])
        loss = ctc_loss(log_p, torch.tensor([T]), padded, torch.tensor([len(target)]), blank)
        close(loss, -scores[those].logsumexp(0)[None])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("seed", range(3))
def test_the_loss_agrees_with_torchs_in_values_and_gradients(seed, dtype):
    x = frames(5, 13, 4, seed, dtype)
    lengths, counts = torch.tensor([13, 7, 9, 1, 4]), torch.tensor([5, 3, 0, 1, 2])
    targets = torch.randint(1, 4, (5, 5), generator=torch.Generator().manual_seed(seed))
    log_p = x.log_softmax(-1)
    ours = ctc_loss(log_p, lengths, targets, counts)
    theirs = F.ctc_loss(log_p.transpose(0, 1), targets, lengths, counts, reduction="none")
    close(ours, theirs)
    direction = noise(5, seed=9, dtype=dtype, requires_grad=False)
    mine, other = (torch.autograd.grad((loss * direction).sum(), x, retain_graph=True)[0] for loss in (ours, theirs))
    close(mine, other)


def test_a_target_that_does_not_fit_costs_infinity_and_spoils_nothing():
    x = frames(3, 3, 4)
    lengths, targets, counts = torch.tensor([3, 2, 3]), torch.tensor([[1, 2], [1, 1], [3, 3]]), torch.tensor([2, 2, 2])
    losses = ctc_loss(x.log_softmax(-1), lengths, targets, counts)
    assert losses.isinf().tolist() == [False, True, False]
    (gradient,) = torch.autograd.grad(losses.sum(), x)
    assert gradient[[0, 2]].isfinite().all() and gradient[[0, 2]].abs().sum() > 0


def test_padding_may_hold_anything():
    log_p, targets = frames(2, 7, 4).log_softmax(-1).detach(), torch.tensor([[1, 2, 3], [2, 1, 1]])
    lengths, counts = torch.tensor([7, 4]), torch.tensor([3, 1])
    before = ctc_loss(log_p, lengths, targets, counts)
    log_p[1, 4:], targets[1, 1:] = 17.0, -1
    close(ctc_loss(log_p, lengths, targets, counts), before)


def test_the_loss_of_the_notebooks_example():
    p = torch.tensor([[[0.1, 0.6, 0.3], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]])
    one = torch.tensor([3]), torch.tensor([[1, 2]]), torch.tensor([2])
    assert ctc_loss(p.log(), *one).item() == pytest.approx(0.9113, abs=1e-4)
    assert ctc_loss(p.log(), one[0], torch.tensor([[1, 1]]), one[2]).item() == pytest.approx(2.8134, abs=1e-4)


@few
@given(T=st.integers(1, 6), V=st.integers(2, 4), seed=st.integers(0, 99))
def test_all_targets_together_are_certain(T, V, seed):
    """Every path collapses to one target, so their probabilities sum to one."""
    log_p = frames(1, T, V, seed).log_softmax(-1).detach()
    spelt = sorted({tuple(ctc_collapse(path)) for path in itertools.product(range(V), repeat=T)})
    targets = torch.tensor([[*target, *[1] * (T - len(target))] for target in spelt])
    many = len(spelt)
    losses = ctc_loss(log_p.expand(many, -1, -1), torch.full((many,), T), targets, torch.tensor([*map(len, spelt)]))
    assert (-losses).exp().sum().item() == pytest.approx(1.0)


def test_impossible_shapes_are_named():
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        causal_conv1d(torch.zeros(2, 3), torch.zeros(5, 3, 2), torch.zeros(5))
    with pytest.raises(ValueError, match=r"\(4,\)"):
        ctc_loss(torch.zeros(3, 5, 2), torch.ones(4), torch.ones(3, 2), torch.ones(3))
