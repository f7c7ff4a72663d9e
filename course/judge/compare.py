"""Compare a student's recording with the expected one, and describe the first difference in a sentence.

Compared are, in this order: type, shape, dtype, values, gradients, side effects, laws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from torch import Tensor

from ..exercise.key import KeyCase
from ..exercise.laws import EXPECTED, Outputs, broken, measured
from ..exercise.nested import leaves
from ..exercise.recording import Recording
from .compare_values import values_differ
from .difference import Difference
from .explain_error import difference_where_an_error_is_right, explain_change, explain_error, is_in_place

GROWTH, EXTRA = 16, 2**18
"""An answer is examined up to GROWTH times the size of the reference's outputs plus EXTRA numbers."""


def difference(key_case: KeyCase, seen: Recording, signature: Sequence[str] = ()) -> Difference | None:
    """Return the first difference between the expected recording of a case and the recording `seen`, or None."""
    case = key_case.case
    if case.raises:
        return difference_where_an_error_is_right(case, seen)
    if seen.raised is not None:
        if is_in_place(seen):
            return explain_change(case, seen.mutated[0], signature)
        return explain_error(seen.raised, case, seen.outputs)
    changed = (
        explain_change(case, seen.mutated[0], signature) if seen.mutated and not key_case.expected.mutated else None
    )
    if case.values:
        found = values_differ(case, key_case.expected, seen)
        if found is not None:  # a gradient may be wrong because an input was changed
            return changed if changed and found.kind == "gradient" else found
    if changed:
        return changed
    if is_too_large(key_case, seen):
        return Difference("shape", "far more numbers came back than a right answer has")
    outputs = outputs_for_laws(key_case, seen)
    for use in case.laws:
        sentence = broken(use, outputs)
        if sentence:
            return Difference("law", sentence)
    return None


def what_was_measured(key_case: KeyCase, seen: Recording) -> str:
    """Say what the laws of a public case measured and which bars they compare it with, or return an empty string."""
    if not key_case.case.public or seen.raised is not None or is_too_large(key_case, seen):
        return ""
    outputs = outputs_for_laws(key_case, seen)
    return " ".join(filter(None, (measured(use, outputs) for use in key_case.case.laws)))


def is_too_large(key_case: KeyCase, seen: Recording) -> bool:
    """Return whether an answer is too large to examine. Some laws compare every number with every other.

    A tensor counts by its sizes, with 0 counted as 1, because a law may allocate a tensor of the same sizes.
    """
    extent = _extent(seen.outputs)
    return extent > EXTRA and extent > GROWTH * _extent(key_case.expected.outputs) + EXTRA


def _extent(outputs: Outputs) -> int:
    shapes = (value.shape if isinstance(value, Tensor | np.ndarray) else () for value in leaves(outputs))
    return sum(math.prod(max(size, 1) for size in shape) for shape in shapes)


def outputs_for_laws(key_case: KeyCase, seen: Recording) -> Outputs:
    """Return the outputs of `seen` as the laws expect them, with the reference's outputs added if a law needs those."""
    return {**seen.outputs, EXPECTED: key_case.expected.outputs} if key_case.is_relative else seen.outputs
