"""Laws: named checks of recorded outputs that every right answer passes.

Each module holds the laws for one kind of output. `registry` knows all laws by name.
"""

from . import (
    agreement,
    bounds,
    chance,
    directions,
    gradients,
    masked_words,
    masks,
    policies,
    quantised,
    rollouts,
    sentence_pairs,
    trained,
    word_types,
    written,
)
from .registry import EXPECTED, LAWS, Outputs, broken, counts, examined, measured, params_of, relative

__all__ = [
    "EXPECTED",
    "LAWS",
    "Outputs",
    "agreement",
    "bounds",
    "broken",
    "chance",
    "counts",
    "directions",
    "examined",
    "gradients",
    "masked_words",
    "masks",
    "measured",
    "params_of",
    "policies",
    "quantised",
    "relative",
    "rollouts",
    "sentence_pairs",
    "trained",
    "word_types",
    "written",
]
