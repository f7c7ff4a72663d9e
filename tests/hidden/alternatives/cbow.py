"""Right answers to topic 02, written in other ways: each must get full marks."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.data import grammar

# -- vocabulary ------------------------------------------------------------------------------------------------------


def sorted_twice(tokens, min_count=1):
    counts = Counter(tokens)
    words = sorted(sorted(counts), key=counts.get, reverse=True)
    return {"<unk>": 0} | {word: i for i, word in enumerate((w for w in words if counts[w] >= min_count), start=1)}


def counted_by_hand(tokens, min_count=1):
    counts = {}
    for token in tokens:
        counts[token] = counts.get(token, 0) + 1
    vocab = defaultdict(int)
    vocab["<unk>"] = 0
    for _, word in sorted((-count, word) for word, count in counts.items() if count >= min_count):
        vocab[word] = len(vocab)
    return dict(vocab)


def grouped_by_count(tokens, min_count=1):
    ranked = ["<unk>"]
    by_count = sorted(Counter(tokens).items(), key=lambda pair: -pair[1])
    for count, group in itertools.groupby(by_count, key=lambda pair: pair[1]):
        if count >= min_count:
            ranked += sorted(word for word, _ in group)
    return dict(zip(ranked, range(len(ranked)), strict=True))


def sorted_by_numpy(tokens, min_count=1):
    """The words are numpy's own, which equal Python's, and so are the numbers."""
    words, counts = np.unique(np.array(tokens, dtype=str), return_counts=True)
    frequent = words[counts >= min_count][np.argsort(-counts[counts >= min_count], kind="stable")]
    return {"<unk>": 0} | dict(zip(frequent, np.arange(1, len(frequent) + 1), strict=True))


def first_in_the_heap(tokens, min_count=1):
    heap = [(-count, word) for word, count in Counter(tokens).items() if count >= min_count]
    heapq.heapify(heap)
    vocab = {"<unk>": 0}
    while heap:
        vocab[heapq.heappop(heap)[1]] = len(vocab)
    return vocab


# -- bags ------------------------------------------------------------------------------------------------------------


def float_counts(sentences, vocab):
    counts = torch.zeros(len(sentences), len(vocab))
    for i, sentence in enumerate(sentences):
        for word, count in Counter(sentence).items():
            counts[i, vocab.get(word, vocab["<unk>"])] += count
    return counts


def bincounts(sentences, vocab):
    rows = [
        torch.bincount(torch.tensor([vocab.get(w, 0) for w in s], dtype=torch.long), minlength=len(vocab))
        for s in sentences
    ]
    return torch.stack(rows)


def one_hots_summed(sentences, vocab):
    table = torch.zeros(len(sentences), len(vocab), dtype=torch.float64)
    for row, sentence in zip(table, sentences, strict=True):
        ids = torch.tensor([vocab.get(w, 0) for w in sentence], dtype=torch.long)
        row += F.one_hot(ids, len(vocab)).sum(0)
    return table


def through_numpy(sentences, vocab):
    counts = np.zeros((len(sentences), len(vocab)), dtype=np.int64)
    for i, sentence in enumerate(sentences):
        np.add.at(counts[i], [vocab.get(w, 0) for w in sentence], 1)
    return torch.from_numpy(counts)


# -- windows ---------------------------------------------------------------------------------------------------------


def window_by_window(ids, radius):
    if len(ids) < 2 * radius:
        raise ValueError(f"{len(ids)} words")
    contexts, targets = [], []
    for t in range(radius, len(ids) - radius):
        contexts.append(torch.cat([ids[t - radius : t], ids[t + 1 : t + radius + 1]]))
        targets.append(ids[t])
    if not contexts:
        return torch.zeros(0, 2 * radius, dtype=ids.dtype), torch.zeros(0, dtype=ids.dtype)
    return torch.stack(contexts), torch.stack(targets)


def shifted_slices(ids, radius):
    n = len(ids) - 2 * radius
    if n < 0:
        raise ValueError("too short")
    columns = [ids[j : j + n] for j in range(2 * radius + 1)]
    target = columns.pop(radius)
    return torch.stack(columns, dim=1), target


def indexed(ids, radius):
    n = ids.size(0) - 2 * radius
    if n < 0:
        raise ValueError("too short")
    places = torch.arange(n)[:, None] + torch.arange(2 * radius + 1)[None]
    keep = torch.arange(2 * radius + 1) != radius
    return ids[places][:, keep], ids[places][:, radius]


def through_lists(ids, radius):
    text = ids.tolist()
    if len(text) < 2 * radius:
        raise ValueError("too short")
    rows = [text[t - radius : t] + text[t + 1 : t + 1 + radius] for t in range(radius, len(text) - radius)]
    contexts = torch.tensor(rows, dtype=torch.long).reshape(-1, 2 * radius)
    return contexts, torch.tensor(text[radius : len(text) - radius], dtype=torch.long)


# -- loss ------------------------------------------------------------------------------------------------------------


def by_convolution(ids, radius):
    """Each channel of the kernel picks one place of the window."""
    width = 2 * radius + 1
    if len(ids) < width - 1:
        raise ValueError
    if len(ids) < width:
        return ids.new_zeros(0, width - 1), ids.new_zeros(0)
    picks = torch.eye(width, dtype=torch.float64)[:, None]
    windows = F.conv1d(ids.double()[None, None], picks)[0].T.round().long()
    return windows[:, torch.arange(width) != radius], windows[:, radius]


def by_log_softmax(logits, targets):
    return -torch.log_softmax(logits, dim=1)[range(len(targets)), targets].mean()


def by_nll(logits, targets):
    return F.nll_loss(F.log_softmax(logits, dim=-1), targets)


def by_one_hot(logits, targets):
    shifted = logits - logits.max(dim=1, keepdim=True).values
    log_p = shifted - shifted.exp().sum(dim=1, keepdim=True).log()
    return -(F.one_hot(targets, logits.shape[1]).to(logits.dtype) * log_p).sum(dim=1).mean()


def row_by_row(logits, targets):
    losses = [torch.logsumexp(row, 0) - row[y] for row, y in zip(logits, targets, strict=True)]
    return sum(losses) / len(losses)


def differences_from_the_target(logits, targets):
    """log sum exp(z_v − z_y), which is the loss already."""
    return (logits - logits.gather(1, targets.unsqueeze(1))).logsumexp(1).mean()


def by_adding_in_logarithms(logits, targets):
    """One column after the other."""
    total = logits[:, 0]
    for column in logits.unbind(1)[1:]:
        total = torch.logaddexp(total, column)
    return (total - logits.take_along_dim(targets[:, None], 1).squeeze(1)).sum() / len(logits)


# -- logits ----------------------------------------------------------------------------------------------------------


def by_embedding_bag(contexts, E, W, b):
    return F.linear(F.embedding_bag(contexts.contiguous(), E, mode="mean"), W, b)


def counts_times_table(contexts, E, W, b):
    counts = F.one_hot(contexts, len(E)).to(E.dtype).sum(1)
    return counts / contexts.shape[1] @ E @ W.T + b


def by_einsum(contexts, E, W, b):
    return torch.einsum("bcd,vd->bv", F.embedding(contexts, E), W) / contexts.size(1) + b[None]


def logits_averaged(contexts, E, W, b):
    """The mean of every word's own logits: linear, so the same."""
    return (E[contexts] @ W.T + b).mean(1)


def word_by_word(contexts, E, W, b):
    h = torch.zeros(contexts.shape[0], E.shape[1], dtype=E.dtype)
    for c in range(contexts.shape[1]):
        h = h + E[contexts[:, c]]
    return torch.addmm(b, h / contexts.shape[1], W.t())


# -- neighbours ------------------------------------------------------------------------------------------------------


def context_by_context(contexts, E, W, b):
    return torch.func.vmap(lambda context: F.linear(E[context].mean(0), W, b))(contexts)


def by_cosine_similarity(E, index, k):
    similarity = F.cosine_similarity(E[index].unsqueeze(0), E, dim=1)
    order = similarity.argsort(descending=True)
    return order[order != index][:k]


def by_whole_matrix(E, index, k):
    unit = F.normalize(E, dim=-1)
    return torch.topk((unit @ unit.T).masked_fill(torch.eye(len(E), dtype=torch.bool), -2.0)[index], k)[1]


def by_angle(E, index, k):
    unit = F.normalize(E, dim=1)
    angles = (unit @ unit[index]).clamp(-1, 1).acos()
    return angles.index_fill(0, torch.tensor([index]), 4.0).argsort()[:k]


def by_distance_on_the_sphere(E, index, k):
    unit = E / torch.linalg.vector_norm(E, dim=1)[:, None]
    distance = (unit - unit[index]).square().sum(1)
    distance[index] = math.inf
    return distance.argsort()[:k]


def others_first(E, index, k):
    others = torch.tensor([i for i in range(len(E)) if i != index])
    dots = E[others] @ E[index] / E[others].norm(dim=1)
    return others[dots.argsort(descending=True)[:k]]


# -- the task --------------------------------------------------------------------------------------------------------


class FromCounts(nn.Module):
    """No training at all: neighbours by counts of contexts, predictions by the rules. In double precision."""

    def __init__(self):
        super().__init__()
        text = grammar.language().draw_text(64, 2000, torch.Generator().manual_seed(0))
        V = len(grammar.language().words)
        counts = torch.zeros(V, 4 * V, dtype=torch.float64)
        for column, shift in enumerate((-2, -1, 1, 2)):
            pairs = text[:, 2:-2] * 4 * V + column * V + text[:, 2 + shift : text.shape[1] - 2 + shift]
            counts.view(-1).index_add_(0, pairs.flatten(), torch.ones(pairs.numel(), dtype=torch.float64))
        self.E = nn.Parameter(counts.sqrt())

    def forward(self, contexts):
        return grammar.language().centre(contexts, ordered=False).clamp(min=1e-9).log() + 3.0


ALTERNATIVES = {
    "build_vocab": [sorted_twice, counted_by_hand, grouped_by_count, sorted_by_numpy, first_in_the_heap],
    "bag_of_words": [float_counts, bincounts, one_hots_summed, through_numpy],
    "context_windows": [window_by_window, shifted_slices, indexed, through_lists, by_convolution],
    "cross_entropy": [
        by_log_softmax,
        by_nll,
        by_one_hot,
        row_by_row,
        differences_from_the_target,
        by_adding_in_logarithms,
    ],
    "cbow_logits": [by_embedding_bag, counts_times_table, by_einsum, logits_averaged, word_by_word, context_by_context],
    "nearest": [by_cosine_similarity, by_whole_matrix, by_angle, by_distance_on_the_sphere, others_first],
    "cbow_task": [FromCounts()],
}
