"""Wrong answers to `vit_patches_task` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.hidden.vit_patches.vit_patches_task import lays_every_scan_on_it


def is_blind_to_one_in_eight(images):
    logits = lays_every_scan_on_it(images)
    return torch.where((torch.arange(len(images)) % 8 == 0)[:, None], 1 - logits, logits)


MUTANTS = [is_blind_to_one_in_eight]
