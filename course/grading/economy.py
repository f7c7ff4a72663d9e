"""Work that nbgrader does a dozen times a submission, done once: in all, more than half of what saving takes.

nbgrader has no hooks at these places, so functions it calls are replaced by ones that answer the same.
"""

from __future__ import annotations

import json
from functools import cache
from types import SimpleNamespace
from typing import Any


def economise() -> None:
    """Have nbgrader keep, in this process, what it would find out anew."""
    _keep_engines()
    _keep_tables()
    _keep_schemas()


def _keep_engines() -> None:
    """Have nbgrader keep a database's engine when it closes the gradebook, as it does a dozen times a submission.

    With the engine go the statements it has compiled, which are a third of the work of saving. Connections are closed
    all the same.
    """
    import nbgrader.api

    if not hasattr(nbgrader.api.create_engine, "cache_info"):
        nbgrader.api.create_engine = cache(nbgrader.api.create_engine)


def _keep_tables() -> None:
    """Have nbgrader ask a database for its tables all at once, and not for one after the other, when it opens it."""
    from nbgrader.api import Base, inspect

    create = Base.metadata.create_all
    if getattr(create, "economical", False):
        return

    def create_all(bind: Any) -> None:
        if not set(Base.metadata.tables) <= set(inspect(bind).get_table_names()):
            create(bind=bind)

    create_all.economical = True  # type: ignore[attr-defined]
    Base.metadata.create_all = create_all


def _keep_schemas() -> None:
    """Have nbgrader check the schema of its cells' metadata once, and not with each of the cells it looks at."""
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
