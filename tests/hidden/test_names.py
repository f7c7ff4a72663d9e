"""Names of mistakes: wrong answers as people write them, and words that their feedback must hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn

from course.data import dates
from course.hidden.bahdanau_attention.bahdanau_attention_task import ReadsByRule
from course.judge import report
from course.reference import bahdanau_attention
from course.reference.lora import LoRALinear
from tests.few import few
from tests.hidden.judged import verdict_on

SEEDS = (3, 42, None)
PASSES = ""
"""In place of words: nothing is wrong with the answer, or `check` does not see it."""


@dataclass(frozen=True)
class Heard:
    """An answer, words that `check` and grading must say, and words or a misconception that neither may say."""

    exercise: str
    answer: Any
    check: str
    grading: str
    untrue: str = "this is never said"


# -- 01 and 02 ---------------------------------------------------------------------------------------------------------


class Counted:
    """An n-gram model's counts of the tokens that follow each context of up to n - 1 tokens."""

    def __init__(self, n, vocab_size, alpha):
        self.n, self.vocab_size, self.alpha = n, vocab_size, alpha

    def fit(self, ids):
        self.counts, tokens = {(): torch.zeros(self.vocab_size)}, ids.tolist()
        for k in range(self.n):
            for i in range(len(tokens) - k):
                row = self.counts.setdefault(tuple(tokens[i : i + k]), torch.zeros(self.vocab_size))
                row[tokens[i + k]] += 1
        return self

    def rows(self, context):
        """Return the counts after the last 0, 1, … n - 1 tokens, without contexts that were never seen."""
        tokens = context.tolist()
        found = [self.counts.get(tuple(tokens[len(tokens) - k :])) for k in range(min(len(tokens), self.n - 1) + 1)]
        return [row for row in [found[0] + self.alpha, *found[1:]] if row is not None]


class OneWeightForEachOrder(Counted):
    """A model that gives each order the same weight, also an order without counts."""

    def next_distribution(self, context):
        rows = self.rows(context)
        return sum(row / row.sum() for row in rows) / (self.n if len(context) else 1)


class SharesOfAllWindows(Counted):
    def next_distribution(self, context):
        first, *others = self.rows(context)
        P = first / first.sum()
        for row in others:
            P = 0.5 * row / self.counts[()].sum() + 0.5 * P
        return P


# -- 03 and 04 ---------------------------------------------------------------------------------------------------------


def _written(step, h0, start, length, generator, weigh):
    token, h, text = torch.tensor([start]), h0, []
    for _ in range(length):
        logits, h = step(token, h)
        token = torch.multinomial(weigh(logits[0]), 1, generator=generator)
        text.append(token)
    return torch.cat(text)


def by_exponentials(step, h0, start, length, temperature, generator):
    def weigh(logits):
        powers = torch.exp(logits / temperature)
        return powers / powers.sum()

    return _written(step, h0, start, length, generator, weigh)


def root_of_the_temperature(step, h0, start, length, temperature, generator):
    return _written(step, h0, start, length, generator, lambda z: torch.softmax(z / math.sqrt(temperature), 0))


class MinGRU(nn.Module):
    """A minGRU: gate and candidate depend on the token alone (Feng et al. 2024)."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.gate, self.candidate = nn.Embedding(vocab_size, hidden), nn.Embedding(vocab_size, hidden)
        self.out = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        z, n = torch.sigmoid(self.gate(ids)), self.candidate(ids)
        h, states = torch.zeros_like(z[:, 0]), []
        for t in range(ids.shape[1]):
            h = (1 - z[:, t]) * h + z[:, t] * n[:, t]
            states.append(h)
        return self.out(torch.stack(states, 1)[torch.arange(len(ids)), lengths - 1])


# -- 05 ----------------------------------------------------------------------------------------------------------------


class ReadsABagOfTokens(bahdanau_attention.AttentionSeq2Seq):
    """A translator that reads the mean of all tokens so far in training, and the last token in decoding."""

    def forward(self, src, src_lengths, tgt):
        keys, mask, last = self.encode(src, src_lengths)
        before = self.embed_tgt(bahdanau_attention.shift_right(tgt, self.sos))
        bags = before.cumsum(1) / torch.arange(1, tgt.shape[1] + 1)[:, None]
        state, logits = torch.tanh(self.start(last)), []
        for bag in bags.unbind(1):
            context = last
            if self.attention:
                weights = self.W_q.weight, self.W_k.weight, self.v
                scores = bahdanau_attention.additive_scores(state, keys, *weights)
                context, _ = bahdanau_attention.attend(scores, keys, mask)
            state = self.decoder(torch.cat([bag, context], 1), state)
            logits.append(self.to_tokens(torch.cat([state, context, bag], 1)))
        return torch.stack(logits, 1)


def _exchanged(date):
    return dates.target_ids(f"{date.year}-{date.day:02}-{date.month:02}")


class DayForMonth(ReadsByRule):
    @classmethod
    def says(cls, date, text):
        return _exchanged(date)


class DayForMonthInWords(ReadsByRule):
    @classmethod
    def says(cls, date, text):
        return _exchanged(date) if len(text) > 20 else super().says(date, text)


class DayForMonthInNumbers(ReadsByRule):
    @classmethod
    def says(cls, date, text):
        return _exchanged(date) if len(text) < 13 and date.day < 13 else super().says(date, text)


class LooksEverywhere(ReadsByRule):
    @classmethod
    def decode_greedy(cls, src, src_lengths, max_len):
        ids, weights = super().decode_greedy(src, src_lengths, max_len)
        real = (torch.arange(src.shape[1]) < src_lengths[:, None]) / src_lengths[:, None]
        return ids, real[:, None].repeat(1, weights.shape[1], 1)


class LooksOneStepLate(ReadsByRule):
    @classmethod
    def decode_greedy(cls, src, src_lengths, max_len):
        ids, weights = super().decode_greedy(src, src_lengths, max_len)
        return ids, weights.roll(1, dims=1)


# -- 09 ----------------------------------------------------------------------------------------------------------------


def softmax_of_masked_products(scores, mask, dim=-1):
    """Return the masked softmax of AllenNLP, which multiplies scores by the mask."""
    mask = mask.to(scores.dtype)
    weights = torch.softmax(scores * mask, dim=dim) * mask
    return weights / (weights.sum(dim=dim, keepdim=True) + 1e-13)


def _corrupted(ids, special, vocab_size, generator, p):
    chosen = (torch.rand(ids.shape, generator=generator) < p) & ~special
    words = torch.randint(vocab_size, ids.shape, generator=generator)
    return chosen, words, ids.masked_fill(~chosen, -100)


def words_first_and_masked_over(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen, words, labels = _corrupted(ids, special, vocab_size, generator, p)
    inputs = torch.where(chosen & (torch.rand(ids.shape, generator=generator) < 0.5), words, ids)
    return inputs.masked_fill(chosen & (torch.rand(ids.shape, generator=generator) < 0.9), mask_id), labels


def of_a_hundred(ids, special, vocab_size, mask_id, generator, p=0.15):
    """Corrupt tokens at 81 : 10 : 9 in place of 80 : 10 : 10, because `fate <= 80` counts 0, too."""
    chosen, words, labels = _corrupted(ids, special, vocab_size, generator, p)
    fate = torch.randint(0, 100, ids.shape, generator=generator)
    inputs = torch.where(chosen & (fate <= 80), mask_id, torch.where(chosen & (fate > 80) & (fate <= 90), words, ids))
    return inputs, labels


# -- 10 ----------------------------------------------------------------------------------------------------------------


def _normed(x, gamma, beta, deviation):
    centred = x - x.mean(-1, keepdim=True)
    return gamma * centred / deviation(centred.pow(2).mean(-1, keepdim=True)) + beta


def eps_of_another_library(x, gamma, beta, eps=1e-5):
    return _normed(x, gamma, beta, lambda variance: (variance + 1e-6).sqrt())


def deviation_of_at_least_eps(x, gamma, beta, eps=1e-5):
    return _normed(x, gamma, beta, lambda variance: variance.sqrt().clamp(min=eps))


def twice_the_rate(step, d_model, warmup):
    return 2 * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def _beams(model, row, beam, ends):
    """Return beams of (words, log p), the best first. `ends` says when to stop, from which beams have ended."""
    beams = [([], 0.0)]
    for _ in range(model.max_len):
        grown = []
        for words, so_far in beams:
            if words and words[-1] == model.eos:
                grown.append((words, so_far))
                continue
            log_p = model(row[None], torch.tensor([[model.sos, *words]]))[0, -1].log_softmax(-1)
            grown += [([*words, i], so_far + p) for i, p in enumerate(log_p.tolist())]
        beams = sorted(grown, key=lambda one: one[1], reverse=True)[:beam]
        if ends([words[-1] == model.eos for words, _ in beams]):
            break
    return beams


@torch.no_grad()
def beam_until_the_best_ends(model, src, beam, length_penalty=1.0):
    found = []
    for row in src:
        beams = _beams(model, row, beam, ends=lambda ended: ended[0])
        beams = [one for one in beams if one[0][-1] == model.eos] or beams
        found.append(torch.tensor(max(beams, key=lambda one: one[1] / len(one[0]) ** length_penalty)[0]))
    return nn.utils.rnn.pad_sequence(found, batch_first=True, padding_value=model.pad)


@torch.no_grad()
def beam_with_the_penalty_of_wu(model, src, beam, length_penalty=1.0):
    found = []
    for row in src:
        beams = _beams(model, row, beam, ends=all)
        beams = [one for one in beams if one[0][-1] == model.eos] or beams
        found.append(torch.tensor(max(beams, key=lambda one: one[1] / ((5 + len(one[0])) / 6) ** length_penalty)[0]))
    return nn.utils.rnn.pad_sequence(found, batch_first=True, padding_value=model.pad)


# -- 12 ----------------------------------------------------------------------------------------------------------------


def state_by_class(model):
    layers = {name: module for name, module in model.named_modules() if isinstance(module, LoRALinear)}
    return {f"{name}.{part}": getattr(layer, part).detach() for name, layer in layers.items() for part in ("A", "B")}


# -- what they hear ----------------------------------------------------------------------------------------------------

LESS_THAN_ONE = "After a context your probabilities sum to less than one."
OTHER_EPS = "Call it with eps = 0.5. Does the result change?"
COMPARED = "Print each hypothesis that you compare at the end"
ELSEWHERE = "most digits look elsewhere than at their word"
SHARES = "of the chosen tokens, 80 % should be masks"

HEARD = [
    Heard("NGramModel", OneWeightForEachOrder, LESS_THAN_ONE, LESS_THAN_ONE),
    Heard("NGramModel", SharesOfAllWindows, LESS_THAN_ONE, LESS_THAN_ONE),
    Heard("generate", by_exponentials, PASSES, PASSES),
    Heard("generate", root_of_the_temperature, "do not follow", "do not follow", untrue="bolder or tamer"),
    Heard(
        "GatedClassifier",
        MinGRU,
        "What does each of your gates read?",
        "What does each of your gates read?",
        untrue="where are the weights",
    ),
    Heard(
        "AttentionSeq2Seq",
        ReadsABagOfTokens,
        "its embedding and the state",
        "another token more likely",
        "AlwaysFeedsSos",
    ),
    Heard("bahdanau_attention_task", DayForMonth, "where another belongs?", "where another belongs?"),
    Heard("bahdanau_attention_task", DayForMonthInWords, PASSES, "Print ten of those beside the truth"),
    Heard("bahdanau_attention_task", DayForMonthInNumbers, PASSES, "do day and month change places?"),
    Heard("bahdanau_attention_task", LooksEverywhere, ELSEWHERE, ELSEWHERE, untrue="the other end"),
    Heard("bahdanau_attention_task", LooksOneStepLate, ELSEWHERE, ELSEWHERE, untrue="the other end"),
    Heard("masked_softmax", softmax_of_masked_products, "all scores far below zero", "all scores far below zero"),
    Heard("mlm_corrupt", words_first_and_masked_over, "More than 80 % of the chosen tokens become masks.", SHARES),
    Heard("mlm_corrupt", of_a_hundred, PASSES, SHARES),
    Heard("layer_norm", eps_of_another_library, OTHER_EPS, OTHER_EPS),
    Heard("layer_norm", deviation_of_at_least_eps, OTHER_EPS, OTHER_EPS),
    Heard(
        "warmup_schedule",
        twice_the_rate,
        "which is 2 times what it should be",
        "which is 2 times what it should be",
        "With which number",
    ),
    Heard("decode_beam", beam_until_the_best_ends, COMPARED, COMPARED),
    Heard("decode_beam", beam_with_the_penalty_of_wu, COMPARED, "values are off"),
    Heard("lora_state", state_by_class, "of another class than yours", "of another class than yours"),
]


@pytest.mark.parametrize("seed", few(SEEDS, 3, None))
@pytest.mark.parametrize("row", HEARD, ids=lambda row: f"{row.exercise}-{row.answer.__name__}")
def test_what_an_answer_hears(row, seed):
    verdict = verdict_on(row.exercise, row.answer, seed)
    words = row.check if seed is None else row.grading
    assert (verdict.kind == "passed") == (words == PASSES)
    said = f"{report.text(verdict, public=seed is None)} {verdict.misconception}"
    assert words in said
    assert row.untrue not in said
