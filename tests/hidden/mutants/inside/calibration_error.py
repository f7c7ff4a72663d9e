"""Wrong answers to `calibration_error`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations


def _bins(confidence, bins):
    held = (confidence * bins).long().clamp(max=bins - 1)
    return [held == k for k in range(bins)]


def empty_bins_are_not_a_number(confidence, right, bins=10):
    gaps = ((confidence[b].mean() - right[b].double().mean()).abs() for b in _bins(confidence, bins))
    return float(sum(gap * b.double().mean() for gap, b in zip(gaps, _bins(confidence, bins))))


def mean_of_booleans(confidence, right, bins=10):
    held = [b for b in _bins(confidence, bins) if b.any()]
    return float(sum((confidence[b].mean() - right[b].mean()).abs() * b.double().mean() for b in held))


FIRST_ATTEMPTS = {
    empty_bins_are_not_a_number: "got NaN",
    mean_of_booleans: "Got: Bool",
}


def squared_gaps(confidence, right, bins=10):
    held = [b for b in _bins(confidence, bins) if b.any()]
    return float(sum((confidence[b].mean() - right[b].double().mean()) ** 2 * b.double().mean() for b in held))


def mean_over_all_bins(confidence, right, bins=10):
    held = [b for b in _bins(confidence, bins) if b.any()]
    return float(sum((confidence[b].mean() - right[b].double().mean()).abs() for b in held) / bins)


MUTANTS = [squared_gaps, mean_over_all_bins]
