"""Right answers to `relative_buckets` that look nothing like the reference."""

from __future__ import annotations

import math

import torch


def with_logarithms_of_two(distance, n_buckets=32, max_distance=128, bidirectional=True):
    side = n_buckets // 2 if bidirectional else n_buckets
    near = side // 2
    steps = distance.abs() if bidirectional else torch.relu(-distance)
    wide = (steps.double().clamp(min=near) / near).log2() * ((side - near) / math.log2(max_distance / near))
    bucket = torch.minimum(steps, torch.full_like(steps, near))
    bucket = torch.where(steps < near, bucket, torch.clamp(near + wide.floor().long(), max=side - 1))
    return bucket + (side * (distance > 0) if bidirectional else 0)


def one_distance_at_a_time(distance, n_buckets=32, max_distance=128, bidirectional=True):
    def bucket(d):
        side, begin, d = n_buckets, 0, -d
        if bidirectional:
            side //= 2
            begin, d = (side, -d) if d < 0 else (0, d)
        d = max(d, 0)
        if d < side // 2:
            return begin + d
        exact = side // 2
        return begin + min(side - 1, exact + int(math.log(d / exact) / math.log(max_distance / exact) * (side - exact)))

    return torch.tensor([bucket(d) for d in distance.flatten().tolist()]).view(distance.shape)


ALTERNATIVES = [with_logarithms_of_two, one_distance_at_a_time]
