"""Loading the weights handed in, or training anew: submissions a minute, for the two classes of `grading` and where
training takes longest.

Two workers, solved submissions with their weights. They are trained anew with as many examples as a laptop gets, and
as a GPU gets: what was trained on one is graded here without one. Set BENCH_STUDENTS for other sizes than 24; a sixth
of them is trained anew.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench._classes import make_class
from bench.grading import ALL, GRADE, REPOSITORY, RETRAINED, STUDENTS, run
from course.course import Course

TOPICS = (
    "03_rnn",
    "05_bahdanau_attention",
    "06_self_attention",
    "09_masking",
    "10_encoder_decoder",
    "11_vit_patches",
)


def rows() -> Iterator[list[str]]:
    """A row for each topic."""
    yield ["submissions/min", "weights loaded", "anew, CPU's", "ratio", "anew, GPU's", "ratio"]
    with gpu_examples() as generous:
        for name in TOPICS:
            loaded = _rate(name, "checkpoint", STUDENTS)
            anew = [_rate(name, "retrain", RETRAINED, package) for package in (REPOSITORY, generous)]
            yield [name, f"{loaded:.1f}", *(cell for rate in anew for cell in (f"{rate:.1f}", f"{loaded / rate:.1f}x"))]


@contextmanager
def gpu_examples() -> Iterator[Path]:
    """A copy of the package in which training on a processor sees the examples it would see on a GPU."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        package = Path(folder, "course")
        shutil.copytree(REPOSITORY / "course", package, ignore=shutil.ignore_patterns("__pycache__"))
        syllabus = package / "syllabus.py"
        budgets = re.sub(
            r"Budget\(cpu=[\d_]+, gpu=([\d_]+)\)", r"Budget(cpu=\1, gpu=\1, seconds=3600.0)", syllabus.read_text()
        )
        syllabus.write_text(budgets)
        ready = run(
            Path(folder),
            "from course.grading.kernel_edition import assemble\nassemble('', [])\n",
            repository=Path(folder),
        )
        if ready.status:
            raise RuntimeError("the copy of the package cannot be used")
        yield Path(folder)


def _rate(name: str, policy: str, size: int, repository: Path = REPOSITORY) -> float:
    """Submissions a minute."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        root = make_class(Path(folder, "class"), Course().find_topic(name), size)
        measured = run(root, GRADE, name, "2", policy, "needed", str(ALL), repository=repository)
    return 60 * size / measured.seconds
