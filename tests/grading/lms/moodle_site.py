"""A course on Moodle, as its web services show it.

Sources: `mod/assign/externallib.php`, `mod/assign/locallib.php` (`save_grade`, `apply_grade_to_user`),
`mod/assign/feedback/comments/locallib.php` and `file/locallib.php`, `webservice/rest/locallib.php`,
`webservice/upload.php`, `webservice/pluginfile.php` in github.com/moodle/moodle.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote, unquote

from .sites import Answer, Asked, Site, as_json

COURSE = 55
TEACHER = 2
MOODLE_TOKEN = "0123456789abcdef0123456789abcdef"


@dataclass
class Grade:
    """The row of a student's attempt in `assign_grades`, with what the feedback plugins keep for it."""

    grade: float | None = None
    grader: int = TEACHER
    created: int = 0
    modified: int = 0
    comment: str = ""
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass
class MoodleSite(Site):
    """The server. `team` are the groups that hand in together, by number; a user who has left is not in `active`."""

    users: dict[int, dict[str, Any]] = field(default_factory=dict)
    active: set[int] = field(default_factory=set)
    assignments: dict[int, dict[str, Any]] = field(default_factory=dict)
    works: dict[tuple[int, int, int], list[dict[str, Any]]] = field(default_factory=dict)
    grades: dict[tuple[int, int, int], Grade] = field(default_factory=dict)
    flags: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    groups: dict[int, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    locked: set[int] = field(default_factory=set)
    stored: dict[str, bytes] = field(default_factory=dict)
    drafts: dict[int, dict[str, bytes]] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    blind: bool = False
    mails: int = 0
    clock: int = 1_800_000_000
    reopens: bool = False
    token: str = MOODLE_TOKEN

    def add_user(self, number: int, first: str, last: str, username: str, email: str, role: str = "student") -> None:
        about = {"username": username, "firstname": first, "lastname": last, "fullname": f"{first} {last}"}
        self.users[number] = {"id": number, **about, "email": email, "idnumber": "", "roles": [{"shortname": role}]}
        self.active.add(number)

    def add_assignment(self, number: int, name: str, grade: int, *plugins: str, **about: Any) -> None:
        configs = [
            {"plugin": plugin, "subtype": "assignfeedback", "name": "enabled", "value": "1"}
            for plugin in plugins or ("comments", "file")
        ]
        usual = {"cmid": number + 900, "markingworkflow": 0, "teamsubmission": 0, "gradepenalty": 0, "configs": configs}
        self.assignments[number] = {"id": number, "name": name, "grade": grade, **usual, **about}

    def hand_in(
        self, assignment: int, user: int, came: datetime, *files: tuple[str, bytes], group: int = 0, new: bool = True
    ) -> None:
        """Add an attempt of a student, or of a group for `user` 0; without `new`, change the latest one."""
        attempts = self.works.setdefault((assignment, user, group), [])
        opened = bool(attempts) and attempts[-1]["status"] == "reopened"
        if not (new and not opened) and attempts:
            attempts.pop()
        number, stamp = len(attempts), int(came.timestamp())
        listed = []
        for name, content in files:
            place = f"/9/assignsubmission_file/submission_files/{len(self.stored)}/{name}"
            self.stored[place] = content
            listed.append(self._file(name, content, place, stamp))
        plugin = {"type": "file", "name": "File", "fileareas": [{"area": "submission_files", "files": listed}]}
        about = {"id": len(self.stored), "userid": user, "groupid": group, "attemptnumber": number}
        attempts.append({**about, "timemodified": stamp, "status": "submitted", "plugins": [plugin]})
        for member in self.groups[group][1] if group else ():
            part = {
                **about,
                "userid": member,
                "groupid": 0,
                "timemodified": stamp,
                "status": "submitted",
                "plugins": [],
            }
            self.works[assignment, member, 0] = [part]

    def _file(self, name: str, content: bytes, place: str, stamp: int) -> dict[str, Any]:
        address = f"{self.address}/webservice/pluginfile.php{quote(place)}"
        about = {"filename": name, "filepath": "/", "filesize": len(content), "timemodified": stamp}
        return {**about, "fileurl": address, "mimetype": "application/octet-stream", "isexternalfile": False}

    def grade_of(self, assignment: int, user: int, attempt: int = -1) -> Grade:
        """The grade of a student's attempt, by default the latest, as it is in the database."""
        return self.grades.setdefault((assignment, user, self._attempt(assignment, user, attempt)), Grade())

    def _attempt(self, assignment: int, user: int, attempt: int) -> int:
        return attempt if attempt >= 0 else max(0, len(self.works.get((assignment, user, 0), [])) - 1)

    def answer(self, asked: Asked) -> Answer:
        assert self.token not in asked.path and not asked.query, "the token belongs into the form"
        if asked.path == "/webservice/upload.php":
            return self._upload(asked)
        if asked.path.startswith("/webservice/pluginfile.php"):
            if asked.one("token") != self.token:
                return _error("invalidtoken", "Invalid token - token not found")
            place = unquote(asked.path.removeprefix("/webservice/pluginfile.php"))
            if place not in self.stored:
                return as_json({"error": "Can't find data record", "errorcode": "invalidrecord"}, 404)
            return 200, {"Content-Type": "application/octet-stream"}, self.stored[place]
        if asked.path != "/webservice/rest/server.php":
            return 404, {}, b"<html>Not found</html>"
        if asked.one("wstoken") != self.token:
            return _error("invalidtoken", f"Invalid token - token not found: {asked.one('wstoken')}")
        name = asked.one("wsfunction")
        if name in self.missing:
            return _error("accessexception", "Access control exception (Access to the function is not allowed.)")
        assert asked.one("moodlewsrestformat") == "json"
        return getattr(self, f"_{name}")(asked)

    def _upload(self, asked: Asked) -> Answer:
        if asked.one("token") != self.token:
            return _error("invalidtoken", "Invalid token - token not found")
        area = int(asked.one("itemid")) or max(self.drafts, default=700) + 1
        ((name, content),) = asked.files.values()
        self.drafts.setdefault(area, {})[f"{asked.one('filepath')}{name}".lstrip("/")] = content
        return as_json([{"component": "user", "filearea": "draft", "filename": name, "itemid": area}])

    def _core_enrol_get_enrolled_users(self, asked: Asked) -> Answer:
        if asked.one("courseid") != str(COURSE):
            return _error("invalidrecord", "Can't find data record in database table course.")
        options = {asked.one(f"options[{place}][name]"): asked.one(f"options[{place}][value]") for place in range(4)}
        start, many = int(options["limitfrom"]), int(options["limitnumber"])
        assert options["onlyactive"] == "1" and options["sortby"] == "id"
        people = sorted(self.active)[start : start + many]
        member = {one: [{"id": g, "name": n} for g, (n, who) in self.groups.items() if one in who] for one in people}
        return as_json([{**self.users[one], "groups": member[one]} for one in people if one != 4])  # 4 is hidden

    def _core_group_get_course_groups(self, asked: Asked) -> Answer:
        return as_json([{"id": number, "name": name} for number, (name, _) in self.groups.items()])

    def _mod_assign_get_assignments(self, asked: Asked) -> Answer:
        assert asked.one("courseids[0]") == str(COURSE)
        course = {"id": COURSE, "assignments": list(self.assignments.values())}
        return as_json({"courses": [course], "warnings": []})

    def _mod_assign_get_submissions(self, asked: Asked) -> Answer:
        number = int(asked.one("assignmentids[0]"))
        if self.blind:
            return self._no_access(number)
        latest = [attempts[-1] for (one, _, _), attempts in self.works.items() if one == number and attempts]
        return as_json({"assignments": [{"assignmentid": number, "submissions": latest}], "warnings": []})

    def _no_access(self, number: int) -> Answer:
        warning = {"item": "assignment", "itemid": number, "warningcode": "1"}
        return as_json({"assignments": [], "warnings": [{**warning, "message": "No access rights in module context"}]})

    def _mod_assign_get_grades(self, asked: Asked) -> Answer:
        number = int(asked.one("assignmentids[0]"))
        if self.blind:
            return self._no_access(number)
        rows = []
        for (one, user, attempt), grade in self.grades.items():
            work = self.works.get((number, user, 0))
            if one == number and work and attempt == len(work) - 1:  # s.latest = 1
                score = "-1.00000" if grade.grade is None else f"{grade.grade:.5f}"
                about = {"userid": user, "timecreated": grade.created, "timemodified": grade.modified}
                rows.append({"id": 1, **about, "grader": grade.grader, "attemptnumber": attempt, "grade": score})
        return as_json({"assignments": [{"assignmentid": number, "grades": rows}], "warnings": []})

    def _mod_assign_get_user_flags(self, asked: Asked) -> Answer:
        number = int(asked.one("assignmentids[0]"))
        flags = [{"userid": user, **about} for (one, user), about in self.flags.items() if one == number]
        return as_json({"assignments": [{"assignmentid": number, "userflags": flags}], "warnings": []})

    def _gradereport_user_get_grade_items(self, asked: Asked) -> Answer:
        items = [{"itemmodule": "assign", "iteminstance": number} for number in self.assignments]
        told = [
            {"userid": user, "gradeitems": [{**item, "gradeisoverridden": user in self.locked} for item in items]}
            for user in sorted(self.active)
        ]
        return as_json({"usergrades": told, "warnings": []})

    def _mod_assign_get_submission_status(self, asked: Asked) -> Answer:
        number, user = int(asked.one("assignid")), int(asked.one("userid"))
        if user not in self.active:
            return _error("usernotincourse", "The user is not in this course")
        own = self.works.get((number, user, 0), [])
        team = next((group for group, (_, who) in self.groups.items() if user in who), None)
        attempts = self.works.get((number, 0, team), own) if team else own
        shown: dict[str, Any] = {"warnings": []}
        if feedback := self._feedback(number, user, self._attempt(number, user, -1)):
            shown["feedback"] = feedback
        shown["previousattempts"] = [
            {"attemptnumber": one["attemptnumber"], "submission": one}
            | _earlier(self._feedback(number, user, one["attemptnumber"]))
            for one in reversed(attempts[:-1])
        ]
        return as_json(shown)

    def _feedback(self, number: int, user: int, attempt: int) -> dict[str, Any] | None:
        """What `get_assign_feedback_status_renderable` shows: nothing while the workflow hides it."""
        grade = self.grades.get((number, user, attempt))
        about = self.assignments[number]
        released = self.flags.get((number, user), {}).get("workflowstate") == "released"
        if grade is None or (about["markingworkflow"] and not released):
            return None
        if grade.grade is None and not grade.comment and not grade.files:
            return None
        files = []
        for name, content in grade.files.items():
            place = f"/9/assignfeedback_file/feedback_files/{user}/{name}"
            self.stored[place] = content
            files.append(self._file(name, content, place, grade.modified))
        comments = {"type": "comments", "editorfields": [{"name": "comments", "text": grade.comment, "format": 1}]}
        pages = {"type": "file", "fileareas": [{"area": "feedback_files", "files": files}]}
        score = "-1.00000" if grade.grade is None else f"{grade.grade:.5f}"
        return {"grade": {"userid": user, "grade": score}, "plugins": [comments, pages]}

    def _mod_assign_save_grade(self, asked: Asked) -> Answer:
        number, user = int(asked.one("assignmentid")), int(asked.one("userid"))
        if user not in self.active:
            return _error("usernotincourse", "The user is not in this course")
        attempt = self._attempt(number, user, int(asked.one("attemptnumber")))
        about, plugins = self.assignments[number], {one["plugin"] for one in self.assignments[number]["configs"]}
        assert asked.one("applytoall") == asked.one("addattempt") == "0"
        grade = self.grade_of(number, user, attempt)
        if user not in self.locked:
            grade.grade = round(float(asked.one("grade")), 5)
            self.flags.setdefault((number, user), {})["workflowstate"] = asked.one("workflowstate")
        if "comments" in plugins:  # `is_feedback_modified` and `save` take what the form lacks for an empty text
            grade.comment = asked.one("plugindata[assignfeedbackcomments_editor][text]")
        if "file" in plugins and (area := asked.one("plugindata[files_filemanager]")):
            grade.files = dict(self.drafts[int(area)])
        self.clock += 1
        grade.created, grade.modified, grade.grader = grade.created or self.clock, self.clock, TEACHER
        released = not about["markingworkflow"] or asked.one("workflowstate") == "released"
        self.mails += released
        works = self.works.get((number, user, 0))
        if self.reopens and works and attempt == len(works) - 1:
            works.append({**works[-1], "attemptnumber": len(works), "status": "reopened", "plugins": []})
        return as_json(None)


def _earlier(feedback: dict[str, Any] | None) -> dict[str, Any]:
    return {"grade": feedback["grade"], "feedbackplugins": feedback["plugins"]} if feedback else {}


def _error(code: str, message: str) -> Answer:
    return as_json({"exception": re.sub(r"\W", "_", code), "errorcode": code, "message": message})
