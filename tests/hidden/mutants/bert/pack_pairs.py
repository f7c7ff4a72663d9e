"""Wrong answers to `pack_pairs` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.bert import pack_pairs


def segments_of_bytes(first, second, cls, sep):
    ids, segments, mask = pack_pairs(first, second, cls, sep)
    return ids, segments.to(torch.uint8), mask


def second_sentence_first(first, second, cls, sep):
    return pack_pairs(first, second, cls, sep) if second is None else pack_pairs(second, first, cls, sep)


def mask_turned_round(first, second, cls, sep):
    ids, segments, mask = pack_pairs(first, second, cls, sep)
    return ids, segments, ~mask


MUTANTS = [segments_of_bytes, second_sentence_first, mask_turned_round]
