"""What people write for topics 15 and 16, otherwise than the misconceptions do: named as what it is, or not at all."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch

from course.hidden import find
from course.judge import report
from course.reference import bert, gpt
from tests.few import few
from tests.hidden.judged import verdict_on

SEEDS = (3, 42, None)
each_seed = pytest.mark.parametrize("seed", few(SEEDS, 3, None))
NOTHING = ""

# -- 15: the next token ------------------------------------------------------------------------------------------------


def _sampled(logits, temperature, top_k, top_p, generator, *, cut_k=True, removed=lambda sums, p: sums > p):
    """As public code has it: what is to go is masked, then a token is drawn."""
    if temperature == 0:
        return logits.argmax(-1)
    logits = logits / temperature
    if top_k is not None and cut_k:
        logits = logits.masked_fill(logits < logits.topk(min(top_k, logits.shape[1])).values[:, [-1]], -math.inf)
    if top_p is not None:
        ranked, tokens = logits.sort(descending=True)
        gone = removed(ranked.softmax(-1).cumsum(-1), top_p)
        logits = logits.masked_fill(gone.scatter(1, tokens, gone), -math.inf)
    return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]


def removes_the_token_that_crosses(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    def removed(sums, p):
        gone = sums > p
        gone[:, 0] = False
        return gone

    return _sampled(logits, temperature, top_k, top_p, generator, removed=removed)


def shifted_by_one_and_strictly_above(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    def removed(sums, p):
        gone = sums > p
        gone[:, 1:] = gone[:, :-1].clone()
        gone[:, 0] = False
        return gone

    return _sampled(logits, temperature, top_k, top_p, generator, removed=removed)


def mask_is_lost(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return _sampled(logits, temperature, top_k, top_p, generator, cut_k=False, removed=lambda sums, p: sums > math.inf)


# -- 15: GPT -----------------------------------------------------------------------------------------------------------


class Renewed(gpt.GPT):
    """Puts the new keys and values into the list that it was given."""

    def forward(self, ids, cache=None):
        logits, present = super().forward(ids, cache)
        cache = [None] * len(present) if cache is None else cache
        for layer, pair in enumerate(present):
            cache[layer] = pair
        return logits, cache


class Remembers(gpt.GPT):
    """Keeps the cache itself, and is told by another argument than None that a text goes on."""

    def forward(self, ids, cache=None):
        if cache is None:
            self.kept = None
        logits, self.kept = super().forward(ids, self.kept)
        return logits, True


class NeverForgets(gpt.GPT):
    kept = None

    def forward(self, ids, cache=None):
        logits, self.kept = super().forward(ids, self.kept)
        return logits, self.kept


class Frozen(gpt.GPT):
    """Reads its table as a plain tensor at the end."""

    def forward(self, ids, cache=None):
        weight = self.words.weight
        table = weight.data
        self.words.weight = torch.nn.Parameter(table, requires_grad=False)
        logits, present = super().forward(ids if ids.is_floating_point() else weight[ids], cache)
        self.words.weight = weight
        return logits, present


# -- 15: the law -------------------------------------------------------------------------------------------------------


def coarse(N, losses):
    """The best of four exponents."""
    fits = []
    for alpha in (0.1, 0.25, 0.75, 1.0):
        columns = torch.stack([torch.ones_like(N), N**-alpha], 1)
        line = torch.linalg.lstsq(columns, losses[:, None]).solution
        fits.append((float((columns @ line - losses[:, None]).square().sum()), float(line[0]), float(line[1]), alpha))
    return dict(zip(("E", "A", "alpha"), min(fits)[1:], strict=True))


def twice_A(N, losses):
    found = gpt.fit_power_law(N, losses)
    return {**found, "A": 2 * found["A"]}


def half_of_alpha(N, losses):
    found = gpt.fit_power_law(N, losses)
    return {**found, "alpha": found["alpha"] / 2}


def common_logarithm(N, losses):
    found = gpt.fit_power_law(N, losses)
    return {**found, "A": math.log10(found["A"])}


def sizes_in_units_of_the_largest(N, losses):
    return gpt.fit_power_law(N / N.max(), losses)


# -- 16 ----------------------------------------------------------------------------------------------------------------


def segments_by_hand(first, second, cls, sep):
    ids, segments, mask = bert.pack_pairs(first, second, cls, sep)
    for row, a in enumerate(first if second is not None else ()):
        segments[row, len(a) + 1] = 1
    return ids, segments, mask


def always_the_first_sentinel(ids, starts, lengths, sentinels):
    inputs, targets, kept = [], [], 0
    for start, length in zip(starts, lengths, strict=True):
        inputs += [*ids[kept:start], sentinels[0]]
        targets += [sentinels[0], *ids[start : start + length]]
        kept = start + length
    return inputs + ids[kept:], [*targets, sentinels[len(starts)]]


def half_of_the_labels(documents, generator):
    """A shuffled half of the pairs is true."""
    neighbours = [(a, b, i) for i, d in enumerate(documents) for a, b in pairwise(d)]
    labels = torch.randperm(len(neighbours), generator=generator) % 2
    pairs = []
    for (a, b, i), label in zip(neighbours, labels.tolist(), strict=True):
        others = [s for k, d in enumerate(documents) if k != i for s in d if s != b]
        pairs.append((a, b if label else others[int(torch.randint(len(others), (), generator=generator))]))
    return pairs, labels


def squad_as_in_tutorials(start, end, mask, longest):
    first, last = (scores.where(mask, -torch.inf).argmax(1) for scores in (start, end))
    return torch.where((first <= last)[:, None], torch.stack([first, last], 1), 0)


@each_seed
@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("next_token", removes_the_token_that_crosses, "drops_the_token_that_crosses_but_the_first"),
        ("next_token", shifted_by_one_and_strictly_above, "one_more_where_top_p_is_met"),
        ("next_token", mask_is_lost, "neither_changes_anything"),
        ("GPT", Renewed, "CacheReturnedAsGiven"),
        ("GPT", Remembers, "CacheKeptInTheModel"),
        ("GPT", NeverForgets, "CacheSharedByAllTexts"),
        ("fit_power_law", coarse, NOTHING),
        ("fit_power_law", twice_A, NOTHING),
        ("fit_power_law", half_of_alpha, NOTHING),
        ("fit_power_law", common_logarithm, "logarithm_of_A"),
        ("fit_power_law", sizes_in_units_of_the_largest, "A_for_sizes_in_other_units"),
        ("pack_pairs", segments_by_hand, "first_sep_of_pairs_in_the_second_segment"),
        ("span_corrupt", always_the_first_sentinel, "one_sentinel_for_all_but_the_end"),
        ("next_sentence_pairs", half_of_the_labels, "labels_take_turns_from_a_coin_on"),
        ("best_span", squad_as_in_tutorials, "chosen_apart_and_none_where_reversed"),
    ],
)
def test_what_people_write_is_named_as_what_it_is(name, answer, mistake, seed):
    verdict = verdict_on(name, answer, seed)
    assert verdict.score < verdict.points
    assert verdict.misconception == mistake
    assert not verdict.unconfirmed


def test_a_table_that_gets_no_gradient_is_not_called_a_second_table():
    verdict = verdict_on("GPT", Frozen, 3)
    assert verdict.misconception == "OutputDetached"
    assert "still equal" not in report.text(verdict, public=False)


@pytest.mark.parametrize(("layers", "moves"), [(1, False), (2, True)])
def test_the_order_of_the_first_tokens_shows_behind_two_layers_without_positions(layers, moves):
    wrong, hint = {known.name: (known.wrong, known.hint) for known in find("GPT").misconceptions}["KnowsNoPositions"]
    torch.manual_seed(0)
    model = wrong(7, 8, layers, 2, 1, 11).double()
    (one, other), _ = model(torch.tensor([[1, 2, 3], [2, 1, 3]]))
    assert torch.allclose(one[-1], other[-1]) != moves
    assert "of one layer" in hint
