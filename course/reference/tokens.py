r"""Tokenisers that cut words into pieces, and negative sampling: byte-pair encoding, WordPiece, skip-gram.

A table of whole words has no number for a word it never saw. A table of bytes has one for every text, and makes the
text long. Byte-pair encoding (BPE) begins with the 256 bytes and joins the commonest pair of neighbours into one piece,
again and again. WordPiece, BERT's way, reads the longest piece that it knows, from the left.

    bits per byte  =  - sum_t log2 p(piece_t | pieces before) / bytes of the text

Skip-gram with negative sampling learns a vector e_w for each word w and o_c for each word c of its context. It tells a
pair that was seen from k pairs whose context was drawn from the noise P_n(c) ∝ count(c)^0.75:

    L = - log σ(e_w · o_c) - sum_i log σ(- e_w · o_{n_i})
    e_w · o_c  =  log( P(w, c) / (P(w) P_n(c)) ) - log k          where L is smallest

Glossary: T pieces of a text, V words in the vocabulary, D width of a vector, B pairs of word and context, k words of
noise for each.

Source: R. Sennrich, B. Haddow, A. Birch, "Neural Machine Translation of Rare Words with Subword Units", ACL 2016,
algorithm 1, over bytes as in A. Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, section
2.2; J. Devlin et al., "BERT", 2019; T. Mikolov et al., "Distributed Representations of Words and Phrases and their
Compositionality", NeurIPS 2013, equation 4; O. Levy, Y. Goldberg, "Neural Word Embedding as Implicit Matrix
Factorization", NeurIPS 2014, equation 10.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from course.data.words import words_of

Word = tuple[bytes, ...]
Pair = tuple[bytes, bytes]

UNKNOWN = "[UNK]"


def count_pairs(words: Counter[Word]) -> Counter[Pair]:
    """How often two pieces are neighbours within a word; each word counts as often as it occurs.

    All neighbours count, so one word a·a·a holds the pair (a, a) twice. A pair that occurs in no word has no key.
    """
    pairs: Counter[Pair] = Counter()
    for word, count in words.items():
        for pair in pairwise(word):
            pairs[pair] += count
    return +pairs


def merge_pair(word: Word, pair: Pair) -> Word:
    """`word` with each `pair` of neighbours joined into one piece, from left to right, so that none overlap."""
    pieces: list[bytes] = []
    place = 0
    while place < len(word):
        width = 2 if word[place : place + 2] == pair else 1
        pieces.append(b"".join(word[place : place + width]))
        place += width
    return tuple(pieces)


def train_bpe(text: str, merges: int) -> list[Pair]:
    """The pairs to join, in order: at most `merges` of them, and fewer if every word has become a single piece.

    Each is the commonest pair once those before it are joined. Of equally common pairs the older one is taken: byte b
    is piece number b, the k-th merge (from 0) makes piece 256 + k, and the smaller first number decides, then the
    smaller second.
    """
    words = Counter(as_bytes(word) for word in words_of(text))
    number = {bytes([byte]): byte for byte in range(256)}
    pairs, learned = count_pairs(words), list[Pair]()
    while pairs and len(learned) < merges:
        pair = min(pairs, key=lambda pair: (-pairs[pair], number[pair[0]], number[pair[1]]))
        # Only the words that hold the pair change, so only their neighbours are counted anew.
        before = Counter({word: count for word, count in words.items() if pair in pairwise(word)})
        after = Counter({merge_pair(word, pair): count for word, count in before.items()})
        words = words - before + after
        pairs = pairs - count_pairs(before) + count_pairs(after)
        number[pair[0] + pair[1]] = len(number)
        learned.append(pair)
    return learned


def bpe_encode(text: str, merges: Sequence[Pair]) -> list[bytes]:
    """The pieces of `text`: its words, as bytes, with the merges applied in the order in which they were learned."""
    rank = {pair: place for place, pair in enumerate(merges)}
    pieces: list[bytes] = []
    for word in map(as_bytes, words_of(text)):
        # The earliest merge whose pair is there comes next: it can only make pairs that were learned after it.
        while known := [pair for pair in pairwise(word) if pair in rank]:
            word = merge_pair(word, min(known, key=rank.__getitem__))
        pieces += word
    return pieces


def bpe_decode(pieces: Sequence[bytes]) -> str:
    """The text of `pieces`. A character may be cut in two, so bytes are joined before they are read as UTF-8.

    Bytes that are no UTF-8 become U+FFFD, the replacement character: a model may write any pieces.
    """
    return b"".join(pieces).decode("utf-8", errors="replace")


def wordpiece_encode(word: str, vocab: set[str]) -> list[str]:
    """The longest piece of `vocab` that `word` begins with, then the longest of the rest, and so on.

    A piece inside the word is marked with `##`. Where no piece fits, the whole word is `["[UNK]"]`.
    """
    pieces: list[str] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        ends = (end for end in range(len(word), start, -1) if mark + word[start:end] in vocab)
        end = next(ends, None)
        if end is None:
            return [UNKNOWN]
        pieces.append(mark + word[start:end])
        start = end
    return pieces


def bits_per_byte(log_probs: Tensor, text: str) -> float:
    """What a model pays for `text`, in bits for each byte of its UTF-8: log_probs (T,), natural, one for each piece.

    Raises:
        ValueError: the text is empty, or `log_probs` has not one axis.
    """
    if log_probs.ndim != 1 or not text:
        raise ValueError(f"expected log_probs (T,) of a text, got {tuple(log_probs.shape)} and {len(text)} letters")
    bits = -log_probs.sum().item() / math.log(2)
    return bits / len(text.encode())


def negative_samples(counts: Tensor, shape: tuple[int, ...], generator: torch.Generator, power: float = 0.75) -> Tensor:
    """Words of noise, a LongTensor of `shape`: independent, each in proportion to `counts` (V,) to the `power`.

    A power below 1 gives rare words more than their share. A word that was never counted is never drawn.

    Raises:
        ValueError: no word was counted.
    """
    if counts.ndim != 1 or not (counts > 0).any():
        raise ValueError(f"expected counts (V,) with something counted, got shape {tuple(counts.shape)}")
    weights = (counts / counts.sum()) ** power  # (V,)
    drawn = torch.multinomial(weights, math.prod(shape), replacement=True, generator=generator)
    return drawn.view(shape)


def skip_gram_loss(E: Tensor, O: Tensor, centre: Tensor, context: Tensor, negative: Tensor) -> Tensor:
    """Mean over a batch of -log σ(e · o) - Σ log σ(-e · o⁻): E, O (V, D), ids (B,), (B,) and (B, k) -> a scalar.

    Raises:
        ValueError: the tables or the ids do not fit each other.
    """
    if E.shape != O.shape or context.shape != centre.shape or negative.shape[:-1] != centre.shape:
        raise ValueError(
            "expected E and O (V, D), centre and context (B,) and negative (B, k), got "
            + ", ".join(str(tuple(given.shape)) for given in (E, O, centre, context, negative))
        )
    e = E[centre]  # (B, D)
    seen = (e * O[context]).sum(-1)  # (B,)
    noise = (O[negative] @ e[..., None]).squeeze(-1)  # (B, k, D) @ (B, D, 1) -> (B, k)
    # log σ(x) = -log(1 + exp(-x)) is computed whole, so that no probability is rounded to zero on the way.
    return -(logsigmoid(seen) + logsigmoid(-noise).sum(-1)).mean()


def best_scores(joint: Tensor, noise: Tensor, k: int) -> Tensor:
    """The scores e_w · o_c (V, V) at which `skip_gram_loss` is smallest: joint P(w, c) (V, V), noise P_n(c) (V,).

    Minus infinity for pairs that never occur.
    """
    ratio = joint / (joint.sum(1, keepdim=True) * noise)
    return torch.where(joint > 0, ratio, 0.0).log() - math.log(k)


class SkipGram(nn.Module):
    """Two tables of vectors, E (V, D) for a word and O (V, D) for a word in another's context."""

    def __init__(self, vocab_size: int, width: int) -> None:
        super().__init__()
        # Small, so that training and not chance decides where a rare word's vector points.
        self.E = nn.Parameter(0.1 * torch.randn(vocab_size, width))
        self.O = nn.Parameter(0.1 * torch.randn(vocab_size, width))

    def forward(self, centre: Tensor, context: Tensor, negative: Tensor) -> Tensor:
        """The loss of a batch: ids (B,), (B,) and (B, k) -> a scalar."""
        return skip_gram_loss(self.E, self.O, centre, context, negative)


def as_bytes(word: str) -> Word:
    """A word as the pieces that training begins with: one for each byte of its UTF-8."""
    return tuple(bytes([byte]) for byte in word.encode())
