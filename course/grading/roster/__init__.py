"""`course roster FILE`: update the gradebook's students from a class list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from course.grading.gradebook.students import MOST_TOLD, Changes, some, update_students


def update_roster(root: Path, path: Path, id_column: str | None = None) -> tuple[list[str], list[str]]:
    """Update the gradebook from the class list at `path`; returns lines on the changes, and notes to check.

    All changes are written in one transaction. With `id_column`, that column has the students' ids.

    Raises:
        Problem: the file cannot be read, or is no class list.
    """
    from course.grading.nbgrader_bridge.config_file import load_config
    from course.grading.nbgrader_bridge.patches import cache_lookups, gradebook_transaction
    from course.grading.roster.people import read_people
    from course.grading.roster.table import Table

    listed = read_people(Table.read(path), id_column)
    config = load_config(root)
    db_url = config.CourseDirectory.db_url
    cache_lookups()
    with gradebook_transaction(db_url):
        changes = update_students(db_url, listed.people, config)
    notes = list(listed.notes)
    if changes.unlisted:
        notes.append(f"these are in the gradebook but not in {path.name}, and stay unchanged: {some(changes.unlisted)}")
    if changes.renamed:
        told = some([f"{student} (in the gradebook {known})" for student, known in changes.renamed.items()])
        notes.append(
            f"{path.name} has other ids for students whom the gradebook knows already: {told}. They keep those of the "
            "gradebook, so have them hand in by these"
        )
    whole = listed.id_column if listed.is_whole else f"{listed.id_column}, without the @ and what follows"
    return list(_told(changes, path, whole)), notes


def _told(changes: Changes, path: Path, id_column: str) -> Iterator[str]:
    """Yield lines on the changes that a class list made."""
    counts = f"{len(changes.added)} added, {len(changes.updated)} updated, {changes.same} unchanged"
    others = f", but for {len(changes.renamed)} who keep those of the gradebook" if changes.renamed else ""
    yield f"{path.name}: {counts}. Students hand in by the ids in its column {id_column}{others}"
    if changes.added:
        yield f"  added: {some(changes.added)}"
    for student in list(changes.updated)[:MOST_TOLD]:
        yield f"  updated: {student}, {changes.updated[student]}"
    if len(changes.updated) > MOST_TOLD:
        yield f"  updated: {len(changes.updated) - MOST_TOLD} more"
