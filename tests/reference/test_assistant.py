"""The reference of topic 18 against torch, published formulas, closed forms, and loops over every token."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from course.reference import assistant
from tests.reference.numbers import noise, same_with_gradients

SPECIAL = {"system": 9, "user": 1, "assistant": 2, "end": 3}
IMAGE = 5


# -- chats -------------------------------------------------------------------------------------------------------------


def test_the_worked_example():
    ids, learned = assistant.chat_ids([("user", [11, 12]), ("assistant", [21])], SPECIAL)
    assert ids.tolist() == [1, 11, 12, 3, 2, 21, 3]
    assert learned.tolist() == 5 * [False] + 2 * [True]


@pytest.mark.parametrize("turns", [[], [("assistant", [])], [("user", [])], 2 * [("assistant", [4])]])
def test_chats_that_are_short_of_something(turns):
    ids, learned = assistant.chat_ids(turns, SPECIAL)
    assert (ids.dtype, learned.dtype) == (torch.int64, torch.bool)
    assert len(ids) == len(learned) == sum(len(words) + 2 for _, words in turns)
    assert int(learned.sum()) == sum(len(words) + 1 for role, words in turns if role == "assistant")


ROLES = st.sampled_from(["system", "user", "assistant"])
TURNS = st.lists(st.tuples(ROLES, st.lists(st.integers(20, 99), max_size=5)), max_size=6)


@given(TURNS)
@settings(max_examples=60, deadline=None)
def test_a_chat_can_be_read_back(turns):
    """Marks and ends cut the ids into the turns again, and learned are the assistant's words and ends alone."""
    ids, learned = (tensor.tolist() for tensor in assistant.chat_ids(turns, SPECIAL))
    names = {number: name for name, number in SPECIAL.items()}
    read = []
    for token, is_learned in zip(ids, learned, strict=True):
        if token >= 20:
            read[-1][1].append(token)
        elif names[token] != "end":
            read.append((names[token], []))
        assert is_learned == (read[-1][0] == "assistant" and token != SPECIAL["assistant"])
    assert read == turns


def test_an_unknown_role_is_named():
    with pytest.raises(ValueError, match="'tool'"):
        assistant.chat_ids([("tool", [11])], SPECIAL)


# -- log-probabilities -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-4)])
@pytest.mark.parametrize(("B", "T", "V"), [(2, 5, 7), (1, 2, 3), (3, 1, 5)])
def test_it_is_minus_the_summed_cross_entropy(dtype, tolerance, B, T, V):
    logits = noise(B, T, V, dtype=dtype)
    drawn = torch.Generator().manual_seed(1)
    ids = torch.randint(V, (B, T), generator=drawn)
    learned = torch.rand(B, T, generator=drawn) < 0.6
    targets = ids[:, 1:].masked_fill(~learned[:, 1:], -100)
    losses = F.cross_entropy(logits[:, :-1].flatten(0, 1), targets.flatten(), reduction="none")
    theirs = -losses.view(B, T - 1).sum(1)
    same_with_gradients(assistant.sequence_log_prob(logits, ids, learned), theirs, [logits], tolerance)


def test_the_probabilities_of_all_texts_add_up():
    """Of a table of logits by beginnings, whose every text of three tokens is asked for."""
    first, second = noise(4), noise(4, 4, seed=1)
    texts = torch.cartesian_prod(torch.arange(1), torch.arange(4), torch.arange(4))  # (16, 3)
    logits = torch.stack([first.expand(16, 4), second[texts[:, 1]], torch.zeros(16, 4)], 1)
    found = assistant.sequence_log_prob(logits, texts, torch.ones(16, 3, dtype=torch.bool))
    assert found.exp().sum().item() == pytest.approx(1)


def test_what_is_not_learned_may_be_impossible():
    logits = torch.full((1, 3, 4), -torch.inf)
    logits[0, 1, 2] = 0.0
    found = assistant.sequence_log_prob(logits, torch.tensor([[0, 1, 2]]), torch.tensor([[True, False, True]]))
    assert found.tolist() == [0.0]


def test_shapes_that_differ_are_refused():
    with pytest.raises(ValueError, match="differ"):
        assistant.sequence_log_prob(torch.zeros(2, 4, 5), torch.zeros(2, 3).long(), torch.ones(2, 3).bool())


# -- pictures ----------------------------------------------------------------------------------------------------------


def rows_with_an_image(B, T, seed=0):
    drawn = torch.Generator().manual_seed(seed)
    ids = torch.randint(20, 99, (B, T), generator=drawn)
    places = torch.randint(T, (B,), generator=drawn)
    ids[torch.arange(B), places] = IMAGE
    return ids, places


@pytest.mark.parametrize(("B", "T", "N"), [(3, 7, 4), (2, 1, 3), (4, 5, 1), (5, 2, 2)])
def test_patches_stand_where_the_image_token_was(B, T, N):
    ids, places = rows_with_an_image(B, T)
    words, patches = noise(B, T, 5), noise(B, N, 5, seed=1)
    expected = torch.empty(B, T - 1 + N, 5, dtype=torch.float64)
    for row, place in enumerate(places.tolist()):
        for t in range(T - 1 + N):
            if t < place:
                expected[row, t] = words[row, t]
            elif t < place + N:
                expected[row, t] = patches[row, t - place]
            else:
                expected[row, t] = words[row, t - N + 1]
    found = assistant.insert_patches(words, ids, IMAGE, patches)
    if T == 1:
        torch.testing.assert_close(found, expected)
        (grad,) = torch.autograd.grad(found.sum(), patches)
        assert bool((grad == 1).all())
    else:
        same_with_gradients(found, expected, [words, patches])


@pytest.mark.parametrize(("B", "T", "N"), [(3, 7, 4), (2, 1, 3), (4, 5, 1)])
def test_the_ids_are_stretched_as_the_words_are(B, T, N):
    """Ids, taken for vectors of one number, end where their words do."""
    ids, places = rows_with_an_image(B, T)
    learned = torch.rand(B, T, generator=torch.Generator().manual_seed(3)) < 0.5
    learned[torch.arange(B), places] = False
    longer, learned_longer = assistant.stretch(ids, learned, IMAGE, N)
    assert longer.dtype == torch.int64 and learned_longer.dtype == torch.bool
    image = torch.full((B, N, 1), float(IMAGE))
    assert torch.equal(longer, assistant.insert_patches(ids[..., None].float(), ids, IMAGE, image)[..., 0].long())
    assert learned_longer.sum() == learned.sum() and not bool(learned_longer[longer == IMAGE].any())
    assert longer[learned_longer].tolist() == ids[learned].tolist()


@pytest.mark.parametrize("row", [[11, 12, 13], [IMAGE, 11, IMAGE]])
def test_no_image_and_two_are_refused(row):
    ids = torch.tensor([[11, IMAGE, 12], row])
    with pytest.raises(ValueError, match="exactly one image token"):
        assistant.stretch(ids, torch.zeros(2, 3).bool(), IMAGE, 4)
    with pytest.raises(ValueError, match="exactly one image token"):
        assistant.insert_patches(torch.zeros(2, 3, 2), ids, IMAGE, torch.zeros(2, 4, 2))


# -- preferences -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
def test_bradley_and_terry_is_a_cross_entropy(dtype, tolerance):
    chosen, rejected = noise(7, dtype=dtype), noise(7, dtype=dtype, seed=1)
    theirs = F.binary_cross_entropy_with_logits(chosen - rejected, torch.ones(7, dtype=dtype))
    same_with_gradients(assistant.preference_loss(chosen, rejected), theirs, [chosen, rejected], tolerance)


@pytest.mark.parametrize("difference", [1e4, -1e4])
def test_large_differences_stay_finite(difference):
    chosen = torch.tensor([difference], requires_grad=True)
    loss = assistant.preference_loss(chosen, torch.zeros(1))
    (grad,) = torch.autograd.grad(loss, chosen)
    assert loss.item() == max(-difference, 0) and bool(grad.isfinite().all())


def test_the_three_answers_by_hand():
    p, r = torch.tensor([0.5, 0.3, 0.2]).double(), torch.tensor([0.0, 1.0, 2.0]).double()
    best = assistant.best_policy(p.log(), r, 1.0).exp()
    assert best.tolist() == pytest.approx([0.179, 0.292, 0.529], abs=1e-3)
    kl = (best * (best / p).log()).sum()
    assert (best * r).sum().item() == pytest.approx(1.350, abs=1e-3) and kl.item() == pytest.approx(0.323, abs=1e-3)
    assert ((best * r).sum() - kl).item() == pytest.approx(math.log(0.5 + 0.3 * math.e + 0.2 * math.e**2))
    half = assistant.best_policy(p.log(), r, 0.5).exp()
    assert half.tolist() == pytest.approx([0.037, 0.163, 0.801], abs=1e-3)
    loss = [assistant.dpo_loss(q[2:].log(), q[:1].log(), p[2:].log(), p[:1].log(), 1.0).item() for q in (p, best)]
    assert loss == pytest.approx([math.log(2), 0.127], abs=1e-3)


@given(st.integers(0, 999), st.sampled_from([0.1, 0.5, 3.0]), st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_no_policy_does_better(seed, beta, N):
    """The best policy reaches beta log Z, and every other one less by beta times its divergence from it."""
    log_ref, other = noise(N, seed=seed).log_softmax(0), noise(N, seed=seed + 1).log_softmax(0)
    reward = 2 * noise(N, seed=seed + 2)
    best = assistant.best_policy(log_ref, reward, beta)

    def gain(log_p):
        return (log_p.exp() * (reward - beta * (log_p - log_ref))).sum()

    log_Z = (log_ref + reward / beta).logsumexp(0)
    assert best.exp().sum().item() == pytest.approx(1)
    assert gain(best).item() == pytest.approx(beta * log_Z.item())
    lost = beta * (other.exp() * (other - best)).sum()
    assert gain(other).item() == pytest.approx((gain(best) - lost).item())


def test_what_is_never_said_stays_unsaid():
    found = assistant.best_policy(torch.tensor([0.0, -torch.inf, 0.0]), torch.tensor([1.0, 99.0, 1.0]), 0.5)
    assert found.exp().tolist() == pytest.approx([0.5, 0.0, 0.5]) and found[1] == -torch.inf


@pytest.mark.parametrize("beta", [0.0, -1.0])
def test_a_price_that_is_none_is_refused(beta):
    with pytest.raises(ValueError, match="above 0"):
        assistant.best_policy(torch.zeros(2), torch.zeros(2), beta)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
@pytest.mark.parametrize("beta", [0.1, 2.0])
def test_dpo_is_the_published_formula(dtype, tolerance, beta):
    """As the library trl computes it: the sigmoid loss of the difference of the log-ratios."""
    a, b, c, d = (noise(5, dtype=dtype, seed=i) for i in range(4))
    theirs = -F.logsigmoid(beta * ((a - b) - (c - d).detach())).mean()
    ours = assistant.dpo_loss(a, b, c, d, beta)
    same_with_gradients(ours, theirs, [a, b], tolerance)
    assert torch.autograd.grad(ours, [c, d], allow_unused=True) == (None, None)


def test_at_the_optimum_dpo_is_the_loss_of_the_true_rewards():
    log_ref, reward = noise(11).log_softmax(0), noise(11, seed=1)
    best = assistant.best_policy(log_ref, reward, 0.3)
    i, j = torch.arange(11), torch.arange(11).flip(0)
    found = assistant.dpo_loss(best[i], best[j], log_ref[i], log_ref[j], 0.3)
    torch.testing.assert_close(found, assistant.preference_loss(reward[i], reward[j]))


# -- groups ------------------------------------------------------------------------------------------------------------


def test_four_answers_by_hand():
    found = assistant.group_advantages(torch.tensor([[1.0, 0.0, 0.0, 1.0]]))
    assert found[0].tolist() == pytest.approx([0.866, -0.866, -0.866, 0.866], abs=1e-3)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_every_group_is_standardised_by_itself(dtype):
    rewards = 20 * noise(5, 7, dtype=dtype).detach()
    found = assistant.group_advantages(rewards)
    theirs = torch.stack([(row - row.mean()) / row.std() for row in rewards])
    assert found.dtype == dtype
    torch.testing.assert_close(found, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rewards", [torch.full((2, 5), 0.1), torch.tensor([[3.0], [4.0]]), torch.zeros(3, 2)])
def test_a_group_without_differences_teaches_nothing(rewards):
    assert float(assistant.group_advantages(rewards).abs().max()) < 0.02
