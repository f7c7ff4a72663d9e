"""Right answers to `ElmanClassifier` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


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


class ElmanOfLogProbabilities(ElmanByEmbedding):
    """Scores up to a constant for each row, which no softmax notices: their softmax's logarithm."""

    def __call__(self, ids, lengths):
        return super().__call__(ids, lengths).log_softmax(-1)


ALTERNATIVES = [
    ElmanByEmbedding,
    ElmanOfThreeFactors,
    ElmanByParameters,
    ElmanByAFrozenTable,
    ElmanOfPackedSequences,
    ElmanOneByOne,
    ElmanMadeLate,
    ElmanOfLogProbabilities,
]
