"""Right answers to topic 03 that look nothing like the reference."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import NamedTuple

import einops
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

# -- one step ----------------------------------------------------------------------------------------------------------


def cell_of_one_matrix(x, h, W_x, W_h, b):
    return (torch.cat([x, h], -1) @ torch.cat([W_x, W_h], -1).T + b).tanh()


def cell_by_linear(x, h, W_x, W_h, b):
    return torch.tanh(F.linear(x, W_x, b) + F.linear(h, W_h))


def cell_by_einsum(x, h, W_x, W_h, b):
    before = torch.einsum("bd,hd->bh", x, W_x) + torch.einsum("bk,hk->bh", h, W_h) + b
    return 2 * torch.sigmoid(2 * before) - 1


def cell_row_by_row(x, h, W_x, W_h, b):
    return torch.stack([torch.tanh(W_x @ row + W_h @ state + b) for row, state in zip(x, h, strict=True)])


# -- many steps --------------------------------------------------------------------------------------------------------


def forward_with_inputs_first(xs, h0, W_x, W_h, b):
    """All inputs are projected at once, and states are stacked time first, then turned round."""
    projected, h, hs = einops.rearrange(xs @ W_x.T + b, "b t h -> t b h"), h0, []
    for z in projected:
        h = torch.tanh(z + h @ W_h.T)
        hs.append(h)
    return einops.rearrange(torch.stack(hs), "t b h -> b t h"), h


def forward_by_recursion(xs, h0, W_x, W_h, b):
    h = cell_by_linear(xs[:, 0], h0, W_x, W_h, b)
    if xs.shape[1] == 1:
        return h[:, None], h
    rest, last = forward_by_recursion(xs[:, 1:], h, W_x, W_h, b)
    return torch.cat([h[:, None], rest], 1), last


def forward_one_sequence_at_a_time(xs, h0, W_x, W_h, b):
    rows = []
    for sequence, h in zip(xs, h0, strict=True):
        states = []
        for x in sequence:
            h = torch.tanh(W_x @ x + W_h @ h + b)
            states.append(h)
        rows.append(torch.stack(states))
    hs = torch.stack(rows)
    return hs, hs[:, -1]


def forward_into_a_tensor(xs, h0, W_x, W_h, b):
    hs = xs.new_empty(*xs.shape[:2], len(b))
    h = h0
    for t in range(xs.shape[1]):
        h = torch.tanh(xs[:, t] @ W_x.t() + h @ W_h.t() + b)
        hs[:, t] = h
    return [hs, h]


# -- the way back ------------------------------------------------------------------------------------------------------


class Read(NamedTuple):
    hs: torch.Tensor
    h_T: torch.Tensor


def forward_accumulated(xs, h0, W_x, W_h, b):
    """As a fold over time; what comes back has names, and is a tuple all the same."""
    states = list(accumulate(xs.unbind(1), lambda h, x: torch.tanh(x @ W_x.T + h @ W_h.T + b), initial=h0))
    return Read(torch.stack(states[1:], 1), states[-1])


def bptt_then_one_product(xs, h0, W_x, W_h, b, grad_h_T):
    """All deltas first, then each sum over time as one einsum."""
    hs, _ = forward_into_a_tensor(xs, h0, W_x, W_h, b)
    deltas, grad = torch.empty_like(hs), grad_h_T
    for t in range(xs.shape[1] - 1, -1, -1):
        deltas[:, t] = grad * (1 - hs[:, t].square())
        grad = torch.einsum("bk,kh->bh", deltas[:, t], W_h)
    before = torch.cat([h0[:, None], hs[:, :-1]], 1)
    return {
        "h0": grad,
        "b": deltas.sum((0, 1)),
        "W_h": torch.einsum("btk,bth->kh", deltas, before),
        "W_x": torch.einsum("btk,btd->kd", deltas, xs),
    }


def bptt_by_recursion(xs, h0, W_x, W_h, b, grad_h_T):
    def back(t, h):
        """Gradients of everything from step t on, given the state before it."""
        if t == xs.shape[1]:
            return torch.zeros_like(W_x), torch.zeros_like(W_h), torch.zeros_like(b), grad_h_T
        after = torch.tanh(xs[:, t] @ W_x.T + h @ W_h.T + b)
        g_x, g_h, g_b, grad = back(t + 1, after)
        delta = grad * (1 + after) * (1 - after)
        return g_x + delta.mT @ xs[:, t], g_h + delta.mT @ h, g_b + delta.sum(0), delta @ W_h

    return dict(zip(("W_x", "W_h", "b", "h0"), back(0, h0), strict=True))


def bptt_row_by_row(xs, h0, W_x, W_h, b, grad_h_T):
    """One sequence at a time with outer products; slopes from cosh, of what goes into tanh."""
    total = [torch.zeros_like(W_x), torch.zeros_like(W_h), torch.zeros_like(b)]
    grads_h0 = []
    for sequence, start, grad in zip(xs, h0, grad_h_T, strict=True):
        states, insides = [start], []
        for x in sequence:
            insides.append(W_x @ x + W_h @ states[-1] + b)
            states.append(torch.tanh(insides[-1]))
        for t in reversed(range(len(sequence))):
            delta = grad / torch.cosh(insides[t]) ** 2
            total = [
                total[0] + torch.outer(delta, sequence[t]),
                total[1] + torch.outer(delta, states[t]),
                total[2] + delta,
            ]
            grad = W_h.T @ delta
        grads_h0.append(grad)
    return {"W_x": total[0], "W_h": total[1], "b": total[2], "h0": torch.stack(grads_h0)}


class _Step:
    """One step that knows its own way back, as the layers of a library do."""

    def __init__(self, x, h, W_x, W_h, b):
        self.x, self.h, self.W_h = x, h, W_h
        self.after = torch.tanh(x @ W_x.T + h @ W_h.T + b)

    def backward(self, grad):
        delta = grad * (1 - self.after.square())
        return delta.T @ self.x, delta.T @ self.h, delta.sum(0), delta @ self.W_h


def bptt_by_steps_with_a_way_back(xs, h0, W_x, W_h, b, grad_h_T):
    with torch.set_grad_enabled(False):
        steps, h = [], h0
        for x in xs.unbind(1):
            steps.append(_Step(x, h, W_x, W_h, b))
            h = steps[-1].after
        found = {name: torch.zeros_like(weight) for name, weight in (("W_x", W_x), ("W_h", W_h), ("b", b))}
        for step in reversed(steps):
            *gradients, grad_h_T = step.backward(grad_h_T)
            found = {name: total + more for (name, total), more in zip(found.items(), gradients, strict=True)}
    return {**found, "h0": grad_h_T}


def bptt_in_numpy(xs, h0, W_x, W_h, b, grad_h_T):
    x, h, W, U, bias, grad = (tensor.numpy() for tensor in (xs, h0, W_x, W_h, b, grad_h_T))
    states = [h]
    for t in range(x.shape[1]):
        states.append(np.tanh(x[:, t] @ W.T + states[-1] @ U.T + bias))
    found = {name: np.zeros_like(like) for name, like in (("W_x", W), ("W_h", U), ("b", bias))}
    for t in reversed(range(x.shape[1])):
        inside = grad * (1 - states[t + 1] ** 2)
        found["W_x"] += inside.T @ x[:, t]
        found["W_h"] += inside.T @ states[t]
        found["b"] += inside.sum(0)
        grad = inside @ U
    return {name: torch.from_numpy(value) for name, value in (found | {"h0": grad}).items()}


# -- clipping ----------------------------------------------------------------------------------------------------------


def clip_as_torch_does(grads, max_norm):
    total = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in grads]))
    factor = torch.clamp(max_norm / (total + 1e-6), max=1.0)
    return [g * factor.to(g.dtype) for g in grads], total


def clip_one_long_vector(grads, max_norm):
    flat = torch.cat([g.reshape(-1) for g in grads])
    norm = flat.norm().item()
    if norm <= max_norm:
        return grads, norm
    pieces = (flat / norm * max_norm).split([g.numel() for g in grads])
    return [piece.view(g.shape) for piece, g in zip(pieces, grads, strict=True)], norm


def clip_in_python(grads, max_norm):
    norm = math.sqrt(sum(value**2 for g in grads for value in g.flatten().tolist()))
    return [g / max(norm / max_norm, 1.0) for g in grads], np.float64(norm)


# -- a classifier ------------------------------------------------------------------------------------------------------


class ElmanByEmbedding(nn.Module):
    """An embedding, one matrix for both inputs, the last state kept as it goes."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, hidden)
        self.cell = nn.Linear(2 * hidden, hidden)
        self.out = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        h = torch.zeros(len(ids), self.out.in_features)
        for t in range(ids.shape[1]):
            new = F.relu(self.cell(torch.cat([self.embed(ids[:, t]), h], dim=1)))
            h = torch.where((t < lengths)[:, None], new, h)
        return self.out(h)


class ElmanOfThreeFactors(nn.Module):
    """An embedding that a matrix reads, and a bias for each of the two matrices, as in nn.RNN."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, hidden)
        self.W_x, self.W_h = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        h, states = self.embed.weight.new_zeros(len(ids), self.out.in_features), []
        for x in self.embed(ids).unbind(1):
            h = torch.maximum(self.W_x(x) + self.W_h(h), torch.zeros(()))
            states.append(h)
        return self.out(torch.stack(states, 1)[torch.arange(len(ids)), lengths - 1])


class ElmanByParameters(nn.Module):
    """Bare parameters, and gather for the last state."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.W_x = nn.Parameter(torch.randn(hidden, vocab_size) / vocab_size**0.5)
        self.W_h = nn.Parameter(torch.eye(hidden))
        self.b = nn.Parameter(torch.zeros(hidden))
        self.W_y = nn.Parameter(torch.randn(classes, hidden) / hidden**0.5)
        self.b_y = nn.Parameter(torch.zeros(classes))

    def forward(self, ids, lengths):
        h, hs = torch.zeros(len(ids), len(self.b), dtype=self.b.dtype), []
        for column in ids.T:
            h = (self.W_x.T[column] + h @ self.W_h.T + self.b).clamp(min=0)
            hs.append(h)
        index = (lengths - 1)[:, None, None].expand(-1, 1, len(self.b))
        return torch.stack(hs, 1).gather(1, index)[:, 0] @ self.W_y.T + self.b_y


class ElmanByAFrozenTable(nn.Module):
    """One-hot rows come out of an embedding that does not learn; a layer of an earlier version is left over."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.earlier = nn.Linear(hidden, hidden)
        self.head = nn.Linear(hidden, classes)
        self.one_hot = nn.Embedding.from_pretrained(torch.eye(vocab_size), freeze=True)
        self.step = nn.Linear(hidden + vocab_size, hidden)

    def forward(self, ids, lengths):
        states = [self.head.weight.new_zeros(len(lengths), self.head.in_features)]
        for word in self.one_hot(ids).unbind(dim=1):
            states.append(self.step(torch.hstack((states[-1], word))).clamp(min=0))
        ends = lengths.view(1, -1, 1).expand(1, -1, self.head.in_features)
        return self.head(torch.stack(states).gather(0, ends).squeeze(0))


class ElmanOfPackedSequences(nn.Module):
    """The longest sequences first, and of each step only those that are not over; gradients of the table are sparse."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, hidden, sparse=True)
        self.from_state = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(ids), lengths, batch_first=True, enforce_sorted=False)
        h, begin = torch.zeros(len(ids), self.out.in_features), 0
        for n in packed.batch_sizes.tolist():
            new = torch.relu(packed.data[begin : begin + n] + self.from_state(h[:n]))
            h, begin = torch.cat([new, h[n:]]), begin + n
        return self.out(h[packed.unsorted_indices])


class ElmanOneByOne(nn.Module):
    """As in the lecture: one sequence at a time, only its real tokens."""

    def __init__(self, dim_input, dim_recurrent, dim_output):
        super().__init__()
        self.fc_x2h = nn.Linear(dim_input, dim_recurrent)
        self.fc_h2h = nn.Linear(dim_recurrent, dim_recurrent, bias=False)
        self.fc_h2y = nn.Linear(dim_recurrent, dim_output)

    def forward(self, ids, lengths):
        rows = []
        for sequence, length in zip(ids, lengths.tolist(), strict=True):
            h = torch.zeros(self.fc_h2h.in_features)
            for x in F.one_hot(sequence[:length], self.fc_x2h.in_features).float():
                h = torch.relu(self.fc_x2h(x) + self.fc_h2h(h))
            rows.append(self.fc_h2y(h))
        return torch.stack(rows)


class ElmanByRecursion(nn.Module):
    """Called by a `__call__` of its own; each step calls the next."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.embed, self.again = nn.Embedding(vocab_size, hidden), nn.Linear(hidden, hidden)
        self.head = nn.Linear(hidden, classes)

    def __call__(self, ids, lengths):
        return self.head(self.read(ids, lengths, torch.zeros(len(ids), self.again.in_features)))

    def read(self, ids, lengths, h):
        if not ids.shape[1]:
            return h
        new = (self.embed(ids[:, 0]) + self.again(h)).relu()
        return self.read(ids[:, 1:], lengths - 1, torch.where((lengths > 0)[:, None], new, h))


class ElmanOfADict(nn.ModuleDict):
    def __init__(self, vocab_size, hidden, classes):
        layers = {"x": nn.Embedding(vocab_size, hidden), "h": nn.Linear(hidden, hidden)}
        super().__init__(layers | {"y": nn.Linear(hidden, classes)})

    def forward(self, ids, lengths):
        begin = torch.zeros(len(ids), self["h"].in_features)
        states = accumulate(self["x"](ids).unbind(1), lambda h, x: torch.relu(x + self["h"](h)), initial=begin)
        return self["y"](torch.stack(list(states))[lengths, range(len(ids))])


class ElmanMadeLate(nn.Module):
    """nn.Lazy layers find out at the first call how wide they are, and one of its own waits for it, too."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.vocab_size, self.hidden, self.head = vocab_size, hidden, None
        self.from_token, self.from_state = nn.LazyLinear(hidden), nn.LazyLinear(hidden, bias=False)
        self.classes = classes

    def forward(self, ids, lengths):
        self.head = self.head or nn.Linear(self.hidden, self.classes)
        h = torch.zeros(len(ids), self.hidden)
        for t, x in enumerate(F.one_hot(ids, self.vocab_size).float().unbind(1)):
            new = F.relu(self.from_token(x) + self.from_state(h))
            h = torch.where((t < lengths)[:, None], new, h)
        return self.head(h)


class ElmanOfLogProbabilities(ElmanByRecursion):
    """Scores up to a constant for each row, which no softmax notices: their softmax's logarithm."""

    def __call__(self, ids, lengths):
        return super().__call__(ids, lengths).log_softmax(-1)


# -- writing -----------------------------------------------------------------------------------------------------------


def generate_into_a_tensor(step, h0, start, length, temperature, generator):
    out = torch.empty(length + 1, dtype=torch.long)
    out[0] = start
    h = h0
    for t in range(length):
        logits, h = step(out[t : t + 1], h)
        out[t + 1] = torch.multinomial(F.softmax(logits.squeeze(0) / temperature, dim=0), 1, generator=generator)
    return out[1:]


def generate_by_gumbel(step, h0, start, length, temperature, generator):
    """argmax of logits with Gumbel noise is a draw from their softmax."""
    token, h, written = torch.LongTensor([start]), h0, []
    for _ in range(length):
        logits, h = step(token, h)
        uniform = torch.rand(logits.shape, generator=generator, dtype=torch.float64).clamp(min=1e-300)
        token = (logits / temperature - torch.log(-torch.log(uniform))).argmax(dim=1)
        written.append(int(token))
    return torch.tensor(written)


def generate_by_cumulation(step, h0, start, length, temperature, generator):
    token, h, written = torch.tensor([start]), h0.clone(), []
    while len(written) < length:
        scores, h = step(token, h)
        scaled = scores[0] / temperature
        weights = torch.exp(scaled - scaled.max())
        edges = torch.cumsum(weights / weights.sum(), 0)
        coin = torch.rand(1, generator=generator, dtype=edges.dtype)
        token = torch.searchsorted(edges, coin).clamp(max=len(edges) - 1)
        written.append(token)
    return torch.cat(written)


# -- scheduled sampling ------------------------------------------------------------------------------------------------


def mixed_by_bernoulli(targets, own, p, generator):
    keep = torch.bernoulli(torch.full(targets.shape, float(p)), generator=generator).bool()
    result = own.clone()
    result[keep] = targets[keep]
    return result


def mixed_token_by_token(targets, own, p, generator):
    rows = []
    for teacher, student in zip(targets.tolist(), own.tolist(), strict=True):
        coins = torch.rand(len(teacher), generator=generator).tolist()
        rows.append([a if coin < p else b for a, b, coin in zip(teacher, student, coins, strict=True)])
    return torch.tensor(rows, dtype=targets.dtype)


def mixed_by_arithmetic(targets, own, p, generator):
    replace = (torch.rand(*targets.shape, generator=generator, dtype=torch.float64) >= p).long()
    return targets * (1 - replace) + own * replace


ALTERNATIVES = {
    "rnn_cell": [cell_of_one_matrix, cell_by_linear, cell_by_einsum, cell_row_by_row],
    "rnn_forward": [
        forward_with_inputs_first,
        forward_by_recursion,
        forward_one_sequence_at_a_time,
        forward_into_a_tensor,
        forward_accumulated,
    ],
    "bptt": [bptt_then_one_product, bptt_by_recursion, bptt_row_by_row, bptt_by_steps_with_a_way_back, bptt_in_numpy],
    "clip_grad_norm": [clip_as_torch_does, clip_one_long_vector, clip_in_python],
    "ElmanClassifier": [
        ElmanByEmbedding,
        ElmanOfThreeFactors,
        ElmanByParameters,
        ElmanByAFrozenTable,
        ElmanOfPackedSequences,
        ElmanOneByOne,
        ElmanByRecursion,
        ElmanOfADict,
        ElmanMadeLate,
        ElmanOfLogProbabilities,
    ],
    "generate": [generate_into_a_tensor, generate_by_gumbel, generate_by_cumulation],
    "scheduled_inputs": [mixed_by_bernoulli, mixed_token_by_token, mixed_by_arithmetic],
}
