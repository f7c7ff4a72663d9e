"""A class on Moodle, through its web services.

Sources: `mod/assign/externallib.php` (what functions take and return), `mod/assign/locallib.php` (`save_grade`,
`apply_grade_to_user`), `mod/assign/feedback/comments` and `file`, `enrol/externallib.php`, `grade/report/user` in
github.com/moodle/moodle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from course.grading.classroom.roster import Table
from course.grading.intake.platforms import BY_USER, Sender
from course.grading.lms.message import as_html, plain, versions_in
from course.grading.lms.moodle_calls import Answered, MoodleCalls
from course.grading.lms.patience import Patience
from course.grading.lms.platform import Assignment, Attempt, Parcel, Refused, Standing, Upload, choose
from course.grading.lms.secret import Token
from course.outline import Place
from course.problem import Problem
from course.syllabus import Topic

COLUMNS = {
    **{name: name for name in ("username", "idnumber", "email", "firstname", "lastname", "fullname")},
    "lmsuserid": "id",
}
"""The columns of the class list, and Moodle's fields for them; some of these not every token may see."""

PAGE = 100
"""So many people are asked for at once."""

HANDED_IN = frozenset(("submitted", "draft"))
"""The states of an attempt that the student has worked on; Moodle makes `new` and `reopened` ones by itself."""

RELEASED = "released"
"""The state of the marking workflow in which students see their grade."""

HTML = 1
"""Moodle's number of the format HTML."""


@dataclass(frozen=True)
class Feedback:
    """What Moodle shows of the feedback on one attempt: its score, comment and files."""

    score: float | None = None
    comment: str = ""
    files: tuple[Upload, ...] = ()


class Moodle:
    """A course on a Moodle site."""

    name = "Moodle"

    def __init__(self, place: Place, token: Token, patience: Patience | None = None) -> None:
        self._place = place
        self._calls = MoodleCalls(place, token, patience or Patience(self.name, place.address))
        self._about: dict[int, Mapping[str, Any]] = {}

    def class_list(self) -> Table:
        """Return the students of the course: those with the role `student`, without suspended ones."""
        seen = {name: field for name, field in COLUMNS.items() if any(user.get(field) for user in self._students)}
        rows = tuple(tuple(str(user.get(field) or "") for field in seen.values()) for user in self._students)
        return Table(Path(self.name), tuple(seen), rows, tuple(range(1, len(rows) + 1)))

    @cached_property
    def _students(self) -> list[Mapping[str, Any]]:
        people: list[Mapping[str, Any]] = []
        for start in count(0, PAGE):  # Moodle leaves people out of a page whom this token may not see
            options = {"onlyactive": 1, "limitfrom": start, "limitnumber": PAGE, "sortby": "id"}
            named = [{"name": name, "value": value} for name, value in options.items()]
            page = self._calls.read("core_enrol_get_enrolled_users", courseid=self._place.course, options=named)
            if not page:
                break
            people += page
        roles = {user["id"]: {role["shortname"] for role in user.get("roles", ())} for user in people}
        students = [user for user in people if "student" in roles[user["id"]]]
        if people and not students:
            others = ", ".join(sorted(set().union(*roles.values()))) or "none that this token may see"
            raise Problem(f"nobody in this course on Moodle has the role student. The roles are {others}")
        return students

    def find(self, topic: Topic) -> Assignment:
        """Return the assignment of a topic."""
        answer = self._calls.read("mod_assign_get_assignments", courseids=[self._place.course])
        listed = [one for course in answer["courses"] for one in course["assignments"]]
        self._about = {one["id"]: one for one in listed}
        told = self._place.assignments.get(topic.folder)
        by_module = {one["cmid"]: one["id"] for one in listed}  # the number in the address of an assignment's page
        named = [(one["name"], one["cmid"]) for one in listed]
        one = self._about[by_module[choose(topic, named, told, self.name)]]
        hidden = "Moodle hides these grades until you set them to released" if one.get("markingworkflow") else ""
        plugins = {about["plugin"] for about in one["configs"] if _is_on(about)}
        no_comments = "" if "comments" in plugins else "no comment is sent, because Moodle has feedback comments off"
        no_pages = "" if "file" in plugins else "no page is sent, because Moodle has feedback files off"
        return Assignment(
            one["id"],
            one["name"],
            float(max(0, one["grade"])),
            _obstacle(one),
            takes_pages="file" in plugins,
            penalises=bool(one.get("gradepenalty")),
            notes=tuple(filter(None, [hidden, no_comments, no_pages])),
        )

    def attempts(self, assignment: Assignment) -> list[Attempt]:
        """Return all attempts of all students and teams, oldest first."""
        names = {user["id"]: str(user["fullname"]) for user in self._students}
        is_team = bool(self._about[assignment.id].get("teamsubmission"))
        groups = self._groups if is_team else {}
        found: list[Attempt] = []
        for one in self._submissions(assignment):
            if is_team and one["userid"] and not _files(one):
                continue  # a member's part in the team's submission
            versions = [one, *self._earlier(assignment, one)]
            handed_in = [version for version in versions if version["status"] in HANDED_IN]
            found += [_attempt(version, one, names, groups) for version in handed_in]
        return sorted(found, key=lambda one: one.came)

    def download(self, upload: Upload) -> bytes:
        """Return the bytes of a file."""
        return self._calls.download(upload)

    def standings(self, assignment: Assignment) -> dict[str, Standing]:
        """Return what Moodle has for each student of the class: without comments, which it tells one by one.

        Its list has no grade of a student without a submission, such as a member of a group who handed in nothing.
        """
        self._kept.pop(assignment.id, None)  # grading may have opened new attempts
        answer = self._calls.read("mod_assign_get_grades", assignmentids=[assignment.id])
        rows = {row["userid"]: row for one in answer["assignments"] for row in one["grades"]}
        locked, moved = self._locked(assignment), self._reopened(assignment)
        submitted = self._latest(assignment)
        found = {}
        for user in (one["id"] for one in self._students):
            score, stamp = _score(rows.get(user, {}).get("grade")), ""
            if user in moved:
                score = moved[user].score
            elif user in rows and self._is_hidden(assignment, user):
                stamp = _stamp(rows[user])
            obstacle = "locked or overridden in Moodle's gradebook" if user in locked else ""
            unlisted = user not in rows and user not in submitted
            found[str(user)] = Standing(score, obstacle=obstacle, stamp=stamp, unlisted=unlisted)
        return found

    def excused(self, assignment: Assignment) -> tuple[str, ...]:
        """Return nobody, because Moodle excuses nobody."""
        return ()

    def look(self, assignment: Assignment, user: str) -> Standing:
        """Return what Moodle has for one student."""
        there = self._feedback(assignment, user)
        return Standing(there.score, versions=frozenset(versions_in(plain(there.comment))))

    def send(self, assignment: Assignment, user: str, parcel: Parcel) -> Standing:
        """Put the page into a draft area, then set grade, comment and files in one request.

        What others have written or uploaded is sent along, because Moodle replaces all of it. The request does the same
        if it arrives twice.
        """
        there, note = self._feedback(assignment, user), ""
        plugins: dict[str, Any] = {}
        if self._takes(assignment, "comments"):
            known = {plain(as_html(message)) for message in parcel.before}
            ours = not there.comment or parcel.replace or plain(there.comment) in known
            text = as_html(parcel.message) if ours else there.comment
            note = "" if ours else "the comment there is not ours, and stays"
            plugins["assignfeedbackcomments_editor"] = {"text": text, "format": HTML}
        if parcel.page and self._takes(assignment, "file"):
            plugins["files_filemanager"] = self._draft(parcel.page, there.files)
        try:
            self._calls.call(
                "mod_assign_save_grade",
                assignmentid=assignment.id,
                userid=user,
                grade=parcel.points,
                attemptnumber=self._latest(assignment).get(int(user), -1),
                addattempt=False,
                workflowstate=self._workflow(assignment).get(int(user), ""),
                applytoall=False,
                plugindata=plugins,
            )
        except Answered as error:
            raise Refused(f"Moodle refused it: {error!s:.100}") from None
        return Standing(float(parcel.points), note=note)

    def _draft(self, page: Path, there: tuple[Upload, ...]) -> int:
        """Upload a page and all files that are there under other names into one draft area, and return its number."""
        area = self._calls.upload(page.name, page.read_bytes())
        for file in there:
            if file.name != page.name:
                self._calls.upload(file.name, self._calls.download(file), area)
        return area

    def _takes(self, assignment: Assignment, plugin: str) -> bool:
        return any(about["plugin"] == plugin and _is_on(about) for about in self._about[assignment.id]["configs"])

    def _feedback(self, assignment: Assignment, user: str) -> Feedback:
        """Return the feedback on the attempt that a student handed in last."""
        try:
            status = self._calls.call("mod_assign_get_submission_status", assignid=assignment.id, userid=user)
        except Answered as error:
            raise Refused(f"Moodle does not show this student: {error!s:.100}") from None
        number = self._latest(assignment).get(int(user))
        about = status.get("feedback") or {}
        for earlier in status.get("previousattempts") or ():
            if earlier["attemptnumber"] == number:
                about = {"grade": earlier.get("grade"), "plugins": earlier.get("feedbackplugins")}
        plugins = {plugin["type"]: plugin for plugin in about.get("plugins") or ()}
        fields = plugins.get("comments", {}).get("editorfields") or [{}]
        return Feedback(
            _score((about.get("grade") or {}).get("grade")),
            str(fields[0].get("text") or ""),
            _files({"plugins": [plugins.get("file", {})]}),
        )

    def _submissions(self, assignment: Assignment) -> list[Mapping[str, Any]]:
        """Return the latest attempt of each student and team."""
        if assignment.id not in self._kept:
            answer = self._calls.read("mod_assign_get_submissions", assignmentids=[assignment.id])
            self._kept[assignment.id] = [one for found in answer["assignments"] for one in found["submissions"]]
        return self._kept[assignment.id]

    @cached_property
    def _kept(self) -> dict[int, list[Mapping[str, Any]]]:
        return {}

    def _latest(self, assignment: Assignment) -> dict[int, int]:
        """Return the number of the attempt that each student handed in last: grading may have opened a new one."""
        return {
            one["userid"]: one["attemptnumber"] - (one["status"] not in HANDED_IN and one["attemptnumber"] > 0)
            for one in self._submissions(assignment)
            if one["userid"]
        }

    def _reopened(self, assignment: Assignment) -> dict[int, Feedback]:
        """Return the feedback on the last work of students for whom a new attempt is open."""
        known = {user["id"] for user in self._students}
        opened = [
            one["userid"]
            for one in self._submissions(assignment)
            if one["userid"] in known and one["attemptnumber"] and one["status"] not in HANDED_IN
        ]
        return {user: self._feedback(assignment, str(user)) for user in opened}

    def _earlier(self, assignment: Assignment, one: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the attempts before the latest `one`, for a team by way of a member."""
        members = [one["userid"]] if one["userid"] else self._members(one["groupid"])
        if not one["attemptnumber"] or not members:
            return []
        status = self._calls.read("mod_assign_get_submission_status", assignid=assignment.id, userid=members[0])
        return [attempt["submission"] for attempt in status.get("previousattempts") or () if attempt.get("submission")]

    def _members(self, group: int) -> list[int]:
        return [user["id"] for user in self._students if group in {one["id"] for one in user.get("groups", ())}]

    @cached_property
    def _groups(self) -> dict[int, str]:
        listed = self._calls.read("core_group_get_course_groups", courseid=self._place.course)
        return {one["id"]: str(one["name"]) for one in listed}

    def _workflow(self, assignment: Assignment) -> dict[int, str]:
        """Return the state of each student's grade in the marking workflow, which sending leaves as it is."""
        if not self._about[assignment.id].get("markingworkflow"):
            return {}
        if assignment.id not in self._states:
            answer = self._calls.read("mod_assign_get_user_flags", assignmentids=[assignment.id])
            flags = [flag for one in answer["assignments"] for flag in one["userflags"]]
            self._states[assignment.id] = {flag["userid"]: str(flag.get("workflowstate") or "") for flag in flags}
        return self._states[assignment.id]

    @cached_property
    def _states(self) -> dict[int, dict[int, str]]:
        return {}

    def _is_hidden(self, assignment: Assignment, user: int) -> bool:
        """Whether Moodle tells nobody but its own pages what feedback there is, because the grade is not released."""
        workflow = bool(self._about[assignment.id].get("markingworkflow"))
        return workflow and self._workflow(assignment).get(user, "") != RELEASED

    def _locked(self, assignment: Assignment) -> set[int]:
        """Return the students whose grade is locked or overridden in the gradebook, as far as the token may see it."""
        try:
            answer = self._calls.call("gradereport_user_get_grade_items", courseid=self._place.course)
        except (Answered, Problem):
            return set()
        return {
            one["userid"]
            for one in answer["usergrades"]
            for item in one["gradeitems"]
            if item.get("itemmodule") == "assign" and item.get("iteminstance") == assignment.id
            if item.get("gradeislocked") or item.get("gradeisoverridden") or item.get("locked")
        }


def _obstacle(one: Mapping[str, Any]) -> str:
    """Return why Moodle would not take points for an assignment, or ""."""
    if one["grade"] < 0:
        return f"{one['name']} has a scale of words in Moodle. Set its grade type to Point there"
    if not one["grade"]:
        return f"{one['name']} has no grade in Moodle. Set its grade type to Point there"
    return ""


def _is_on(about: Mapping[str, Any]) -> bool:
    """Whether a line of an assignment's configuration says that a feedback plugin is enabled."""
    return about["subtype"] == "assignfeedback" and about["name"] == "enabled" and str(about["value"]) == "1"


def _score(text: Any) -> float | None:
    """Return a grade as a number; Moodle has -1 where there is none."""
    try:
        score = float(text)
    except (TypeError, ValueError):
        return None
    return score if score >= 0 else None


def _stamp(row: Mapping[str, Any]) -> str:
    """Return when a grade was changed, or "" for a row that Moodle made when somebody opened the student's page."""
    is_untouched = _score(row["grade"]) is None and row["timemodified"] == row["timecreated"]
    return "" if is_untouched else str(row["timemodified"])


def _files(version: Mapping[str, Any]) -> tuple[Upload, ...]:
    """Return the files of a submission, or of the plugin for feedback files."""
    plugins = [plugin for plugin in version.get("plugins") or () if plugin.get("type") == "file"]
    areas = [area for plugin in plugins for area in plugin.get("fileareas") or ()]
    return tuple(_upload(file) for area in areas for file in area.get("files") or ())


def _upload(file: Mapping[str, Any]) -> Upload:
    name = f"{file.get('filepath', '/')}{file['filename']}".lstrip("/")
    return Upload(name, f"{file['timemodified']} {name}", str(file["fileurl"]), int(file["filesize"]))


def _attempt(
    version: Mapping[str, Any], latest: Mapping[str, Any], names: Mapping[int, str], groups: Mapping[int, str]
) -> Attempt:
    """Return one version of the work whose sender is that of the `latest`."""
    user, group = latest["userid"], latest["groupid"]
    called = names.get(user, "Somebody") if user else groups.get(group, "Default group")
    name = re.sub(r'[_/\\:*?"<>|\x00-\x1f]+', " ", called).strip()
    number = user or group
    label = "_".join(filter(None, (name, str(number or ""))))
    stem = f"{name}_user{user}" if user else label
    files = _files(version)
    return Attempt(
        str(user or ""),
        Sender(BY_USER if user else "Moodle", str(number or name), label),
        lambda _key: f"{stem}_assignsubmission_file_",
        version["attemptnumber"] + 1,
        datetime.fromtimestamp(version["timemodified"], UTC),
        files,
        typed="\n".join(filter(None, _texts(version))),
        draft=version["status"] == "draft",
        group="" if user else called,
    )


def _texts(version: Mapping[str, Any]) -> Iterator[str]:
    for plugin in version.get("plugins") or ():
        yield from (str(field.get("text") or "") for field in plugin.get("editorfields") or ())
