"""What the course reads from and writes to nbgrader's gradebook beyond nbgrader's own steps."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Scores:
    """A submission's points in the gradebook: `cells` by grade_id, None where nobody has decided yet."""

    score: float
    points: float
    cells: dict[str, float | None] = field(default_factory=dict)
    maxima: dict[str, float] = field(default_factory=dict)


def keep_engines() -> None:
    """Have nbgrader keep a database's engine when it closes the gradebook, as it does a dozen times a submission.

    With the engine go the statements it has compiled, which are a third of the work of saving. Connections are closed
    all the same.
    """
    import nbgrader.api

    if not hasattr(nbgrader.api.create_engine, "cache_info"):
        nbgrader.api.create_engine = cache(nbgrader.api.create_engine)


def keep_schemas() -> None:
    """Have nbgrader check the schema of its cells' metadata once, and not with each of the cells it looks at.

    That is a tenth of the work of saving.
    """
    from types import SimpleNamespace

    from nbgrader.nbgraderformat import common

    if common.jsonschema.validate is not _validate:
        common.jsonschema = SimpleNamespace(validate=_validate)


def _validate(instance: object, schema: object) -> None:
    """What `jsonschema.validate` does."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(json.dumps(schema, sort_keys=True)).iter_errors(instance))
    if error is not None:
        raise error


@cache
def _validator(schema: str) -> Any:
    from jsonschema.validators import validator_for

    plain = json.loads(schema)
    kind = validator_for(plain)
    kind.check_schema(plain)
    return kind(plain)


def clear_scores(db_url: str, assignment: str, student: str, notebooks: Iterable[str]) -> None:
    """Forget the automatic scores of a student's notebooks; what was given by hand stays."""
    from nbgrader.api import Gradebook, MissingEntry

    with Gradebook(db_url) as gradebook:
        for name in notebooks:
            try:
                submitted = gradebook.find_submission_notebook(name, assignment, student)
            except MissingEntry:
                continue
            for grade in submitted.grades:
                grade.auto_score, grade.needs_manual_grade = None, True
        gradebook.db.commit()


def read_scores(db_url: str, assignment: str, student: str, notebook: str) -> Scores | None:
    """The points of a student's notebook, or None when the gradebook has none."""
    from nbgrader.api import Gradebook, MissingEntry

    with Gradebook(db_url) as gradebook:
        try:
            submitted = gradebook.find_submission_notebook(notebook, assignment, student)
        except MissingEntry:
            return None
        undecided = {
            grade.name for grade in submitted.grades if grade.auto_score is None and grade.manual_score is None
        }
        return Scores(
            submitted.score,
            submitted.max_score,
            {grade.name: None if grade.name in undecided else grade.score for grade in submitted.grades},
            {grade.name: grade.max_score for grade in submitted.grades},
        )


def class_secret(db_url: str) -> str:
    """The number a class's hidden cases are drawn with, kept beside the gradebook and readable by its owner alone."""
    path = Path(db_url.removeprefix("sqlite:///").partition("?")[0]).parent if "sqlite:" in db_url else Path()
    path = path / ".course-secret"
    if not _line(path):
        drawn = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        drawn.touch(mode=0o600)
        drawn.write_text(secrets.token_hex(16))
        try:
            os.link(drawn, path)  # of two who grade at once, the first decides
        except OSError:
            if not _line(path):  # cut off while it was written, or a disk without links
                drawn.replace(path)
        drawn.unlink(missing_ok=True)
    return _line(path)


def _line(path: Path) -> str:
    return path.read_text().strip() if path.is_file() else ""
