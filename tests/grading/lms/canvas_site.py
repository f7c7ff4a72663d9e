"""A course on Canvas, as its REST API shows it.

Sources: `app/controllers/submissions_api_controller.rb` (`index`, `show`, `update`), `lib/api/v1/submission.rb`,
`lib/api/v1/attachment.rb`, `app/controllers/late_policy_controller.rb`, `app/middleware/request_throttle.rb` and
`app/controllers/users_controller.rb` in github.com/instructure/canvas-lms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .sites import TOKEN, Answer, Asked, Site, as_json

COURSE = 77
TEACHER = 1


@dataclass
class Submission:
    """What Canvas has for a student: `history` are the versions, of which several may be of one attempt."""

    history: list[dict[str, Any]] = field(default_factory=list)
    score: float | None = None
    excused: bool = False
    lost: float = 0.0
    comments: list[dict[str, Any]] = field(default_factory=list)
    group: tuple[int, str] | None = None


@dataclass
class CanvasSite(Site):
    """The server. A user who is not in `active` has left the course."""

    users: dict[int, dict[str, Any]] = field(default_factory=dict)
    active: set[int] = field(default_factory=set)
    assignments: dict[int, dict[str, Any]] = field(default_factory=dict)
    works: dict[tuple[int, int], Submission] = field(default_factory=dict)
    files: dict[int, tuple[str, bytes]] = field(default_factory=dict)
    late_policy: dict[str, Any] | None = None
    page: int = 100
    quota: float = 600.0
    token: str = TOKEN
    forbidden: set[int] = field(default_factory=set)
    _next: int = 5000

    def add_user(self, number: int, sortable: str, login: str, **about: Any) -> None:
        name = " ".join(reversed(sortable.split(", ", 1)))
        self.users[number] = {"id": number, "name": name, "sortable_name": sortable, "login_id": login, **about}
        self.active.add(number)

    def add_assignment(self, number: int, name: str, points: float | None, **about: Any) -> None:
        usual = {"grading_type": "points", "published": True, "post_manually": False, "group_category_id": None}
        self.assignments[number] = {"id": number, "name": name, "points_possible": points, **usual, **about}

    def work(self, assignment: int, user: int) -> Submission:
        return self.works.setdefault((assignment, user), Submission())

    def hand_in(
        self, assignment: int, user: int, came: datetime, *files: tuple[str, bytes], late: bool = False
    ) -> None:
        """Add an attempt; Canvas keeps another version of it once it is graded."""
        work = self.work(assignment, user)
        version = {
            "attempt": len({one["attempt"] for one in work.history}) + 1,
            "submitted_at": came.isoformat().replace("+00:00", "Z"),
            "submission_type": "online_upload",
            "late": late,
            "attachments": [self._stored(name, content) for name, content in files],
        }
        work.history += [version, {**version, "workflow_state": "graded"}]

    def _stored(self, name: str, content: bytes) -> dict[str, Any]:
        self._next += 1
        self.files[self._next] = (name, content)
        address = f"{self.address}/files/{self._next}/download?download_frd=1&verifier=v{self._next}"
        about = {"id": self._next, "display_name": name, "filename": name.replace(" ", "+")}
        return {**about, "url": address, "size": len(content), "content-type": "application/octet-stream"}

    def answer(self, asked: Asked) -> Answer:
        status, headers, body = self._answer(asked)
        if "Authorization" in asked.headers:
            headers["X-Rate-Limit-Remaining"] = str(self.quota)
        return status, headers, body

    def _answer(self, asked: Asked) -> Answer:
        if found := re.fullmatch(r"/files/(\d+)/download", asked.path):
            number = int(found[1])
            if asked.query.get("verifier") != [f"v{number}"]:
                return as_json({"status": "unauthorized"}, 403)
            return 200, {"Content-Type": "application/octet-stream"}, self.files[number][1]
        if found := re.fullmatch(r"/upload/(\d+)", asked.path):
            assert "Authorization" not in asked.headers and asked.one("key") == f"k{found[1]}"
            self.files[int(found[1])] = asked.files["file"]
            return as_json({"id": int(found[1]), "url": "x", "display_name": asked.files["file"][0]}, 201)
        if asked.headers.get("Authorization") != f"Bearer {self.token}":
            about = {"errors": [{"message": "Invalid access token."}]}
            return as_json(about, 401, **{"WWW-Authenticate": 'Bearer realm="canvas-lms"'})
        base = f"/api/v1/courses/{COURSE}/"
        if not asked.path.startswith(base):
            return as_json({"errors": [{"message": "The specified resource does not exist."}]}, 404)
        parts = asked.path.removeprefix(base).split("/")
        match (asked.method, *parts):
            case ("GET", "search_users"):
                assert asked.query["enrollment_type[]"] == ["student"]
                return self._paged(asked, [self.users[one] for one in sorted(self.active)])
            case ("GET", "assignments"):
                return self._paged(asked, list(self.assignments.values()))
            case ("GET", "late_policy"):
                missing = as_json({"errors": [{"message": "The specified resource does not exist."}]}, 404)
                return as_json({"late_policy": self.late_policy}) if self.late_policy else missing
            case ("GET", "assignments", number, "submissions"):
                shown = [self._shown(int(number), user, asked) for user in sorted(self.active)]
                return self._paged(asked, shown)
            case ("GET", "assignments", number, "submissions", user) if int(user) in self.active:
                return as_json(self._shown(int(number), int(user), asked))
            case ("POST", "assignments", _, "submissions", user, "comments", "files") if int(user) in self.active:
                self._next += 1
                about = {"upload_url": f"{self.address}/upload/{self._next}", "file_param": "file"}
                return as_json({**about, "upload_params": {"key": f"k{self._next}", "filename": asked.one("name")}})
            case ("PUT", "assignments", number, "submissions", user) if int(user) in self.active:
                return self._update(int(number), int(user), asked)
        return as_json({"errors": [{"message": "The specified resource does not exist."}]}, 404)

    def _paged(self, asked: Asked, everything: list[Any]) -> Answer:
        number, size = int(asked.query.get("page", ["1"])[0]), min(self.page, int(asked.query["per_page"][0]))
        last = max(1, -(-len(everything) // size))
        links = {"current": number, "first": 1, "last": last} | ({"next": number + 1} if number < last else {})
        kept = "&".join(f"{name}={value}" for name, values in asked.query.items() for value in values if name != "page")
        told = [f'<{self.address}{asked.path}?{kept}&page={page}>; rel="{name}"' for name, page in links.items()]
        return as_json(everything[(number - 1) * size : number * size], Link=",".join(told))

    def _shown(self, assignment: int, user: int, asked: Asked) -> dict[str, Any]:
        work, include = self.work(assignment, user), asked.query.get("include[]", [])
        last = work.history[-1] if work.history else {"attempt": None, "submitted_at": None, "late": False}
        shown = {
            **last,
            "user_id": user,
            "assignment_id": assignment,
            "entered_score": work.score,
            "score": None if work.score is None else work.score - work.lost,
            "points_deducted": work.lost or None,
            "excused": work.excused,
        }
        about = {"id": work.group[0], "name": work.group[1]} if work.group else {"id": None, "name": None}
        if "submission_history" in include:
            history = [{**one, "user_id": user, "group": about} for one in work.history]
            shown["submission_history"] = history or [dict(shown)]
        if "submission_comments" in include:
            shown["submission_comments"] = work.comments
        if "user" in include:
            shown["user"] = self.users[user]
        return shown

    def _update(self, number: int, user: int, asked: Asked) -> Answer:
        if user in self.forbidden:
            return as_json({"status": "unauthorized", "errors": [{"message": "user not authorized"}]}, 401)
        work, grade = self.work(number, user), asked.one("submission[posted_grade]")
        if grade:
            work.score, work.excused = float(grade), False
        if "comment[text_comment]" in dict(asked.form):
            files = [int(value) for name, value in asked.form if name == "comment[file_ids][]"]
            attached = [{"id": one, "display_name": self.files[one][0]} for one in files]
            hidden = self.assignments[number]["post_manually"]
            about = {"author_id": TEACHER, "comment": asked.one("comment[text_comment]"), "hidden": hidden}
            work.comments.append({"id": len(work.comments) + 1, **about, "attachments": attached})
        asked.query["include[]"] = ["submission_comments"]
        return as_json(self._shown(number, user, asked))
