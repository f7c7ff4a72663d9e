"""Work that nbgrader does a dozen times a submission, done once: in all, more than half of what saving takes.

nbgrader has no hooks at these places, so functions it calls are replaced by ones that answer the same.
`one_gradebook` has all it changes for a submission saved at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbgrader.api import Gradebook


def economise() -> None:
    """Have nbgrader keep, in this process, what it would find out anew."""
    _keep_engines()
    _keep_tables()
    _keep_schemas()
    _keep_opened()


@contextmanager
def one_gradebook(db_url: str) -> Iterator[None]:
    """Whoever opens this gradebook meanwhile works on one connection, and what they commit is saved at the end.

    All of it or, after an exception, nothing: a grader that is stopped leaves no submission half saved.
    """
    from nbgrader.api import Gradebook
    from sqlalchemy.orm import scoped_session, sessionmaker

    with Gradebook(db_url) as gradebook, gradebook.engine.connect() as connection, connection.begin():
        session = scoped_session(sessionmaker(bind=connection, join_transaction_mode="rollback_only"))
        _opened[db_url] = _Opened(session, {gradebook.course_id})
        try:
            yield
        finally:
            _opened.pop(db_url).session.remove()


@dataclass(frozen=True)
class _Opened:
    """A gradebook that is held open, and the courses it is known to have."""

    session: Any
    courses: set[str]


_opened: dict[str, _Opened] = {}


def _keep_opened() -> None:
    """Have nbgrader, which opens the gradebook ten times a submission, use the one that is held open."""
    from nbgrader.api import Gradebook

    start, end = Gradebook.__init__, Gradebook.close
    if getattr(start, "economical", False):
        return

    def begin(self: Gradebook, db_url: str, course_id: str = "default_course", authenticator: Any = None) -> None:
        held = _opened.get(db_url)
        if held is None:
            start(self, db_url, course_id, authenticator)
            return
        self.db, self.engine = held.session, held.session.bind
        self.course_id, self.authenticator = course_id, authenticator
        if course_id not in held.courses:
            self.check_course(course_id)
            held.courses.add(course_id)

    def close(self: Gradebook) -> None:
        if any(self.db is held.session for held in _opened.values()):
            self.db.remove()
        else:
            end(self)

    begin.economical = True  # type: ignore[attr-defined]
    Gradebook.__init__, Gradebook.close = begin, close


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
