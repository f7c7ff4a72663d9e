"""Read the class list, with the names that platforms may use, from nbgrader's gradebook."""

from __future__ import annotations

from course.grading.gradebook.students import known_people
from course.grading.intake.bare_notebooks import Listed


def class_list(db_url: str) -> list[Listed]:
    """Return every student in the gradebook, with the names and the number that a platform may use for the student."""
    known = [(person.id, person.about) for person in known_people(db_url)]
    names = "first_name", "last_name", "lms_user_id"
    return [Listed(student, *(about.get(name, "") for name in names)) for student, about in known]
