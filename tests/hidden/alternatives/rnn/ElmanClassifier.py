"""Right answers to `ElmanClassifier` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class Given(nn.Module):
    """The constructor of the notebook."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.vocab_size = vocab_size
        self.from_input = nn.Linear(vocab_size, hidden)
        self.from_state = nn.Linear(hidden, hidden, bias=False)
        self.to_classes = nn.Linear(hidden, classes)


class ElmanByColumns(Given):
    """A token's column of W_x, and the last state kept as it goes."""

    def forward(self, ids, lengths):
        h = torch.zeros(len(ids), self.to_classes.in_features)
        for t in range(ids.shape[1]):
            x = F.embedding(ids[:, t], self.from_input.weight.T) + self.from_input.bias
            new = (x + h @ self.from_state.weight.T).clamp(min=0)
            h = torch.where((t < lengths)[:, None], new, h)
        return self.to_classes(h)


class ElmanOneByOne(Given):
    """As in the lecture: one sequence at a time, only its real tokens."""

    def forward(self, ids, lengths):
        rows = []
        for sequence, length in zip(ids, lengths.tolist(), strict=True):
            h = torch.zeros(self.from_state.in_features)
            for x in F.one_hot(sequence[:length], self.vocab_size).float():
                h = torch.relu(self.from_input(x) + self.from_state(h))
            rows.append(self.to_classes(h))
        return torch.stack(rows)


class ElmanOfPackedSequences(Given):
    """The longest sequences first, and of each step only those that are not over. A layer of its own is left over."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__(vocab_size, hidden, classes)
        self.earlier = nn.Linear(hidden, hidden)

    def forward(self, ids, lengths):
        inputs = self.from_input(torch.eye(self.vocab_size)[ids])
        packed = nn.utils.rnn.pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
        h, begin = torch.zeros(len(ids), self.to_classes.in_features), 0
        for n in packed.batch_sizes.tolist():
            new = torch.relu(packed.data[begin : begin + n] + self.from_state(h[:n]))
            h, begin = torch.cat([new, h[n:]]), begin + n
        return self.to_classes(h[packed.unsorted_indices])


ALTERNATIVES = [ElmanByColumns, ElmanOneByOne, ElmanOfPackedSequences]
