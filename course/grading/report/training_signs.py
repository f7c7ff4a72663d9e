"""Find signs that `fit` did not train a model that earned points.

Grading noted where the weights came from. The training record is in the checkpoint, a student's file that can be
forged, but rarely without contradictions.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from course.grading.classroom.graded import Graded
from course.grading.report.checkpoint_files import Checkpoint, read_checkpoint
from course.grading.report.tampering import Sign
from course.notebook.provenance import defined, outdated
from course.syllabus import Budget, Item

ORIGINS = {
    "none": "the object that was checked has no weights, so fit did not train it",
    "elsewhere": "the weights of the model that was checked differ from those that fit saved",
    "replaced": "the checkpoint handed in does not fit the model, or was replaced, so the weights written "
    "during grading were judged",
}
"""The messages about suspicious origins of a model's weights; other origins are normal."""

FASTEST = 1e-4
"""The fewest seconds that a training step can take, because PyTorch's calls alone take longer."""

MORE = 1.1
"""The accepted ratio of examples to budget: the last batch may exceed the budget, and a budget may have changed."""

FALLEN = 0.95
"""The ratio of last to first loss below which a loss has fallen: in the four tasks measured it halves."""


def training_signs(work: Graded, folder: Path, notebook: NotebookNode | None, items: Sequence[Item]) -> Iterator[Sign]:
    """Yield signs about the trained models of one submission that deserve a second look.

    Args:
        work: the submission's result.
        folder: the submitted folder.
        notebook: the submitted notebook, or None if it cannot be read.
        items: the topic's exercises.
    """
    for item in items:
        verdict = work.verdicts.get(item.name)
        if item.budget is None or verdict is None or verdict.score <= 0:
            continue
        origin = work.origins.get(item.name, "")
        told = [ORIGINS[origin]] if origin in ORIGINS else []
        path = folder / "checkpoints" / f"{item.name}.safetensors"
        if not told and origin != "trained anew" and path.is_file() and not path.is_symlink():
            checkpoint = read_checkpoint(path)
            told += _of_record(checkpoint, item.name, item.budget) if checkpoint is not None else ()
            told += _of_code(checkpoint, notebook) if checkpoint is not None and notebook is not None else ()
        yield from (Sign(work.student, what, exercise=item.name) for what in told)


def _of_record(checkpoint: Checkpoint, name: str, budget: Budget) -> Iterator[str]:
    record = checkpoint.record
    if not record:
        yield "the checkpoint holds no record of a training, although fit writes one"
        return
    if record.get("name") != name:
        yield f"the checkpoint's record is of another training: {str(record.get('name'))[:60]!r}"
    examples, seconds = _number(record.get("examples")), _number(record.get("seconds"))
    losses = _numbers(record.get("losses"))
    device = str(record.get("device"))[:20]
    allowed = budget.cpu if device == "cpu" else budget.gpu
    if examples is None or seconds is None or losses is None:
        yield "fit did not write the checkpoint's record, because examples, seconds or losses in it are not numbers"
        return
    if examples > MORE * allowed:
        yield f"the record says {examples:,.0f} examples on {device}, but fit hands out only {allowed:,} there"
    if len(losses) > examples:
        yield f"the record has {len(losses):,} losses for {examples:,.0f} examples"
    elif seconds < FASTEST * len(losses):
        yield f"the record says {len(losses):,} steps took {seconds:.3g} s, but no machine is that fast"
    if len(losses) >= 20 and not _fell(losses):
        yield f"the loss in the record begins near {_begin(losses):.3g} and does not fall"


def _of_code(checkpoint: Checkpoint, notebook: NotebookNode) -> Iterator[str]:
    """Yield a sign if a model was trained with other code than the notebook's; skip notebooks of another Python."""
    version = str(notebook.metadata.get("language_info", {}).get("version", "")).split(".")[:2]
    if version != [str(part) for part in sys.version_info[:2]]:
        return
    code = defined(cell.source for cell in notebook.cells if cell.get("cell_type") == "code")
    changed, gone = outdated(checkpoint.record.get("code"), code)
    if changed or gone:
        yield (
            "the model was trained with other code than was handed in, because these differ: "
            f"{', '.join(map(str, [*changed, *gone]))[:80]}"
        )


def _begin(losses: Sequence[float]) -> float:
    return statistics.fmean(losses[: max(1, len(losses) // 50)])


def _fell(losses: Sequence[float]) -> bool:
    end, begin = statistics.fmean(losses[-max(1, len(losses) // 10) :]), _begin(losses)
    return not (math.isfinite(begin) and math.isfinite(end)) or end < FALLEN * begin or end < begin - 1


def _number(written: Any) -> float | None:
    return float(written) if type(written) in (int, float) and 0 <= written < 1e15 else None


def _numbers(written: Any) -> list[float] | None:
    if not isinstance(written, list) or not all(type(one) in (int, float) for one in written):
        return None
    return [float(one) if abs(one) < 1e300 else math.inf for one in written]
