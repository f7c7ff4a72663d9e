"""Call Moodle's web services, and move files to and from it.

Each call is a POST, so the token stands in no address and in no server's log of addresses. An error is an answer with
an `exception` and an `errorcode`, mostly with status 200 (`webservice/rest/locallib.php`, `webservice/upload.php` and
`webservice/pluginfile.php` in github.com/moodle/moodle).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import httpx

from course.grading.lms.patience import TIMEOUT, Patience, Reply
from course.grading.lms.platform import Refused, Upload
from course.grading.lms.secret import Token
from course.outline import Place
from course.problem import Problem

STALE = "invalidtoken"
"""The error code of a token that the site does not know."""

NO_ACCESS = "accessexception"
"""The error code of a token that has expired, or whose service lacks a function."""

FORBIDDEN = frozenset(("1", "2"))
"""The codes of warnings that stand where an answer lacks what this person may not see."""


class Answered(Exception):
    """Moodle answered with an error: its `code`, and its text."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class MoodleCalls:
    """The web services of one site, for the person to whom the token belongs."""

    def __init__(self, place: Place, token: Token, patience: Patience) -> None:
        self._place, self._token, self._patience = place, token, patience
        self._client = httpx.Client(timeout=TIMEOUT)

    def call(self, function: str, **parameters: Any) -> Any:
        """Return the answer of a function that reads, or that does the same if it is called twice.

        Raises:
            Answered: Moodle refuses the call with an error that is not the token's.
            Problem: the token is not accepted, or the site does not answer as Moodle does.
        """
        form = {"wstoken": self._token.reveal(), "wsfunction": function, "moodlewsrestformat": "json"}
        form |= dict(flattened(parameters))
        answer = self._post("/webservice/rest/server.php", data=form)
        return self._parsed(answer, function)

    def read(self, function: str, **parameters: Any) -> Any:
        """Return the answer of a function that reads, where each error is about the course and not about a student."""
        check = f"Check the course's number {self._place.course} in course.toml, and your rights in that course"
        try:
            answer = self.call(function, **parameters)
        except Answered as error:
            raise Problem(f"Moodle refuses {function} ({error!s:.100}). {check}") from None
        for warning in answer.get("warnings", ()) if isinstance(answer, dict) else ():
            if str(warning.get("warningcode")) in FORBIDDEN:
                said = self._token.hide(str(warning.get("message")))
                raise Problem(f"Moodle refuses a part of {function} ({said:.100}). {check}")
        return answer

    def upload(self, name: str, content: bytes, area: int = 0) -> int:
        """Put a file into a draft area of the token's owner, by default a new one, and return the area's number."""
        folder, _, name = f"/{name}".rpartition("/")
        form = {"token": self._token.reveal(), "itemid": str(area), "filepath": f"{folder}/"}
        answer = self._post("/webservice/upload.php", data=form, files={"file_1": (name, content)})
        records = self._parsed(answer, "file upload")
        if not isinstance(records, list) or not records or "itemid" not in records[0]:
            said = str(records[0].get("error", "")) if isinstance(records, list) and records else ""
            raise Refused(f"Moodle did not take the file {name} ({self._token.hide(said):.100})")
        return int(records[0]["itemid"])

    def download(self, upload: Upload) -> bytes:
        """Return the bytes of a file, which must be as many as Moodle said.

        Raises:
            Problem: the file is on another site, or Moodle does not give it.
        """
        if not upload.url.startswith(f"{self._place.address}/"):
            raise Problem(f"Moodle says that {upload.name} is on another site. Download it there yourself")
        answer = self._post(upload.url.removeprefix(self._place.address), data={"token": self._token.reveal()})
        if len(answer.content) != upload.size:
            try:
                self._parsed(answer, f"the download of {upload.name}")
            except Answered as error:
                raise Problem(f"Moodle does not give {upload.name} ({error!s:.100}). Try again") from None
            raise Problem(f"{upload.name} arrived with {len(answer.content)} of {upload.size} bytes. Try again")
        return answer.content

    def _post(self, path: str, **content: Any) -> httpx.Response:
        def send() -> Reply[httpx.Response]:
            answer = self._client.post(f"{self._place.address}{path}", **content)
            return Reply(answer, answer.status_code, answer.headers, answer.content[:1000])

        return self._patience.ask(send, httpx.TransportError, repeatable=True)

    def _parsed(self, answer: httpx.Response, what: str) -> Any:
        """Return the JSON of an answer, or raise what its error means."""
        try:
            said = answer.json()
        except ValueError:
            said = None
        if isinstance(said, dict) and said.get("errorcode"):
            self._refuse(str(said["errorcode"]), str(said.get("message") or said.get("error") or ""), what)
        if answer.status_code != 200 or (said is None and answer.content.strip() not in (b"null", b"")):
            raise Problem(
                f"{self._place.address} did not answer as Moodle does (status {answer.status_code}). Check the address "
                "in course.toml, and that web services with the REST protocol are on"
            )
        return said

    def _refuse(self, code: str, text: str, what: str) -> NoReturn:
        if code == STALE:
            raise Problem(f"{self._place.address} does not know this token. Make a new one, and keep it as before")
        if code == NO_ACCESS:
            raise Problem(
                f"Moodle refuses {what} ({self._token.hide(text):.100}). The token may have expired, or its service "
                "lacks the function, which an administrator can add"
            )
        raise Answered(code, self._token.hide(text))


def flattened(parameters: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield nested parameters as Moodle's REST protocol names them: `options[0][name]`, with 1 and 0 for truth."""
    for name, value in parameters.items():
        yield from _flat(name, value)


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _flat(f"{name}[{key}]", one)
    elif isinstance(value, (list, tuple)):
        for key, one in enumerate(value):
            yield from _flat(f"{name}[{key}]", one)
    else:
        yield name, str(int(value)) if isinstance(value, bool) else str(value)
