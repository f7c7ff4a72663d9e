"""Hidden tests of `cost_task`: a draft of topic 15's dictionary, by the share of its guesses that stay."""

from __future__ import annotations

from functools import lru_cache, partial

import torch
from torch.nn import functional as F

from course.data import definitions, wordnet
from course.exercise import exercise, given_model
from course.reference.gpt import GPT

FULL, PASS, SOME = 0.40, 0.34, 0.2
"""Shares of the guesses that stay: see tests/training/test_cost_task.py."""
SURE = 0.36
"""The mean of the largest probability: 0.21 for a draft that was told all, 0.42 for one that was told one token."""
DRAWN = 16
"""Tokens of the dictionary at each place, by which a share is measured. It is within 0.002 of the sum over all."""
PUBLIC = 16
"""Held-out texts of the public check. The others are for grading, so that no logits are sent twice."""
KNOWS = "twelve guesses of a hundred stay"


@lru_cache(maxsize=1)
def _dictionary():
    return GPT(**wordnet.SIZES).load_published(wordnet.weights()).eval()


def log_p(ids):
    """The dictionary's log-probabilities of the token after each of ids (B, T): (B, T, V)."""
    with torch.no_grad():
        return torch.cat([_dictionary()(some)[0].log_softmax(-1) for some in ids.split(16)])


@lru_cache(maxsize=1)
def _drawn():
    """Held-out texts (B, T), tokens (B, T, DRAWN) at even quantiles of what the dictionary says, and their p."""
    ids = definitions.held_out()
    p, order = log_p(ids).exp().sort(-1, descending=True)
    quantiles = ((torch.arange(DRAWN) + 0.5) / DRAWN).expand(*ids.shape, -1).contiguous()
    found = torch.searchsorted(p.cumsum(-1), quantiles).clamp(max=p.shape[-1] - 1)
    return ids, order.gather(-1, found).to(torch.int16), p.gather(-1, found)


@lru_cache(maxsize=1)
def _frequencies():
    """Return log p (V,) of how often each token comes in the texts to train on."""
    counts = torch.bincount(definitions.texts().flatten(), minlength=len(wordnet.pieces())).float() + 0.1
    return (counts / counts.sum()).log()


def _mixed(ids, trust):
    """Log-probabilities between the dictionary and bare frequencies."""
    return (trust * log_p(ids).exp() + (1 - trust) * _frequencies().exp()).log()


@exercise(
    partial(_mixed, trust=0.6),
    name="cost_task",
    hints=(
        "Print the shapes of the draft's logits and the dictionary's for one batch. Which token does each say at place "
        "t, the one read or the one after?",
        "Print the loss every hundred steps. A draft that knows nothing is near 4.9, and a trained one near 1.6.",
        "What do the targets of one place hold: a token, or 2,048 probabilities? And which loss takes them?",
        "Begin with one batch: the rows say where the dictionary's logits lie. Make the loss a number, and then take a "
        "first step.",
    ),
)
def cost_task(rng):
    """The same held-out texts for everybody, because a share differs by .007 from sixteen texts to others."""
    ids, tokens, p = _drawn()
    yield from _asked("", True, *(x[:PUBLIC] for x in (ids, tokens, p)))
    yield from _asked(", other texts", False, *(x[PUBLIC:] for x in (ids, tokens, p)))


def _asked(of, public, ids, tokens, p):
    held = {"of": "logits", "tokens": tokens, "p": p}
    first = given_model(f"{PASS:.0%} of the guesses stay{of}", public=public, weight=2.0).call(ids, into="logits")
    bare = first.laws_only()
    first = bare.law("accepted_share_at_least", bar=PASS, **held)
    yield (
        first.shows("accepted_share_at_least", full=FULL, called="the share of guesses that stay") if public else first
    )
    if not public:
        yield first.judged_again(f"{FULL:.0%} of the guesses stay{of}", bar=FULL, weight=4.0)
    yield first.judged_again(f"{SOME:.0%} of the guesses stay{of}", bar=SOME, weight=0.2)
    knows = first.judged_again(f"{KNOWS}{of}", bar=0.12, weight=0.2)
    yield knows
    for place, by in (("before", 1), ("behind", -1)):
        told = f"the draft is nearer to what the dictionary says at the place {place}"
        case = bare.judged_again(f"not the place {place}{of}", weight=0.1)
        other = {"other": tokens.roll(by, 1), "other_p": p.roll(by, 1)}
        yield case.law("accepted_rather_than", because=told, **held, **other)
    sure = bare.judged_again(f"not sure of one token{of}", weight=0.0).counts_with(knows.title)
    yield sure.law("no_surer_than", of="logits", bar=SURE)


def _one_place_later(ids):
    """What the dictionary will say, as well as a draft can guess it: a tenth is about the right place."""
    p = log_p(ids).exp()
    return (0.1 * p + 0.9 * p.roll(-1, 1)).log()


def _sure_of_one(ids):
    """The likeliest token at two of three places, as a draft says that was trained on nothing else."""
    best = log_p(ids).argmax(-1)
    lost = (ids.cumsum(1) + torch.arange(ids.shape[1])) % 3 == 0
    return 12.0 * F.one_hot(torch.where(lost, best.roll(1, 1), best), len(wordnet.pieces())).float()


cost_task.mistakes(
    "The draft guesses as if it knew nothing. Does the loss fall? Compare its parameters before and after a step.",
    never_trained=lambda ids: torch.zeros(*ids.shape, len(wordnet.pieces())),
)
cost_task.mistakes(
    "Your draft says what the dictionary said one place earlier. Both have read x_1 to x_t at place t. Are the targets "
    "shifted?",
    targets_of_the_place_before=lambda ids: log_p(ids).roll(1, 1),
)
cost_task.mistakes(
    "Your draft says what the dictionary says one place later. Both have read x_1 to x_t at place t. Are the targets "
    "shifted?",
    targets_of_the_place_behind=_one_place_later,
)
cost_task.mistakes(
    "Your draft is very sure of itself. Was it told all that the dictionary thinks possible, or one token a place?",
    likeliest_token_as_target=_sure_of_one,
)
cost_task.mistakes(
    "It knows how frequent each token is, and little of what stands before. Does a gradient reach the matrices of the "
    "places? How large is a step?",
    frequencies_alone=lambda ids: _mixed(ids, 0.0),
)
cost_task.mistakes(
    "On the right track, and not there yet. Is the loss still falling at the end? How large is a step, and do both "
    "sides read the same temperature?",
    stopped_on_the_way=lambda ids: _mixed(ids, 0.15),
)
cost_task.mistakes(
    "Near the bar of full marks, and not there. Does the learning rate fall to zero at the end, and does training use "
    "the whole budget?",
    nearly_there=lambda ids: _mixed(ids, 0.27),
)
