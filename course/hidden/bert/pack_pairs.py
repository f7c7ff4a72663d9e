"""Hidden tests of `pack_pairs`: ids, segments and mask of ragged pairs, and of single sentences."""

from __future__ import annotations

import torch
from torch.nn.utils.rnn import pad_sequence

from course.exercise import call, exercise
from course.reference import bert as reference

V, CLS, SEP = 41, 43, 47


@exercise(
    reference.pack_pairs,
    hints=(
        "Write the row of one pair by hand, `[cls] a [sep] b [sep]`, and below it its segments and its mask.",
        "How long is each row before you pad? How long is it after that, in each of the three results?",
        "Begin with one pair, and make its ids and its segments as two lists. Print them below each other for a short "
        "pair and a long one. What is still missing before all rows fit into one tensor?",
    ),
    calls=(
        "pack_pairs([tensor([5])], [tensor([6, 7])], 1, 2)",
        "pack_pairs([tensor([5]), tensor([6, 7])], None, 1, 2)",
        "pack_pairs([tensor([5]), tensor([6])], [tensor([7]), tensor([8, 9])], 1, 2)[1]",
        "pack_pairs([tensor([5]), tensor([6])], [tensor([7]), tensor([8, 9])], 1, 2)[2]",
        "pack_pairs([tensor([1, 2])], [tensor([1])], 1, 2)[0]",
        "pack_pairs([tensor([5, 5, 5]), tensor([5])], [tensor([7]), tensor([8])], 1, 2)[0].shape",
    ),
)
def pack_pairs(rng):
    """Ragged pairs and single sentences; an id of 0 inside a sentence is a word."""

    def sentences(*lengths, low=1):
        return [rng.integers(low, V, length) for length in lengths]

    yield call("two pairs", sentences(3, 5), sentences(7, 2), CLS, SEP, public=True, weight=2.0)
    yield call("single sentences", sentences(5, 2, 3), None, CLS, SEP, public=True, weight=2.0)
    yield call("pairs of many lengths", sentences(2, 11, 1, 5), sentences(3, 1, 7, 5), CLS, SEP, weight=2.0)
    zeros = [torch.tensor([0, 3, 0]), torch.tensor([5, 0])]
    yield call("a word with the id 0", zeros, sentences(2, 5), CLS, SEP, public=True)
    yield call("a word with the id 0, in the second one", sentences(2, 5), zeros, CLS, SEP, weight=0.5)
    yield call("one pair", sentences(5), sentences(3), CLS, SEP, weight=0.5)
    yield call("one sentence of one word", sentences(1), None, CLS, SEP, weight=0.5)
    yield call("pairs of one length", sentences(3, 3), sentences(3, 3), CLS, SEP, weight=0.5)
    yield call("other special tokens", sentences(3, 2), sentences(2, 7), 2, 1, weight=0.5)


def _packed(first, second, cls, sep, row=None, segments=None, mask=None, pad=0):
    """The task in which `row`, `segments` or `mask` of one pair is made otherwise."""
    ids, kinds, real = [], [], []
    for a, b in zip(first, second or [a[:0] for a in first]):
        alone = second is None
        last = [] if alone else [torch.tensor([sep])]
        ids.append((row or _row)(a, b, torch.tensor([cls]), torch.tensor([sep]), last))
        kinds.append((torch.arange(len(ids[-1])) > len(a) + 1).long() if segments is None else segments(ids[-1], a))
        real.append(torch.ones(len(ids[-1]), dtype=torch.bool) if mask is None else mask(ids[-1]))
    padded = pad_sequence(ids, batch_first=True, padding_value=pad)
    return padded, pad_sequence(kinds, batch_first=True), pad_sequence(real, batch_first=True)


def _row(a, b, cls, sep, last):
    return torch.cat([cls, a, sep, b, *last])


def _with(**pieces):
    return lambda first, second, cls, sep: _packed(first, second, cls, sep, **pieces)


pack_pairs.mistakes(
    "Print the segments of a pair. Does any number in them say where the second sentence begins?",
    one_segment=_with(segments=lambda ids, a: torch.zeros_like(ids)),
)
pack_pairs.mistakes(
    "Print the last real id of a pair. How often does `[sep]` stand in it?",
    no_sep_at_the_end=_with(row=lambda a, b, cls, sep, last: torch.cat([cls, a, sep, b])),
)
pack_pairs.mistakes(
    "To which sentence does the first `[sep]` belong? Print its segment.",
    first_sep_in_the_second_segment=_with(segments=lambda ids, a: (torch.arange(len(ids)) > len(a)).long()),
    first_sep_of_pairs_in_the_second_segment=lambda first, second, cls, sep: _packed(
        *(first, second, cls, sep), segments=lambda ids, a: (torch.arange(len(ids)) > len(a) + (second is None)).long()
    ),
)
pack_pairs.mistakes(
    "Print a row that is shorter than another. Which segment does its padding have?",
    padding_in_the_second_segment=lambda first, second, cls, sep: _padding_in_segment_one(first, second, cls, sep),
)
pack_pairs.mistakes(
    "Pack a sentence with the id 0 in it. It is a word, so what should the mask say there?",
    mask_by_the_id=lambda first, second, cls, sep: _mask_from_ids(first, second, cls, sep),
)
pack_pairs.mistakes(
    "May a word look at `[cls]` and `[sep]`? Print the mask below the ids.",
    special_tokens_masked=_with(mask=lambda ids: (ids != ids[0]) & (ids != ids[-1])),
)
pack_pairs.mistakes(
    "How often does `[cls]` stand in the row of a pair? Compare it with the form in the text.",
    a_cls_for_each_sentence=_with(
        row=lambda a, b, cls, sep, last: torch.cat([cls, a, sep, *([cls, b, *last] if last else [])])
    ),
)


def _padding_in_segment_one(first, second, cls, sep):
    ids, segments, mask = reference.pack_pairs(first, second, cls, sep)
    return ids, torch.where(mask, segments, 1), mask


def _mask_from_ids(first, second, cls, sep):
    ids, segments, _ = reference.pack_pairs(first, second, cls, sep)
    return ids, segments, ids != 0
