"""Loading the weights handed in, or training anew: submissions a minute, where training takes longest.

Two workers, solved submissions with their weights. Set BENCH_STUDENTS for other sizes than 24; a sixth of them is
trained anew.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench._classes import make_class
from bench.grading import ALL, GRADE, RETRAINED, STUDENTS, run
from course.syllabus import find_topic

TOPICS = ("05_bahdanau_attention", "09_masking", "10_encoder_decoder", "11_vit_patches")


def rows() -> Iterator[list[str]]:
    """A row for each topic."""
    yield ["submissions/min", "weights loaded", "trained anew", "ratio"]
    for name in TOPICS:
        rates = []
        for policy, size in (("checkpoint", STUDENTS), ("retrain", RETRAINED)):
            with tempfile.TemporaryDirectory(prefix="bench-") as folder:
                root = make_class(Path(folder, "class"), find_topic(name), size)
                measured = run(root, GRADE, name, "2", policy, "needed", str(ALL))
            rates.append(60 * size / measured.seconds)
        yield [name, *(f"{rate:.1f}" for rate in rates), f"{rates[0] / rates[1]:.1f}x"]
