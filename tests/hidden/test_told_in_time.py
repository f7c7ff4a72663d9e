"""`check` asks for what a hidden case asks beyond the text, and no draw makes an impossible case."""

from __future__ import annotations

import random

import pytest
import torch
from torch.nn import functional as F

from course.data import phrases
from course.hidden import exercises
from course.reference.bahdanau_attention import AttentionSeq2Seq, attend
from course.reference.lora import LoRALinear
from course.reference.markov_ngrams import sample_text
from course.syllabus import OURS
from tests.hidden.judged import verdict_on
from tests.original import find

PLACES = 24
"""As many as the notebook's model for the task of topic 10 has."""


def loss_by_view(logits, targets, mask):
    flat = F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1), reduction="none")
    return (flat * mask.view(-1)).sum() / mask.sum()


def rope_by_complex_numbers(x, positions=None, base=10000.0):
    D = x.shape[-1]
    if D % 2:
        raise ValueError
    positions = torch.arange(x.shape[-2]) if positions is None else positions
    angles = torch.outer(positions.double(), base ** (-torch.arange(0, D, 2).double() / D))
    numbers = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(numbers * torch.polar(torch.ones_like(angles), angles)).flatten(3).type_as(x)


def windows_strided(ids, radius):
    if len(ids) < 2 * radius:
        raise ValueError
    rows = ids.as_strided((len(ids) - 2 * radius, 2 * radius + 1), (1, 1))
    return torch.cat([rows[:, :radius], rows[:, radius + 1 :]], 1), rows[:, radius]


def inputs_projected_at_once(xs, h0, W_x, W_h, b):
    B, T, D = xs.shape
    projected, h, hs = (xs.view(B * T, D) @ W_x.T).view(B, T, -1), h0, []
    for x in projected.unbind(1):
        h = torch.tanh(x + h @ W_h.T + b)
        hs.append(h)
    return torch.stack(hs, 1), h


def keys_projected_at_once(query, keys, W_q, W_k, v):
    B, S, K = keys.shape
    return torch.tanh((query @ W_q.T)[:, None] + (keys.view(B * S, K) @ W_k.T).view(B, S, -1)) @ v


def words_at_once(x, W1, b1, W2, b2):
    return (torch.relu(x.view(-1, x.shape[-1]) @ W1.T + b1) @ W2.T + b2).view(x.shape)


def channels_as_images(images, p):
    B, C, H, W = images.shape
    if H % p or W % p:
        raise ValueError
    pieces = F.unfold(images.view(B * C, 1, H, W), p, stride=p)  # (B·C, p·p, N)
    return pieces.view(B, C * p * p, -1).mT


def windows_of_sound(spec, p, stride):
    B, bands, times = spec.shape
    if min(bands, times) < p:
        raise ValueError
    sizes = ((bands - p) // stride + 1, (times - p) // stride + 1)
    steps = (bands * times, stride * times, stride, times, 1)
    return spec.as_strided((B, *sizes, p, p), steps).reshape(B, -1, p * p)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("context_windows", windows_strided),
        ("rnn_forward", inputs_projected_at_once),
        ("additive_scores", keys_projected_at_once),
        ("rope", rope_by_complex_numbers),
        ("masked_cross_entropy", loss_by_view),
        ("feed_forward", words_at_once),
        ("patchify", channels_as_images),
        ("spectrogram_patches", windows_of_sound),
    ],
)
def test_who_needs_contiguous_memory_hears_of_it_from_check(name, answer):
    verdict = verdict_on(name, answer, None)
    (failed,) = (case for case in verdict.cases if not case.passed)
    assert failed.title == "memory that is not contiguous"
    said, _, _ = failed.message.partition(", at your line")
    assert "reshape" not in said and ("view" not in said or "memory" in said)
    assert not verdict.misconception


@pytest.mark.parametrize("exercise", [e for topic in OURS for e in exercises(topic)], ids=lambda e: e.name)
def test_what_is_not_contiguous_in_a_hidden_case_is_so_in_a_public_one(exercise):
    cases = exercise.cases()
    public, hidden = (_scattered(case for case in cases if case.public is wanted) for wanted in (True, False))
    assert hidden <= public


def _scattered(cases):
    """Return where cases pass an argument that is not contiguous: object, method, and the argument's place or name."""
    steps = [step for case in cases for step in case.steps]
    given = ((step, place, value) for step in steps for place, value in [*enumerate(step.args), *step.kwargs.items()])
    arrives = ((step, place, value[0] if step.verb == "map" else value) for step, place, value in given)
    return {(step.on, step.method, place) for step, place, value in arrives if _is_scattered(value)}


def _is_scattered(value):
    if isinstance(value, list | tuple):
        return any(map(_is_scattered, value))
    return isinstance(value, torch.Tensor) and not value.is_contiguous()


def test_a_schedule_that_is_a_step_ahead_does_not_pass_check():
    reference = find("warmup_schedule").reference
    verdict = verdict_on("warmup_schedule", lambda t, d, w: reference(t + 1, d, w), None)
    assert (verdict.kind, verdict.misconception) == ("partial", "counts_from_zero")


@pytest.mark.parametrize(
    ("name", "answer", "title"),
    [
        ("dot_scores", lambda query, keys: (keys @ query[:, :, None]).squeeze(), "a sentence of one word"),
        ("general_scores", lambda query, keys, W: (keys @ (query @ W)[:, :, None]).squeeze(), "a sentence of one word"),
        ("attend", lambda *given: tuple(result.squeeze() for result in attend(*given)), "a batch of one"),
    ],
)
def test_who_squeezes_everything_hears_of_it_from_check(name, answer, title):
    verdict = verdict_on(name, answer, None)
    assert [case.title for case in verdict.cases if not case.passed] == [title]


class AlwaysAttends(AttentionSeq2Seq):
    def step(self, token, state, keys, mask, last):
        self.attention = self.attention or self.W_q.weight.shape[0]
        return super().step(token, state, keys, mask, last)


def test_a_translator_that_needs_attention_does_not_pass_check():
    verdict = verdict_on("AttentionSeq2Seq", AlwaysAttends, None)
    (failed,) = (case for case in verdict.cases if not case.passed)
    assert failed.title == "the end of the source, without attention"
    assert "W_q" in failed.message


class KeptUnderAnotherName(LoRALinear):
    """A LoRA layer that keeps its base as `linear`, and alpha / r in place of alpha and r."""

    def __init__(self, base, r, alpha):
        super().__init__(base, r, alpha)
        self.linear, self.scaling = base, alpha / r
        del self.base, self.r, self.alpha

    def forward(self, x):
        return self.linear(x) + self.scaling * (x @ self.A.T @ self.B.T)


def test_what_is_to_be_kept_by_name_is_asked_for_by_check():
    verdict = verdict_on("LoRALinear", KeptUnderAnotherName, None)
    said = [case.message for case in verdict.cases if not case.passed]
    assert any("the check needs `r`" in message for message in said)
    assert any("the check needs `base.weight`" in message for message in said)


def biases_counted_and_nothing_frozen(model):
    return sum(p.numel() for name, p in model.named_parameters() if name.endswith(".bias"))


@pytest.mark.parametrize(
    ("name", "answer", "told"),
    [
        ("best_rank_r", lambda W, r: torch.linalg.svd(W), "expected two matrices B and A"),
        (
            "add_bitfit",
            biases_counted_and_nothing_frozen,
            "the names of trainable parameters are wrong, with 11 too many",
        ),
    ],
)
def test_what_came_is_told_in_the_exercises_own_words(name, answer, told):
    verdict = verdict_on(name, answer, None)
    assert any(told in case.message for case in verdict.cases)


class WeightsStepByStep(AttentionSeq2Seq):
    def decode_greedy(self, src, src_lengths, max_len):
        ids, weights = super().decode_greedy(src, src_lengths, max_len)
        return ids, weights.transpose(0, 1)


def test_weights_in_another_order_of_axes_are_not_taken_for_a_mask_forgotten():
    verdict = verdict_on("AttentionSeq2Seq", WeightsStepByStep, None)
    assert "weights (B, L, S)" in verdict.message
    assert not verdict.misconception


def always_seeded_with_42(P, start, length, generator):
    return sample_text(P, start, length, generator.manual_seed(42))


@pytest.mark.parametrize("seed", [3, 42, 987654321])
def test_a_mistake_is_known_though_its_numbers_are_others(seed):
    assert verdict_on("sample_text", always_seeded_with_42, seed).misconception == "a_seed_of_its_own"


def test_a_padded_source_fits_into_the_model_however_long_a_sentence_is_drawn(monkeypatch):
    draw = phrases.draw

    def with_a_long_one(count, chance, *share):
        (english, french, places), *others = drawn = draw(count, chance, *share)
        if count != 20:
            return drawn
        return [(english + english[-1:] * (PLACES - 2 - len(english)), french, places), *others]

    monkeypatch.setattr(phrases, "draw", with_a_long_one)
    cases = find("encoder_decoder_task").make_cases(_Rng())
    padded = next(case for case in cases if getattr(case, "title", "") == "padding behind the source")
    assert max(step.args[0].shape[1] for step in padded.steps) <= PLACES


class _Rng:
    """A stand-in for `Rng` that draws seeds only."""

    def __init__(self):
        self.chance = random.Random(3)

    def seed(self):
        return self.chance.randrange(2**31)


def smallest_gap(vectors, index):
    """Return the smallest difference between two words' cosines with the chosen word."""
    cosines = F.cosine_similarity(vectors.double(), vectors[index].double()[None], dim=1).detach()
    others = torch.arange(len(vectors)) != index
    return float(cosines[others].sort().values.diff().min())


def test_no_two_words_are_so_nearly_as_near_that_rounding_ranks_them():
    asked = [case.steps[0].args for seed in range(99) for case in find("nearest").cases(seed)]
    assert min(smallest_gap(vectors, index) for vectors, index, _ in asked) > 9e-6
