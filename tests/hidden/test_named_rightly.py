"""Wrong answers written otherwise than the misconceptions are still recognised, at grading and by `check`."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course import blocks
from course.data import advice
from course.judge import report
from course.reference import assistant, gpt
from tests.few import few
from tests.hidden.judged import verdict_on
from tests.original import find
from tests.training.judged import trained

SEEDS = (3, 42, None)
each_seed = pytest.mark.parametrize("seed", few(SEEDS, 3, None))


def is_named(name: str, answer, mistake: str, seed: int | None) -> None:
    """Assert that an answer is recognised as `mistake` at grading, and by `check` unless it passes there."""
    verdict = verdict_on(name, answer, seed)
    if seed is None and verdict.kind == "passed":
        return
    assert verdict.score < verdict.points
    assert verdict.misconception == mistake


# -- 01: perplexity ----------------------------------------------------------------------------------------------------


def one_token_too_few_below(log_probs):
    return float(torch.exp(-log_probs.sum())) / max(len(log_probs) - 1, 1)


def softmax_first(P, start, length, generator):
    text, row = [], P[start]
    for _ in range(length):
        text.append(torch.multinomial(torch.softmax(row, 0), 1, generator=generator))
        row = P[text[-1].item()]
    return torch.cat(text)


# -- 01: n-gram models -------------------------------------------------------------------------------------------------


class LookedUp:
    """An n-gram model in plain dicts that mixes the longest known window with the shorter ones, half and half."""

    def __init__(self, n, vocab_size, alpha):
        self.n, self.vocab_size, self.alpha = n, vocab_size, alpha

    def fit(self, ids):
        tokens, self.tables = ids.tolist(), {}
        for order in range(self.longest() + 1):
            for window in zip(*(tokens[k:] for k in range(order + 1)), strict=False):
                row = self.tables.setdefault(window[:-1], torch.zeros(self.vocab_size))
                row[window[-1]] += 1
        return self

    def longest(self):
        return self.n - 1

    def next_distribution(self, context):
        tokens = tuple(context.tolist())
        P = self.tables[()] + self.alpha
        P = P / P.sum()
        for k in range(1, min(len(tokens), self.longest()) + 1):
            row = self.tables.get(tokens[-k:])
            P = P if row is None else 0.5 * P + 0.5 * row / row.sum()
        return P


class UniformForShortContexts(LookedUp):
    def next_distribution(self, context):
        if len(context) < self.n - 1:
            return torch.ones(self.vocab_size) / self.vocab_size
        return super().next_distribution(context)


class ContextOfLengthN(LookedUp):
    def longest(self):
        return self.n


class NothingCountsAsMuch(LookedUp):
    """An n-gram model that takes the mean of all orders, also of those without counts."""

    def next_distribution(self, context):
        tokens, nothing = tuple(context.tolist()), torch.zeros(self.vocab_size)
        rows = [self.tables[()] + self.alpha]
        rows += [self.tables.get(tokens[-k:], nothing) for k in range(1, min(len(tokens), self.longest()) + 1)]
        return torch.stack([row / row.sum().clamp(min=1) for row in rows]).mean(0)


# -- 02: bags and windows ----------------------------------------------------------------------------------------------


def _counts(ids, size):
    return torch.bincount(torch.tensor(ids, dtype=torch.long), minlength=size)


def shares_of_words(sentences, vocab):
    counts = torch.stack([_counts([vocab.get(word, 0) for word in words], len(vocab)) for words in sentences])
    return counts / counts.sum(1)[:, None]


def never_quite_zero(logits, targets):
    p = logits.softmax(1).gather(1, targets[:, None]).squeeze(1)
    return -(p + 1e-8).log().mean()


def columns_divided(E, index, k):
    E = F.normalize(E, dim=0)
    scores = E @ E[index]
    scores[index] = -1e9
    return scores.topk(k).indices


def all_but_the_head(E, index, k):
    return F.cosine_similarity(E, E[index][None]).topk(k + 1).indices[1:]


@pytest.mark.parametrize("made", [torch.Tensor.tolist, torch.Tensor.numpy])
def test_a_table_of_another_kind_is_no_error_of_the_answers(made):
    counted = find("bag_of_words").reference
    for seed in (3, None):
        verdict = verdict_on("bag_of_words", lambda sentences, vocab: made(counted(sentences, vocab)), seed)
        assert verdict.kind == "wrong" and verdict.message.startswith("expected a tensor, got an object of type")


# -- 03: cells, and the way back ---------------------------------------------------------------------------------------


def reads_x_alone(x, h, W_x, W_h, b):
    return torch.tanh(F.linear(x, W_x, b))


def one_state_behind(xs, h0, W_x, W_h, b, grad_h):
    hs = [h0]
    for x in xs.unbind(1):
        hs.append(torch.tanh(x @ W_x.T + hs[-1] @ W_h.T + b))
    found = {"W_x": 0, "W_h": 0, "b": 0}
    for t in reversed(range(xs.shape[1])):
        delta = (1 - hs[t] ** 2) * grad_h
        found["W_x"] += delta.T @ xs[:, t]
        found["W_h"] += delta.T @ hs[t]
        found["b"] += delta.sum(0)
        grad_h = delta @ W_h
    return {**found, "h0": grad_h}


# -- 03 and 04: classifiers --------------------------------------------------------------------------------------------


class Elman(nn.Module):
    """An Elman network that reads a token's column of W_x in place of a product with a one-hot vector."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.from_input, self.from_state = nn.Linear(vocab_size, hidden), nn.Linear(hidden, hidden, bias=False)
        self.to_classes = nn.Linear(hidden, classes)

    def inputs(self, column):
        return self.from_input.weight.T[column] + self.from_input.bias

    def step(self, x, h):
        return torch.relu(x + self.from_state(h))

    def states(self, ids):
        h = torch.zeros(len(ids), self.from_state.in_features)
        return torch.stack([h := self.step(self.inputs(column), h) for column in ids.unbind(1)], 1)

    def forward(self, ids, lengths):
        return self.to_classes(self.states(ids)[range(len(ids)), lengths - 1])


class Lstm(Elman):
    def __init__(self, vocab_size, hidden, classes):
        super().__init__(vocab_size, hidden, classes)
        self.from_input, self.from_state = nn.Embedding(vocab_size, 4 * hidden), nn.Linear(hidden, 4 * hidden)

    def inputs(self, column):
        return self.from_input(column)

    def step(self, x, h):
        i, f, g, o = (x + self.from_state(h)).chunk(4, 1)
        self.c = f.sigmoid() * self.c + i.sigmoid() * g.tanh()
        return o.sigmoid() * self.c.tanh()

    def states(self, ids):
        self.c = torch.zeros(())
        return super().states(ids)


class NeverLooksBack(Elman):
    def step(self, x, h):
        return torch.relu(x)


class BlindToTheOutput(Lstm):
    def step(self, x, h):
        return super().step(x, torch.zeros_like(h))


class OnlyWrites(Lstm):
    def step(self, x, h):
        i, _, g, o = (x + self.from_state(h)).chunk(4, 1)
        self.c = self.c + i.sigmoid() * g.tanh()
        return o.sigmoid() * self.c.tanh()


# -- 03: scheduled sampling --------------------------------------------------------------------------------------------


def coins_of_a_column(targets, own, p, generator):
    return torch.where(torch.rand(targets.shape[1], generator=generator) < p, targets, own)


# -- 04: gates ---------------------------------------------------------------------------------------------------------


def gate_of_untransposed_weights(x, h, W_x, W_h, b, V_x, V_h, c):
    candidate = F.relu(torch.matmul(x, W_x) + torch.matmul(h, W_h) + b)
    z = torch.sigmoid(torch.matmul(x, V_x) + torch.matmul(h, V_h) + c)
    return z * h + (1 - z) * candidate


def cell_in_two_lines(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = (F.linear(x, W, b) + F.linear(h, U)).chunk(4, 1)
    c = c * torch.sigmoid(f + p_f * c)
    c = c + torch.sigmoid(i + p_i * c) * torch.tanh(g)
    return torch.sigmoid(o + p_o * c) * torch.tanh(c), c


def as_one_wide_cell(input_size, hidden_size, layers=1, bidirectional=False):
    H = 2 * hidden_size if bidirectional else hidden_size
    return 4 * H * (input_size + H + 1) + (layers - 1) * 4 * H * (2 * H + 1)


# -- 15 and 16 ---------------------------------------------------------------------------------------------------------


class ReadsItsTableAsATensor(gpt.GPT):
    def forward(self, ids, cache=None):
        weight = self.words.weight
        self.words.weight = nn.Parameter(weight.data, requires_grad=False)
        logits, present = super().forward(ids if ids.is_floating_point() else weight[ids], cache)
        self.words.weight = weight
        return logits, present


def twice_A(N, losses):
    found = gpt.fit_power_law(N, losses)
    return {**found, "A": 2 * found["A"]}


def common_logarithm(N, losses):
    found = gpt.fit_power_law(N, losses)
    return {**found, "A": math.log10(found["A"])}


def sizes_in_units_of_the_largest(N, losses):
    return gpt.fit_power_law(N / N.max(), losses)


def test_a_table_that_gets_no_gradient_is_not_called_a_second_table():
    verdict = verdict_on("GPT", ReadsItsTableAsATensor, 3)
    assert not verdict.misconception
    assert "Does one flow back from the logits" in report.text(verdict, public=False)


@pytest.mark.parametrize("mistake", ["nothing_rotated", "only_queries_rotated"])
def test_without_positions_of_keys_the_order_of_the_first_tokens_does_not_show_at_the_last(mistake):
    wrong, hint = {known.name: (known.wrong, known.hint) for known in find("cached_attention").misconceptions}[mistake]
    generator = torch.Generator().manual_seed(0)
    text, *weights = (torch.randn(8, 8, generator=generator) for _ in range(5))
    both = torch.stack([text, text[[1, 0, *range(2, 8)]]])
    for attention, moves in ((wrong, False), (gpt.cached_attention, True)):
        one, other = attention(both, *weights, 2)[0]
        assert torch.allclose(one[-1], other[-1], atol=1e-5) != moves
    assert "Exchange the first two tokens" in hint


def test_values_that_are_all_equal_stay_equal_unless_they_are_rotated():
    (known,) = (known for known in find("cached_attention").misconceptions if known.name == "values_rotated")
    generator = torch.Generator().manual_seed(0)
    token, *weights = (torch.randn(8, 8, generator=generator) for _ in range(5))
    for attention, equal in ((known.wrong, False), (gpt.cached_attention, True)):
        rows = attention(token[:1].expand(1, 5, 8), *weights, 2)[0][0]
        assert torch.allclose(rows, rows[:1].expand(5, 8), atol=1e-5) == equal
    assert "Let all tokens of y be equal" in known.hint


# -- 18 ----------------------------------------------------------------------------------------------------------------


def tuned(lr, own_reference=False):
    """Return a policy trained on a fifth of the budget with a constant rate. Its reference may be the policy itself."""
    frozen = blocks.TablePolicy(advice.log_reference()).requires_grad_(False)

    def log_p(model, ids):
        return assistant.sequence_log_prob(model(ids), ids, torch.ones_like(ids, dtype=torch.bool))

    def loss(policy, *pair):
        models = (policy, policy if own_reference else frozen)
        return assistant.dpo_loss(*(log_p(model, ids) for model in models for ids in pair), advice.BETA)

    return trained("assistant_task", lambda: blocks.TablePolicy(advice.log_reference()), 0, lr=lr, loss=loss, share=0.2)


@pytest.mark.parametrize("lr", [0.03, 0.1, 0.3])
def test_a_policy_that_is_its_own_reference_hears_of_one_model(lr):
    policy = tuned(lr, own_reference=True)
    for seed in (3, None):
        assert "one model" in verdict_on("assistant_task", policy, seed).hint


@pytest.mark.parametrize("lr", [1e-4, 1e-3, 2e-3, 3e-3, 1e-2])
def test_a_policy_that_takes_small_steps_hears_of_their_size_and_of_no_wrong_reference(lr):
    policy = tuned(lr)
    for seed in (3, None):
        hint = verdict_on("assistant_task", policy, seed).hint
        assert "how large is a step" in hint.lower() and "one model" not in hint


@each_seed
@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("sample_text", softmax_first, "softmax_of_the_row"),
        ("NGramModel", UniformForShortContexts, "short_means_uniform"),
        ("NGramModel", NothingCountsAsMuch, "zeros_for_the_unknown"),
        ("NGramModel", ContextOfLengthN, "one_token_too_many"),
        ("bag_of_words", shares_of_words, "shares_for_counts"),
        ("cross_entropy", never_quite_zero, "probabilities_plus_1e_8"),
        ("nearest", columns_divided, "columns_of_length_one"),
        ("nearest", all_but_the_head, "the_head_of_the_list_left_out"),
        ("bptt", one_state_behind, "slope_at_the_state_before"),
        ("rnn_cell", reads_x_alone, "state_forgotten"),
        ("GatedClassifier", BlindToTheOutput, "OutputForgotten"),
        ("GatedClassifier", OnlyWrites, "CellThatOnlyAdds"),
        ("scheduled_inputs", coins_of_a_column, "one_coin_for_a_column"),
        ("gated_cell", gate_of_untransposed_weights, "weights_not_transposed"),
        ("peephole_lstm_cell", cell_in_two_lines, "i_sees_what_f_has_left"),
        ("lstm_parameters", as_one_wide_cell, "one_cell_of_twice_the_width"),
        ("fit_power_law", common_logarithm, "logarithm_of_A"),
        ("fit_power_law", sizes_in_units_of_the_largest, "A_for_sizes_in_other_units"),
    ],
)
def test_a_mistake_is_known_in_other_words(name, answer, mistake, seed):
    is_named(name, answer, mistake, seed)


@each_seed
def test_a_relative_of_a_mistake_gets_its_hint_by_check_and_at_grading(seed):
    assert verdict_on("ElmanClassifier", NeverLooksBack, seed).hint.startswith("Change the first token")


@each_seed
@pytest.mark.parametrize(
    ("name", "answer"), [("NGramModel", LookedUp), ("ElmanClassifier", Elman), ("GatedClassifier", Lstm)]
)
def test_what_others_are_made_of_is_right(name, answer, seed):
    assert verdict_on(name, answer, seed).kind == "passed"


@each_seed
@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("perplexity", one_token_too_few_below),  # infinite for a long text, as a product is
        ("fit_power_law", twice_A),
    ],
)
def test_a_mistake_that_nobody_knows_is_taken_for_no_other(name, answer, seed):
    is_named(name, answer, "", seed)
