r"""Bags of words, and word vectors from them: the continuous bag of words (CBOW) of word2vec.

A word is known by the company it keeps. CBOW guesses the word in the middle of a window from the words around it, and
not from their order. It takes the mean of their vectors and gives every word of the vocabulary a logit against that
mean. Words that stand among the same words end up with similar vectors.

    h = (E[c_1] + ... + E[c_C]) / C               the bag of a context, order forgotten
    z = W h + b                                   one logit for each word of the vocabulary
    L = - log( exp(z_y) / sum_v exp(z_v) )        cross-entropy with the true word y, the mean over a batch

Glossary: N sentences, T tokens of a text, r words on either side, C = 2r words of context, B windows in a batch,
V words in the vocabulary, D width of a word's vector.

Source: T. Mikolov, K. Chen, G. Corrado, J. Dean, "Efficient Estimation of Word Representations in Vector Space",
2013, section 3.1. The softmax here is the full one, where the paper takes a hierarchical one to save time.
"""

from __future__ import annotations

from collections import Counter

import torch
from torch import Tensor, nn

UNKNOWN = "<unk>"


def build_vocab(tokens: list[str], min_count: int = 1) -> dict[str, int]:
    """Word -> id for words that occur at least `min_count` times; `<unk>`, for all the others, is 0.

    The most frequent word gets 1, and so on; equally frequent words are sorted alphabetically.
    """
    counts = Counter(tokens)
    kept = [word for word, count in counts.items() if count >= min_count and word != UNKNOWN]
    ranked = sorted(kept, key=lambda word: (-counts[word], word))
    return {word: index for index, word in enumerate([UNKNOWN, *ranked])}


def bag_of_words(sentences: list[list[str]], vocab: dict[str, int]) -> Tensor:
    """Count how often each sentence holds each word: (N, V), a LongTensor. Unknown words are counted in column 0."""
    counts = torch.zeros(len(sentences), len(vocab), dtype=torch.long)
    for row, sentence in enumerate(sentences):
        for word in sentence:
            counts[row, vocab.get(word, 0)] += 1
    return counts


def context_windows(ids: Tensor, radius: int) -> tuple[Tensor, Tensor]:
    """Each word that has `radius` words on both sides, and those words: contexts (T - 2r, 2r), targets (T - 2r,).

    A context reads from left to right, and leaves the target out.

    Raises:
        ValueError: the text is shorter than 2r, or r is below one.
    """
    if ids.ndim != 1 or radius < 1 or len(ids) < 2 * radius:
        raise ValueError(f"ids of shape {tuple(ids.shape)} hold no {radius} words on both sides of anything")
    if len(ids) == 2 * radius:
        return ids.new_zeros(0, 2 * radius), ids.new_zeros(0)
    windows = ids.unfold(0, 2 * radius + 1, 1)  # (T - 2r, 2r + 1)
    contexts = torch.cat([windows[:, :radius], windows[:, radius + 1 :]], dim=1)
    return contexts, windows[:, radius].clone()


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean of -log softmax(logits)[target] over a batch: logits (B, V), LongTensor targets (B,) -> a scalar.

    -log(exp(z_y) / sum exp(z)) = logsumexp(z) - z_y, and logsumexp takes the largest logit out before it exponentiates.
    So no probability is computed that could be rounded to zero.

    Raises:
        ValueError: there is not one target for each row.
    """
    if logits.ndim != 2 or targets.shape != logits.shape[:1]:
        raise ValueError(f"expected logits (B, V) and targets (B,), got {tuple(logits.shape)}, {tuple(targets.shape)}")
    chosen = logits.gather(1, targets[:, None]).squeeze(1)  # (B,)
    return (logits.logsumexp(dim=1) - chosen).mean()


def cbow_logits(contexts: Tensor, E: Tensor, W: Tensor, b: Tensor) -> Tensor:
    """Logits (B, V) of every word as the centre of contexts (B, C), a LongTensor: E and W (V, D), b (V,).

    E holds each word's vector as a neighbour, W its vector as the word to be guessed.

    Raises:
        ValueError: the tables do not fit each other.
    """
    if E.ndim != 2 or E.shape != W.shape or b.shape != W.shape[:1]:
        raise ValueError(
            f"expected E and W (V, D) and b (V,), got {tuple(E.shape)}, {tuple(W.shape)}, {tuple(b.shape)}"
        )
    h = E[contexts].mean(dim=1)  # (B, C, D) -> (B, D)
    return h @ W.T + b


def nearest(E: Tensor, index: int, k: int) -> Tensor:
    """The `k` words whose vectors point most nearly where that of `index` points: LongTensor (k,), nearest first.

    The similarity is the cosine, so lengths do not count. The word itself is not among them.

    Raises:
        ValueError: there are no `k` other words.
    """
    if not 0 < k < len(E):
        raise ValueError(
            f"{k} neighbours were asked for, but E of shape {tuple(E.shape)} has only {len(E) - 1} other words"
        )
    directions = E / E.norm(dim=1, keepdim=True).clamp(min=1e-12)
    similarity = directions @ directions[index]  # (V,)
    similarity[index] = -torch.inf
    return similarity.topk(k).indices


class CBOW(nn.Module):
    """The three tensors of the model, E (V, D), W (V, D) and b (V,), called with contexts (B, C) -> logits (B, V)."""

    def __init__(self, vocab_size: int, width: int) -> None:
        super().__init__()
        # Small, so that training and not chance decides where a rare word's vector points.
        self.E = nn.Parameter(0.1 * torch.randn(vocab_size, width))
        self.W = nn.Parameter(0.1 * torch.randn(vocab_size, width))
        self.b = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, contexts: Tensor) -> Tensor:
        """Logits of every word as the centre of each context."""
        return cbow_logits(contexts, self.E, self.W, self.b)
