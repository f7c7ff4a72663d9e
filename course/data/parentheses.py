"""Balanced parentheses in five colours. No count of tokens reveals the label, only their order does.

Tokens 0 to 4 open, tokens 5 to 9 close, and i closes with j when i + j = 9. A sequence has the label 1 when it is
balanced, and 0 if two of its tokens were exchanged so that it no longer is. The two exchanged positions have the
same parity, and whether a sequence is corrupted is drawn after everything else. So the number of times each token is
at an even and at an odd position carries *no* information about the label, and a bag of tokens is right half of the
time. Neighbours do not reveal it either, because every pair and every triple of tokens in a corrupted sequence also
occurs in balanced ones.

Glossary: B sequences, T tokens of the longest. Padding is 0, which is also a token, so the lengths are needed.

Source: Arnold and Sleep (1980), "Uniform random generation of balanced parenthesis strings", for the coin's bias.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .cache import datasets_library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from datasets import Dataset

COLOURS = 5
TOKENS = 2 * COLOURS
SYMBOLS = "([{<«»>}])"
"""The printed form of the tokens. Character i opens what character 9 - i closes."""
LENGTHS = (6, 16)
"""Shortest and longest sequence of the training task."""
LONGER = (6, 24)
"""Shortest and longest sequence of the training task for networks with gates."""
BATCH = 64
"""Sequences in a training batch."""
TRIES = 16
"""Exchanges that are tried on a balanced sequence before another one is drawn."""


def balanced(lengths: Tensor, generator: torch.Generator) -> Tensor:
    """Draw balanced sequences (B, T), uniform over shapes of that length and over colours.

    Args:
        lengths: LongTensor (B,), even and at least 2.
        generator: the source of all random numbers.

    Raises:
        ValueError: a length is odd or below 2.
    """
    if (lengths % 2).any() or (lengths < 2).any():
        raise ValueError(f"balanced sequences have even lengths of at least 2, got {sorted(set(lengths.tolist()))}")
    size, longest = len(lengths), int(lengths.max())
    coins = torch.rand(longest, size, generator=generator)
    colours = torch.randint(COLOURS, (longest, size), generator=generator)
    height = torch.zeros(size, dtype=torch.long)
    opens = []
    for t in range(longest):
        left = (lengths - t).clamp(min=0)
        # of all ways to come down to 0 in `left` steps, the share that starts with a step up
        opens.append(coins[t] * (2 * left * (height + 1)) < (height + 2) * (left - height))
        height = height + torch.where(opens[t], 1, -1)  # not read after the end
    opened = torch.stack(opens, dim=1)
    pairs, _ = _pairs(opened, lengths)
    first = colours.T.gather(1, pairs[:, ::2])
    ids = torch.zeros(size, longest, dtype=torch.long)
    ids.scatter_(1, pairs, torch.stack([first, TOKENS - 1 - first], dim=2).flatten(1))
    return ids * (torch.arange(longest) < lengths.unsqueeze(1))


def _pairs(opens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Return the positions (B, T) of each row with partners side by side, and the depth after each token, by position.

    In a row that is balanced except for its colours, each opening token is followed by its closing one: both are at
    one depth, and at each depth opening and closing tokens alternate. Padding comes last.
    """
    longest = opens.shape[1]
    real = torch.arange(longest) < lengths.unsqueeze(1)
    step = (2 * opens.to(torch.int16) - 1) * real
    height = step.cumsum(1, dtype=torch.int16)
    level = (height + ~opens).masked_fill(~real, longest + 1)
    return level.argsort(dim=1, stable=True), height


def is_balanced(ids: Tensor, lengths: Tensor) -> Tensor:
    """Return whether the first `lengths` tokens of each row of `ids` (B, T) are balanced: a bool tensor (B,)."""
    opens = ids < COLOURS
    pairs, height = _pairs(opens, lengths)
    first, second = ids.gather(1, pairs[:, : ids.shape[1] // 2 * 2]).unflatten(1, (-1, 2)).unbind(2)
    behind = 2 * torch.arange(first.shape[1]) >= lengths.unsqueeze(1)
    fits = (first + second == TOKENS - 1) | behind
    return (height >= 0).all(1) & (height[:, -1] == 0) & fits.all(1)


def still_open(ids: Tensor) -> Tensor:
    """Return the innermost parenthesis still open before each token of ids (B, T), as its token, or -1.

    A closing token closes it even if its colour is wrong. So token i at position t is impossible if i closes and
    i + still_open(ids)[t] is not 9.
    """
    stack = torch.full((len(ids), ids.shape[1] + 2), -1)
    depth = torch.zeros(len(ids), 1, dtype=torch.long)  # position 0, the bottom of the stack, stays -1
    innermost = []
    for t in range(ids.shape[1]):
        innermost.append(stack.gather(1, depth))
        token = ids[:, t : t + 1]
        opens = token < COLOURS
        depth = torch.where(opens, depth + 1, (depth - 1).clamp(min=0))
        stack.scatter_(1, depth, torch.where(opens, token, stack.gather(1, depth)))
    return torch.cat(innermost, dim=1)


def looks_right(ids: Tensor, lengths: Tensor) -> Tensor:
    """Return whether all pairs of neighbours and both ends are possible in a balanced sequence: a bool tensor (B,).

    An opening token must not be right before a closing one of another colour, the first token opens, and the last
    one closes. A window of two tokens sees no more than this, and neither does a window of three.
    """
    before, after = ids[:, :-1], ids[:, 1:]
    inside = torch.arange(1, ids.shape[1]) < lengths.unsqueeze(1)
    clash = (before < COLOURS) & (after >= COLOURS) & (before + after != TOKENS - 1) & inside
    last = ids.gather(1, (lengths - 1).unsqueeze(1)).squeeze(1)
    return ~clash.any(dim=1) & (ids[:, 0] < COLOURS) & (last >= COLOURS)


def corrupted(ids: Tensor, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Exchange two tokens in each balanced row of `ids` (B, T), so that it is not balanced but still `looks_right`.

    The two positions are drawn uniformly among those of equal parity. Return the new rows and a bool tensor (B,) that
    is False, and the row unchanged, if none of `TRIES` draws was such an exchange. `()[]` has none.
    """
    rows = torch.arange(len(ids)).repeat(TRIES)  # all draws of all rows at once
    size = lengths[rows].unsqueeze(1)
    first = (torch.rand(len(rows), 1, generator=generator) * size).long()
    second = first % 2 + 2 * (torch.rand(len(rows), 1, generator=generator) * (size // 2)).long()
    swapped = ids.to(torch.int16)[rows]  # for a quarter of the memory
    one, other = swapped.gather(1, first), swapped.gather(1, second)
    swapped.scatter_(1, first, other).scatter_(1, second, one)
    good = looks_right(swapped, lengths[rows]).nonzero().squeeze(1)
    good = good[~is_balanced(swapped[good], lengths[rows[good]])]
    chosen = torch.full((len(ids),), -1).scatter_reduce(0, rows[good], good, "amax")  # the last of several
    found = chosen >= 0
    return torch.where(found.unsqueeze(1), swapped[chosen].long(), ids), found


def examples(count: int, lengths: tuple[int, int], generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Draw `count` sequences, half of them corrupted on average: ids (B, T), lengths (B,), labels (B,).

    Lengths are even, uniform between the two given, both included. A balanced sequence that no exchange corrupts is
    drawn again *before* the label is, so the counts of tokens carry no information about it.

    Raises:
        ValueError: lengths below 6, where no exchange goes unnoticed, or no even length between the two.
    """
    shortest, longest = (lengths[0] + 1) // 2, lengths[1] // 2
    if shortest < 3 or longest < shortest:
        raise ValueError(f"lengths=(shortest, longest) needs 6 <= shortest <= longest, got {lengths}")
    sizes = 2 * torch.randint(shortest, longest + 1, (count,), generator=generator)
    good = balanced(sizes, generator)
    bad, found = corrupted(good, sizes, generator)
    while not found.all():
        again = (~found).nonzero().squeeze(1)
        fresh = balanced(sizes[again], generator)
        ruined, found[again] = corrupted(fresh, sizes[again], generator)
        good[again, : fresh.shape[1]], bad[again, : fresh.shape[1]] = fresh, ruined
    labels = torch.randint(2, (count,), generator=generator)
    return torch.where(labels.unsqueeze(1) == 1, good, bad), sizes, labels


def window_sees(ids: Tensor, lengths: Tensor, n: int) -> Tensor:
    """Return whether some n neighbours of a row are impossible in any balanced sequence: a bool tensor (B,).

    This is the most that a table of n-grams could learn from any amount of text.

    Raises:
        ValueError: a row is shorter than the window.
    """
    if n < 1 or n > int(lengths.min()):
        raise ValueError(f"a window of {n} does not fit sequences of {int(lengths.min())} tokens")
    windows = ids.unfold(1, n, 1)  # (B, T - n + 1, n)
    size, places, _ = windows.shape
    stack = torch.zeros(size, places, n + 1, dtype=torch.long)
    depth = torch.zeros(size, places, 1, dtype=torch.long)
    clash = torch.zeros(size, places, 1, dtype=torch.bool)
    for t in range(n):
        token = windows[..., t : t + 1]
        opens = token < COLOURS
        top = stack.gather(2, (depth - 1).clamp(min=0))
        clash |= ~opens & (depth > 0) & (top + token != TOKENS - 1)  # anything may close a token before the window
        stack.scatter_(2, depth, token)
        depth = (depth + torch.where(opens, 1, -1)).clamp(min=0)
    whole = torch.arange(places) + n <= lengths.unsqueeze(1)
    return (clash.squeeze(2) & whole).any(dim=1)


def text(ids: Tensor) -> str:
    """Return one sequence (T,), without its padding, in readable form: `[(){}]`."""
    return "".join(SYMBOLS[token] for token in ids.tolist())


def load(sequences: int = 2000, lengths: tuple[int, int] = LENGTHS, seed: int = 0) -> Dataset:
    """Return `sequences` rows with columns `ids` (padded to the longest), `length`, `label` and `text`, as tensors.

    They are made from `seed` each time, which is faster than reading them from a disk.
    """
    ids, sizes, labels = examples(sequences, lengths, torch.Generator().manual_seed(seed))
    texts = [text(row[:size]) for row, size in zip(ids, sizes.tolist(), strict=True)]
    columns = {"ids": ids.numpy(), "length": sizes.numpy(), "label": labels.numpy(), "text": texts}
    return datasets_library().Dataset.from_dict(columns).with_format("torch")


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield endless training batches: ids (B, T), lengths (B,), labels (B,), each as wide as its longest sequence."""
    while True:  # many at once, because a loop over steps takes as long for one row as for thousands
        ids, sizes, labels = examples(128 * BATCH, LENGTHS, generator)
        for start in range(0, len(ids), BATCH):
            chosen = slice(start, start + BATCH)
            yield ids[chosen, : int(sizes[chosen].max())], sizes[chosen], labels[chosen]


def similar_batches(generator: torch.Generator, size: int = 2 * BATCH) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield endless training batches of the lengths `LONGER`: ids (B, T), lengths (B,), labels (B,) of B = `size`.

    A batch holds sequences of one length or of two neighbouring ones, which saves padding. The batches come in random
    order.
    """
    while True:
        ids, sizes, labels = examples(64 * size, LONGER, generator)
        batches = sizes.argsort(stable=True).split(size)
        for place in torch.randperm(len(batches), generator=generator).tolist():
            chosen = batches[place]
            yield ids[chosen, : int(sizes[chosen].max())], sizes[chosen], labels[chosen]
