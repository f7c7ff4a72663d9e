"""What weak students write, otherwise than the misconceptions do: named as what it is, at grading and by `check`."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course.judge import report
from course.reference import gpt
from tests.few import few
from tests.hidden.judged import verdict_on
from tests.original import find

SEEDS = (3, 42, None)
each_seed = pytest.mark.parametrize("seed", few(SEEDS, 3, None))


def is_named(name: str, answer, mistake: str, seed: int | None) -> None:
    """Demand that it is taken for `mistake`, at grading, and by `check` where this fails it."""
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
    """The longest known window and the shorter ones, half and half, from plain dicts."""

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


class LikeliestAlone(LookedUp):
    def next_distribution(self, context):
        answer = torch.zeros(self.vocab_size)
        answer[super().next_distribution(context).argmax()] = 1
        return answer


class UniformForShortContexts(LookedUp):
    def next_distribution(self, context):
        if len(context) < self.n - 1:
            return torch.ones(self.vocab_size) / self.vocab_size
        return super().next_distribution(context)


class ContextOfLengthN(LookedUp):
    def longest(self):
        return self.n


class NothingCountsAsMuch(LookedUp):
    """The mean of all orders, of which some have seen nothing."""

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


def shifted_by_the_largest(logits, targets):
    shifted = logits - torch.max(logits)
    return -(shifted - shifted.exp().sum(1, keepdim=True).log())[range(len(targets)), targets].mean()


def shifted_below_only(logits, targets):
    top = logits.max(1, keepdim=True).values
    return ((logits - top).exp().sum(1).log() - logits.gather(1, targets[:, None])[:, 0]).mean()


def columns_divided(E, index, k):
    E = F.normalize(E, dim=0)
    scores = E @ E[index]
    scores[index] = -1e9
    return scores.topk(k).indices


def all_but_the_head(E, index, k):
    return F.cosine_similarity(E, E[index][None]).topk(k + 1).indices[1:]


def distances_but_the_head(E, index, k):
    return torch.cdist(E[index][None], E)[0].topk(k + 1, largest=False).indices[1:]


def products_but_the_head(E, index, k):
    return (E @ E[index]).argsort(descending=True)[1 : k + 1]


@pytest.mark.parametrize("made", [torch.Tensor.tolist, torch.Tensor.numpy])
def test_a_table_of_another_kind_is_no_error_of_the_answers(made):
    counted = find("bag_of_words").reference
    for seed in (3, None):
        verdict = verdict_on("bag_of_words", lambda sentences, vocab: made(counted(sentences, vocab)), seed)
        assert verdict.kind == "wrong" and verdict.message.startswith("expected a tensor, got an object of type")


# -- 03: cells, and the way back ---------------------------------------------------------------------------------------


def reads_x_alone(x, h, W_x, W_h, b):
    return torch.tanh(F.linear(x, W_x, b))


def bias_last_of_all(x, h, W_x, W_h, b):
    return torch.tanh(F.linear(x, W_x) + F.linear(h, W_h)) + b


def _way_back(
    xs, h0, W_x, W_h, b, grad_h, *, slope=lambda new, old: 1 - new**2, times=reversed, arrives=lambda end, back: back
):
    hs = [h0]
    for x in xs.unbind(1):
        hs.append(torch.tanh(x @ W_x.T + hs[-1] @ W_h.T + b))
    found, back = {"W_x": 0, "W_h": 0, "b": 0}, grad_h
    for t in times(range(xs.shape[1])):
        delta = slope(hs[t + 1], hs[t]) * back
        found["W_x"] += delta.T @ xs[:, t]
        found["W_h"] += delta.T @ hs[t]
        found["b"] += delta.sum(0)
        h0 = delta @ W_h
        back = arrives(grad_h, h0)
    return {**found, "h0": h0}


def one_state_behind(*inputs):
    return _way_back(*inputs, slope=lambda new, old: 1 - old**2)


def never_goes_back(*inputs):
    return _way_back(*inputs, arrives=lambda end, back: end)


def first_step_first(*inputs):
    return _way_back(*inputs, times=iter)


def end_added_at_each_step(*inputs):
    return _way_back(*inputs, arrives=lambda end, back: end + back)


def norms_by_linalg(grads, max_norm):
    total = math.hypot(*(float(torch.linalg.norm(g, ord=2)) for g in grads))
    return [g * min(1.0, max_norm / (total + 1e-6)) for g in grads], total


# -- 03 and 04: classifiers --------------------------------------------------------------------------------------------


class Elman(nn.Module):
    """The notebook's constructor, and a token's column of W_x at each step."""

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


def _both_ways(cell_f, cell_b, xs, h0_f, h0_b):
    forward, backward = [h0_f], [h0_b]
    for t in range(xs.shape[1]):
        forward.append(cell_f(xs[:, t], forward[-1]))
        backward.insert(0, cell_b(xs[:, xs.shape[1] - 1 - t], backward[0]))
    return torch.cat([torch.stack(forward[1:], 1), torch.stack(backward[:-1], 1)], 2)


def begins_with_nothing(cell_f, cell_b, xs, h0_f, h0_b):
    return _both_ways(cell_f, cell_b, xs, torch.zeros_like(h0_f), torch.zeros_like(h0_b))


def begins_at_every_step(cell_f, cell_b, xs, h0_f, h0_b):
    steps = [torch.cat([cell_f(xs[:, t], h0_f), cell_b(xs[:, t], h0_b)], 1) for t in range(xs.shape[1])]
    return torch.stack(steps, 1)


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


def half_of_the_labels(documents, generator):
    """A shuffled half of the pairs is true."""
    neighbours = [(a, b, i) for i, d in enumerate(documents) for a, b in pairwise(d)]
    labels = torch.randperm(len(neighbours), generator=generator) % 2
    pairs = []
    for (a, b, i), label in zip(neighbours, labels.tolist(), strict=True):
        others = [s for k, d in enumerate(documents) if k != i for s in d if s != b]
        pairs.append((a, b if label else others[int(torch.randint(len(others), (), generator=generator))]))
    return pairs, labels


def test_a_table_that_gets_no_gradient_is_not_called_a_second_table():
    verdict = verdict_on("GPT", ReadsItsTableAsATensor, 3)
    assert not verdict.misconception
    assert "Does one flow back from the logits" in report.text(verdict, public=False)


@pytest.mark.parametrize(("layers", "moves"), [(1, False), (2, True)])
def test_the_order_of_the_first_tokens_shows_behind_two_layers_without_positions(layers, moves):
    wrong, hint = {known.name: (known.wrong, known.hint) for known in find("GPT").misconceptions}["KnowsNoPositions"]
    torch.manual_seed(0)
    model = wrong(7, 8, layers, 2, 1, 11).double()
    (one, other), _ = model(torch.tensor([[1, 2, 3], [2, 1, 3]]))
    assert torch.allclose(one[-1], other[-1]) != moves
    assert "of one layer" in hint


@each_seed
@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("sample_text", softmax_first, "softmax_of_the_row"),
        ("NGramModel", LikeliestAlone, "everything_on_the_likeliest"),
        ("NGramModel", UniformForShortContexts, "short_means_uniform"),
        ("NGramModel", NothingCountsAsMuch, "zeros_for_the_unknown"),
        ("NGramModel", ContextOfLengthN, "one_token_too_many"),
        ("bag_of_words", shares_of_words, "shares_for_counts"),
        ("cross_entropy", never_quite_zero, "probabilities_plus_1e_8"),
        ("cross_entropy", shifted_by_the_largest, "one_maximum_for_the_batch"),
        ("cross_entropy", shifted_below_only, "maximum_not_added_back"),
        ("nearest", columns_divided, "columns_of_length_one"),
        ("nearest", all_but_the_head, "the_head_of_the_list_left_out"),
        ("nearest", products_but_the_head, "dot_product_without_the_head_of_its_list"),
        ("clip_grad_norm", norms_by_linalg, "largest_singular_values"),
        ("bptt", one_state_behind, "slope_at_the_state_before"),
        ("rnn_cell", reads_x_alone, "state_forgotten"),
        ("rnn_cell", bias_last_of_all, "bias_outside"),
        ("bptt", never_goes_back, "the_same_gradient_at_every_step"),
        ("bptt", first_step_first, "walks_forward"),
        ("bptt", end_added_at_each_step, "a_loss_at_every_step"),
        ("GatedClassifier", BlindToTheOutput, "OutputForgotten"),
        ("GatedClassifier", OnlyWrites, "CellThatOnlyAdds"),
        ("scheduled_inputs", coins_of_a_column, "one_coin_for_a_column"),
        ("gated_cell", gate_of_untransposed_weights, "weights_not_transposed"),
        ("peephole_lstm_cell", cell_in_two_lines, "i_sees_what_f_has_left"),
        ("run_bidirectional", begins_with_nothing, "starts_from_zero"),
        ("run_bidirectional", begins_at_every_step, "no_state_carried"),
        ("lstm_parameters", as_one_wide_cell, "one_cell_of_twice_the_width"),
        ("fit_power_law", common_logarithm, "logarithm_of_A"),
        ("fit_power_law", sizes_in_units_of_the_largest, "A_for_sizes_in_other_units"),
        ("next_sentence_pairs", half_of_the_labels, "labels_take_turns_from_a_coin_on"),
    ],
)
def test_a_mistake_is_known_in_other_words(name, answer, mistake, seed):
    is_named(name, answer, mistake, seed)


@each_seed
@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("nearest", distances_but_the_head, "Halve every vector"),
        ("ElmanClassifier", NeverLooksBack, "Change the first token"),
    ],
)
def test_relatives_of_a_mistake_get_its_hint_by_check_and_at_grading(name, answer, hint, seed):
    assert verdict_on(name, answer, seed).hint.startswith(hint)


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
