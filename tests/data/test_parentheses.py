"""Coloured parentheses: the labels are true, and nothing short of reading in order gives them away."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course import data
from course.data.parentheses import (
    COLOURS,
    LENGTHS,
    SYMBOLS,
    TOKENS,
    balanced,
    examples,
    is_balanced,
    looks_right,
    still_open,
    text,
    window_sees,
)

few = settings(max_examples=20)


def drawn(count=3000, lengths=LENGTHS, seed=0):
    return examples(count, lengths, torch.Generator().manual_seed(seed))


def balanced_by_a_stack(tokens) -> bool:
    stack = []
    for token in tokens:
        if token < COLOURS:
            stack.append(token)
        elif not stack or stack.pop() + token != TOKENS - 1:
            return False
    return not stack


def test_the_lectures_table():
    rows = {
        (2, 0, 9, 7, 0, 9): True,
        (1, 8, 3, 6): True,
        (0, 9, 2, 4, 5, 2, 7, 7): True,
        (0, 2, 7, 9, 7, 2, 7, 3): False,
        (1, 8, 9, 0, 1, 9): False,
        (1, 8, 7, 1): False,
    }
    for tokens, label in rows.items():
        assert bool(is_balanced(torch.tensor([tokens]), torch.tensor([len(tokens)]))) is label, tokens


@few
@given(st.integers(0, 2**20), st.integers(3, 20))
def test_labels_are_what_a_stack_says(seed, half):
    ids, lengths, labels = drawn(60, (6, 2 * half), seed)
    for row, length, label in zip(ids.tolist(), lengths.tolist(), labels.tolist(), strict=True):
        assert balanced_by_a_stack(row[:length]) == bool(label)
        assert not any(row[length:])
        assert length % 2 == 0 and 6 <= length <= 2 * half
    assert torch.equal(is_balanced(ids, lengths), labels.bool())


def test_every_shape_is_equally_likely():
    ids = balanced(torch.full((14_000,), 8), torch.Generator().manual_seed(0))
    shapes, counts = (ids < COLOURS).unique(dim=0, return_counts=True)
    assert len(shapes) == 14  # Catalan's number for 8 parentheses
    assert (counts - 1000).abs().max() < 6 * 1000**0.5
    colours = ids[ids < COLOURS].bincount(minlength=COLOURS) / (ids < COLOURS).sum()
    assert (colours - 1 / COLOURS).abs().max() < 0.01


def test_counting_says_nothing():
    """Every label's partner, with the same counts at even and at odd places, is as likely: a bag is at chance."""
    ids, lengths, labels = drawn(20_000, (6, 12))
    real = torch.arange(ids.shape[1]) < lengths[:, None]
    for parity in (0, 1):
        here = real & (torch.arange(ids.shape[1]) % 2 == parity)
        for token in range(TOKENS):
            count = ((ids == token) & here).sum(1).double()
            gap = count[labels == 1].mean() - count[labels == 0].mean()
            error = count.std() * (4 / len(ids)) ** 0.5
            assert gap.abs() < 5 * error, f"token {token} at places of parity {parity}"


def test_a_bag_of_tokens_is_at_chance():
    """A linear classifier on counts, by parity of the place, learns nothing that holds for new sequences."""
    ids, lengths, labels = drawn(8000)
    real = (torch.arange(ids.shape[1]) < lengths[:, None]).double()
    one_hot = torch.nn.functional.one_hot(ids, TOKENS).double() * real[:, :, None]
    bag = torch.cat([one_hot[:, ::2].sum(1), one_hot[:, 1::2].sum(1), torch.ones(len(ids), 1)], dim=1)
    weights = torch.linalg.lstsq(bag[:4000], labels[:4000].double()[:, None] - 0.5).solution
    accuracy = ((bag[4000:] @ weights > 0).squeeze(1) == labels[4000:].bool()).double().mean()
    assert abs(accuracy - 0.5) < 0.04


def test_neighbours_say_nothing_and_longer_windows_only_something():
    ids, lengths, labels = drawn(4000, (16, 16))
    assert looks_right(ids, lengths).all()
    found = {n: window_sees(ids, lengths, n)[labels == 0].double().mean().item() for n in (1, 2, 3, 4, 8, 12)}
    assert found[1] == found[2] == found[3] == 0.0
    assert 0.2 < found[4] < found[8] < found[12] < 0.95
    assert not window_sees(ids, lengths, 12)[labels == 1].any()


def test_a_window_against_every_small_sequence():
    """What a window of n calls impossible really stands in no balanced sequence of two colours."""
    tokens = (0, 1, 8, 9)
    possible = set()
    for length in (2, 4, 6, 8):
        for sequence in itertools.product(tokens, repeat=length):
            if balanced_by_a_stack(sequence):
                possible |= {sequence[k : k + 3] for k in range(length - 2)}
    for window in itertools.product(tokens, repeat=3):
        sees = bool(window_sees(torch.tensor([window]), torch.tensor([3]), 3))
        assert sees == (window not in possible), window


def test_what_is_still_open():
    ids = torch.tensor([[0, 1, 8, 9, 2, 6, 7, 3]])
    assert still_open(ids).tolist() == [[-1, 0, 1, 0, -1, 2, -1, -1]]
    ids, _, labels = drawn(200, (12, 12))
    closes = ids >= COLOURS
    impossible = (closes & (ids + still_open(ids) != TOKENS - 1)).any(dim=1)
    assert torch.equal(impossible, labels == 0)


def test_load_gives_a_dataset():
    corpus = data.load("parentheses", sequences=50, lengths=(8, 12), seed=3)
    assert corpus.column_names == ["ids", "length", "label", "text"]
    rows = corpus[:]
    assert rows["ids"].shape == (50, 12)
    assert rows["ids"].dtype == rows["length"].dtype == rows["label"].dtype == torch.int64
    assert rows["text"][0] == text(rows["ids"][0, : rows["length"][0]])
    assert set(rows["text"][0]) <= set(SYMBOLS)
    again = data.load("parentheses", sequences=50, lengths=(8, 12), seed=3)[:]
    assert torch.equal(again["ids"], rows["ids"])
    assert not torch.equal(data.load("parentheses", sequences=50, lengths=(8, 12), seed=4)[:]["ids"], rows["ids"])


def test_the_stream_never_ends():
    *_, (ids, lengths, labels) = itertools.islice(data.stream("rnn_task", torch.Generator().manual_seed(1)), 130)
    assert ids.shape == (len(lengths), int(lengths.max()))
    assert torch.equal(is_balanced(ids, lengths), labels.bool())


@pytest.mark.parametrize("lengths", [(2, 4), (4, 16), (8, 6), (7, 7)])
def test_impossible_lengths_are_refused(lengths):
    with pytest.raises(ValueError, match="lengths"):
        drawn(3, lengths)


def test_odd_sequences_and_wide_windows_are_refused():
    with pytest.raises(ValueError, match="even"):
        balanced(torch.tensor([4, 5]), torch.Generator())
    with pytest.raises(ValueError, match="window"):
        window_sees(torch.zeros(1, 4, dtype=torch.long), torch.tensor([4]), 5)
