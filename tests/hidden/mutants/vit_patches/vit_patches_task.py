"""Wrong answers to `vit_patches_task` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.hidden.vit_patches.vit_patches_task import lays_every_scan_on_it


def confuses_two_digits(images):
    """Says 4 for every 9 and every other 4 for 9."""
    return lays_every_scan_on_it(images)[:, [0, 1, 2, 3, 9, 5, 6, 7, 8, 4]]


def is_blind_to_one_in_eight(images):
    logits = lays_every_scan_on_it(images)
    return torch.where((torch.arange(len(images)) % 8 == 0)[:, None], 1 - logits, logits)


MUTANTS = [
    confuses_two_digits,
    is_blind_to_one_in_eight,
]
