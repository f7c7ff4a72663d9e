"""A class on Canvas, through its REST API.

Sources: the API's documentation at developerdocs.instructure.com, and in github.com/instructure/canvas-lms
`app/controllers/submissions_api_controller.rb` (`index`, `update`), `lib/api/v1/submission.rb`,
`lib/api/v1/submission_comment.rb` and `lib/content_zipper.rb` (the names of downloaded files).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from canvasapi.exceptions import CanvasException, Forbidden, InvalidAccessToken, ResourceDoesNotExist, Unauthorized
from canvasapi.paginated_list import PaginatedList
from canvasapi.requester import Requester
from canvasapi.upload import Uploader
from canvasapi.util import combine_kwargs

from course.grading.classroom.roster import Table
from course.grading.intake.platforms import Sender
from course.grading.lms.message import versions_in
from course.grading.lms.patience import TIMEOUT, Patience, Reply
from course.grading.lms.platform import Assignment, Attempt, Parcel, Refused, Standing, Unclear, Upload, choose
from course.grading.lms.secret import Token
from course.outline import Place
from course.problem import Problem
from course.syllabus import Topic

COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Section", "Email")
FIELDS = ("sortable_name", "id", "sis_user_id", "login_id", "integration_id", "section", "email")

NUMERIC = frozenset(("points", "percent", "letter_grade", "gpa_scale"))
"""The kinds of grades for which Canvas takes points."""


class PatientRequester(Requester):
    """canvasapi's requester, except that it waits and asks again, and gives up on an answer that does not come."""

    def __init__(self, place: Place, token: Token, patience: Patience) -> None:
        super().__init__(place.address, token.reveal())
        self._session = _Session()
        self._patience = patience
        logging.getLogger("canvasapi").setLevel(logging.CRITICAL)  # it logs answers, with what students wrote

    def _get_request(self, url: str, headers: Any, params: Any = None, **options: Any) -> requests.Response:
        return self._ask(partial(super()._get_request, url, headers, params))

    def _put_request(self, url: str, headers: Any, data: Any = None, **options: Any) -> requests.Response:
        return self._ask(partial(super()._put_request, url, headers, data), repeatable=False)

    def _post_request(self, url: str, headers: Any, data: Any = None, json: Any = None) -> requests.Response:
        """Upload a file, or announce one; what was announced or uploaded twice, nobody sees."""

        def send() -> requests.Response:
            for name, value in data or ():
                if name == "file":
                    value.seek(0)
            return super(PatientRequester, self)._post_request(url, headers, list(data or ()), json)

        return self._ask(send)

    def _ask(self, send: Any, *, repeatable: bool = True) -> requests.Response:
        def reply() -> Reply[requests.Response]:
            answer = send()
            return Reply(answer, answer.status_code, answer.headers, answer.content[:1000])

        return self._patience.ask(reply, requests.RequestException, repeatable=repeatable)


class _Session(requests.Session):
    def request(self, *arguments: Any, **options: Any) -> requests.Response:
        options.setdefault("timeout", TIMEOUT)
        return super().request(*arguments, **options)


class _Plain:
    """A thing on Canvas as it was sent; canvasapi's own objects try for seconds to read every field as a date."""

    def __init__(self, requester: Requester, attributes: Mapping[str, Any]) -> None:
        self.about = attributes


class Canvas:
    """A course on a Canvas site."""

    name = "Canvas"

    def __init__(self, place: Place, token: Token, patience: Patience | None = None) -> None:
        self._place, self._token = place, token
        self._requester = PatientRequester(place, token, patience or Patience(self.name, place.address))

    def class_list(self) -> Table:
        """Return the students of the course, in the columns of Canvas's own gradebook export."""
        with self._reading("the class list"):
            users = self._list("search_users", enrollment_type=["student"], include=["email"], sort="username")
            rows = [tuple(str(user.get(name) or "") for name in FIELDS) for user in users]
        return Table(Path(self.name), COLUMNS, tuple(rows), tuple(range(1, len(rows) + 1)))

    def find(self, topic: Topic) -> Assignment:
        """Return the assignment of a topic."""
        with self._reading("the assignments"):
            found = {one["id"]: one for one in self._list("assignments")}
        told = self._place.assignments.get(topic.folder)
        one = found[choose(topic, ((one["name"], one["id"]) for one in found.values()), told, self.name)]
        points = float(one.get("points_possible") or 0)
        notes = ("Canvas hides these grades until you post them",) if one.get("post_manually") else ()
        return Assignment(one["id"], one["name"], points, _obstacle(one), penalises=self._penalises(), notes=notes)

    def attempts(self, assignment: Assignment) -> list[Attempt]:
        """Return all attempts of all students, oldest first."""
        found: list[Attempt] = []
        for one in self._submissions(assignment, "submission_history", "user", "group"):
            versions = {version.get("attempt"): version for version in one.get("submission_history", ())}
            found += [_attempt(one, version) for version in versions.values() if version.get("submitted_at")]
        together = {(one.group, one.came) for one in found if one.group and one.uploads}
        own = [one for one in found if one.uploads or (one.group, one.came) not in together]  # a copy of the team's
        return sorted(own, key=lambda one: one.came)

    def download(self, upload: Upload) -> bytes:
        """Return the bytes of a file; only the site itself gets the token."""
        with self._reading(upload.name):
            ours = urlsplit(upload.url)[:2] == urlsplit(self._place.address)[:2]
            return bytes(self._requester.request("GET", _url=upload.url, use_auth=ours).content)

    def standings(self, assignment: Assignment) -> dict[str, Standing]:
        """Return what Canvas has for each student of the class."""
        found = self._submissions(assignment, "submission_comments")
        return {str(one["user_id"]): _standing(one) for one in found}

    def excused(self, assignment: Assignment) -> set[str]:
        """Return the numbers of the students who are excused."""
        return {str(one["user_id"]) for one in self._submissions(assignment) if one.get("excused")}

    def look(self, assignment: Assignment, user: str) -> Standing:
        """Return what Canvas has for one student."""
        with self._reading("a grade"):
            include = [("include[]", "submission_comments")]
            return _standing(self._requester.request("GET", self._address(assignment, user), _kwargs=include).json())

    def send(self, assignment: Assignment, user: str, parcel: Parcel) -> Standing:
        """Upload the page, which nobody sees yet, then set the grade and comment on it in one request."""
        where, grade = self._address(assignment, user), {"posted_grade": parcel.points}
        comment: dict[str, Any] = {"text_comment": parcel.message}
        with self._writing():
            if parcel.page:
                comment["file_ids"] = [self._upload(where, parcel.page)]
            fields = combine_kwargs(submission=grade, comment=comment, prefer_points_over_scheme=True)
            return _standing(self._requester.request("PUT", where, _kwargs=fields).json())

    def _address(self, assignment: Assignment, user: str) -> str:
        return f"courses/{self._place.course}/assignments/{assignment.id}/submissions/{user}"

    def _upload(self, where: str, page: Path) -> int:
        """Upload a page for a comment on a submission, and return its number."""
        arrived, answer = Uploader(self._requester, f"{where}/comments/files", page).start()
        if not arrived or "id" not in answer:
            raise Refused("Canvas did not take the page of feedback")
        return int(answer["id"])

    def _penalises(self) -> bool:
        """Whether the course on Canvas takes points off late work by a policy of its own."""
        try:
            policy = self._requester.request("GET", f"courses/{self._place.course}/late_policy").json()
        except (ResourceDoesNotExist, Unauthorized, Forbidden):  # none, or none of our business
            return False
        about = policy.get("late_policy") or {}
        return bool(about.get("late_submission_deduction_enabled") and about.get("late_submission_deduction"))

    def _list(self, what: str, **parameters: Any) -> list[Mapping[str, Any]]:
        """Return all pages of a list in the course."""
        where, fields = f"courses/{self._place.course}/{what}", combine_kwargs(**parameters)
        return [one.about for one in PaginatedList(_Plain, self._requester, "GET", where, _kwargs=fields)]

    def _submissions(self, assignment: Assignment, *include: str) -> list[Mapping[str, Any]]:
        with self._reading("the submissions"):
            found = self._list(f"assignments/{assignment.id}/submissions", include=list(include))
        if any("user_id" not in one for one in found):
            raise Problem("Canvas hides who is who in this assignment. End anonymous grading there first")
        return found

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Turn what goes wrong while reading into a sentence."""
        try:
            yield
        except InvalidAccessToken:
            raise self._stale() from None
        except (Unauthorized, Forbidden):
            raise Problem(
                f"this token may not read {what} of course {self._place.course} in Canvas. Make one as a teacher of it"
            ) from None
        except ResourceDoesNotExist:
            raise Problem(
                f"Canvas has no {what} of course {self._place.course}. Check its number in course.toml"
            ) from None
        except (CanvasException, ValueError, AttributeError) as error:
            said = self._token.hide(str(error)) or type(error).__name__
            raise Problem(
                f"{self._place.address} did not answer as Canvas does ({said:.100}). Check the address in course.toml"
            ) from None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn a refusal about one student into `Refused`, and what concerns all into a `Problem`."""
        try:
            yield
        except InvalidAccessToken:
            raise self._stale() from None
        except ResourceDoesNotExist:
            raise Refused("is no longer in this course or assignment") from None
        except (Unauthorized, Forbidden):
            raise Refused("Canvas does not let this token grade this student") from None
        except ValueError:  # an answer that is no JSON, perhaps of a server in between
            raise Unclear(f"{self.name} answered with something else than JSON") from None
        except CanvasException as error:
            raise Refused(f"Canvas refused it: {self._token.hide(str(error)):.100}") from None

    def _stale(self) -> Problem:
        return Problem(f"{self._place.address} does not know this token. Make a new one, and keep it as before")


def _obstacle(one: Mapping[str, Any]) -> str:
    """Return why Canvas would refuse or misplace grades for an assignment, or ""."""
    kind, name = one.get("grading_type", "points"), one["name"]
    if not one.get("published", True):
        return f"{name} is not published in Canvas. Publish it first"
    if kind not in NUMERIC:
        return f"{name} has the grading type {kind} in Canvas, which takes no points. Change it to points"
    if one.get("moderated_grading") and not one.get("grades_published"):
        return f"{name} is moderated in Canvas, and its final grades are not released. Release them there first"
    if one.get("group_category_id") and not one.get("grade_group_students_individually"):
        return (
            f"{name} gives one grade to each whole group in Canvas. Tick 'Assign Grades to Each Student "
            "Individually' there, because members can lose different points"
        )
    return ""


def _attempt(submission: Mapping[str, Any], version: Mapping[str, Any]) -> Attempt:
    user, name = str(submission["user_id"]), str((submission.get("user") or {}).get("sortable_name", ""))
    squeezed = re.sub(r"[\W_]", "", re.sub(r"^(\d+)$", "", name)).lower()  # digits alone would be taken for a number
    late = "LATE" if version.get("late") else ""
    label = "_".join(filter(None, (squeezed, user)))
    files = [
        Upload(str(one.get("display_name")), str(one["id"]), str(one.get("url")), int(one.get("size") or 0))
        for one in version.get("attachments") or ()
    ]
    return Attempt(
        user,
        Sender("Canvas", user, label),
        lambda key: "_".join([*filter(None, (squeezed, late, user)), key, ""]),
        int(version["attempt"] or 0),
        datetime.fromisoformat(str(version["submitted_at"])).astimezone(UTC),
        tuple(files),
        typed="" if files else str(version.get("body") or version.get("url") or ""),
        group=str((version.get("group") or {}).get("name") or ""),
    )


def _standing(one: Mapping[str, Any]) -> Standing:
    """Return what a submission says; `entered_score` is what was given, and `score` what a late policy left of it."""
    score = one.get("entered_score", one.get("score"))
    lost = float(one.get("points_deducted") or 0)
    comments: Sequence[Mapping[str, Any]] = one.get("submission_comments") or ()
    versions = {version for comment in comments for version in versions_in(str(comment.get("comment") or ""))}
    return Standing(
        None if score is None else float(score),
        bool(one.get("excused")),
        versions=frozenset(versions),
        note=f"Canvas takes {lost:g} points off late work itself" if lost else "",
    )
