"""The class as platforms may name it: what the gradebook knows of its students."""

from __future__ import annotations

from course.grading.gradebook.students import known_people
from course.grading.intake.bare_notebooks import Listed


def class_list(db_url: str) -> list[Listed]:
    """Everybody whom the gradebook knows, with the names and the number by which a platform may call them."""
    known = [(person.id, person.about) for person in known_people(db_url)]
    names = "first_name", "last_name", "lms_user_id"
    return [Listed(student, *(about.get(name, "") for name in names)) for student, about in known]
