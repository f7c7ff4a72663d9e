"""Run the judge beside one notebook's kernel: listen on a Unix socket, request outputs, and record verdicts.

The kernel says "rnn_cell is ready". The judge sends scripts, the kernel returns recordings, and the judge writes the
verdict. Nothing that the kernel prints, raises or claims decides a verdict.
"""

from __future__ import annotations

import contextlib
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from ..exercise import Exercise
from ..exercise.key import Key
from ..exercise.recording import Recording
from ..exercise.script import Script
from ..exercise.settings import NOTES
from ..exercise.values import Malformed
from ..exercise.wire import pack, receive, receive_sized, send
from ..syllabus import Item
from .expected import expected
from .judging import Unanswered, judge
from .prerequisite import failing_prerequisite, knowing_prerequisite, with_prerequisite
from .report import text
from .verdict import Verdict

Find = Callable[[str], Exercise]
ItemOf = Callable[[str], Item]
GREETING_SECONDS = 10.0
GREETING_BYTES = 2**16
PATIENCE = 60.0
"""Seconds that the judge itself may take beyond the kernel's time. The first of a class waits for the key."""
MOST_CONNECTIONS = 16
MOST_ANSWER = 32 * 2**20
"""Bytes of one recording at most: sixty times the largest of any exercise of the course."""
MOST_ANSWERS = 2 * MOST_ANSWER
"""Bytes of all recordings of an exercise at most. The judge keeps them for its diagnosis."""
TELLING_SECONDS, TELLING_BYTES = 5.0, 2**20
"""Limits for additional information after judging, such as a digest for each tensor of a trained model."""
MOST_KEPT = 2**18
"""Bytes up to which a packed request is cached. Packing a larger one takes no longer than copying it."""

_requests: WeakKeyDictionary[Script, bytes] = WeakKeyDictionary()


class Session:
    """A judge for the checks of one notebook's run, with a listening thread.

    `find` returns the declaration of an exercise (KeyError if there is none), and `item_of` its item in the course,
    with its points. `seed` draws the hidden cases. `sources` holds the source of each solution cell. All cases of an
    exercise together get `seconds`. After that the verdict's kind is `time`, and `on_stuck` is called from the judge's
    thread so that the caller can interrupt the kernel.

    `written` maps each name that earlier cells define to the text of its definition.

    `weights` holds, for each training task, the digest of each parameter as the kernel reports it. The digests do not
    decide a verdict. They are compared with the checkpoint.
    """

    def __init__(
        self,
        find: Find,
        item_of: ItemOf,
        *,
        seed: int,
        sources: Mapping[str, str] | None = None,
        seconds: float = 20.0,
        on_stuck: Callable[[str], None] | None = None,
    ) -> None:
        self.find, self.item_of, self.seed, self.seconds = find, item_of, seed, seconds
        self.sources = dict(sources or {})
        self.on_stuck = on_stuck
        self.verdicts: dict[str, Verdict] = {}
        self.written: dict[str, str] = {}
        self.weights: dict[str, dict[str, str]] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="judge-")
        self.address = str(Path(self._folder.name, "socket"))
        self._lock = threading.Lock()
        self._expected: str | None = None
        self._checked = ""
        self._claimed = False
        self._decided = threading.Event()
        self.room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(self.address)
        self._server.listen(MOST_CONNECTIONS)
        self.deaf = ""
        self._closing = False
        self.listener = threading.Thread(target=self._listen, name="judge", daemon=True)
        try:
            self.listener.start()
        except RuntimeError:
            self._server.close()
            self._folder.cleanup()
            raise

    def enter(self, grade_id: str, source: str = "") -> None:
        """Start the grade cell of exercise `grade_id` with text `source`. Its first `check` counts."""
        with self._lock:
            self._expected, self._claimed, self._checked = grade_id, False, source
            self._decided.clear()

    def leave(self) -> Verdict | None:
        """End the grade cell. Return its verdict, or None if it did not check its exercise."""
        with self._lock:
            name, claimed, self._expected = self._expected, self._claimed, None
        late = claimed and not self._decided.wait(self.seconds + PATIENCE)
        fault = "did not come to an end" if late else self.deaf and f"could not listen ({self.deaf})"
        if name and name not in self.verdicts and fault:
            message = f"the judge {fault}; this costs no points and is retried"
            return Verdict.without_points(name, "not-graded", self.item_of(name).points, message)
        return self.verdicts.get(name or "")

    def close(self) -> None:
        """End the session and close all connections."""
        with self._lock:
            self._expected, self._closing = None, True
        try:  # unblock the thread that waits in accept
            with socket.socket(socket.AF_UNIX) as caller:
                self._server.settimeout(0.1)
                caller.connect(self.address)
        except OSError:
            pass
        self._server.close()
        self._folder.cleanup()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _listen(self) -> None:
        while not self._closing:
            try:
                connection, _ = self._server.accept()
                if not self.room.acquire(blocking=False):
                    connection.close()
                    continue
                threading.Thread(target=self._meet, args=(connection,), name="judge-call", daemon=True).start()
            except (OSError, RuntimeError) as error:  # closed, or the machine is out of files or threads
                if not self._closing:
                    self.deaf = str(error)
                    time.sleep(0.1)

    def _meet(self, connection: socket.socket) -> None:
        try:
            with connection:
                greeting = receive(connection, time.monotonic() + GREETING_SECONDS, GREETING_BYTES)
                name = greeting.get("ready") if isinstance(greeting, dict) else None
                if isinstance(name, str) and self._claim(name):
                    self._judge(name, connection)
                else:
                    send(connection, {"public": True})
        except (OSError, Malformed):
            pass
        finally:
            self.room.release()

    def _claim(self, name: str) -> bool:
        """Return whether this is the first check of the exercise whose grade cell is running. If so, claim it."""
        with self._lock:
            if name != self._expected or self._claimed or name in self.verdicts:
                return False
            self._claimed = True
            return True

    def _judge(self, name: str, connection: socket.socket) -> None:
        try:
            verdict = self._verdict(name, connection)
            self.verdicts[name] = verdict
            if verdict.kind == "time" and self.on_stuck is not None:
                with contextlib.suppress(Exception):  # kernel or event loop has ended, the verdict stands
                    self.on_stuck(name)
        finally:
            self._decided.set()
        if verdict.cases and verdict.kind != "time":
            told = self._asked(connection, "notes")
            notes = tuple(NOTES[word] for word in NOTES if isinstance(told, list) and word in told)
            self.verdicts[name] = verdict = replace(verdict, notes=notes)
            if self.item_of(name).budget is not None:
                told = self._asked(connection, "weights")
                if isinstance(told, dict) and all(isinstance(part, str) for pair in told.items() for part in pair):
                    self.weights[name] = told
        send(connection, {"done": text(verdict)})

    def _asked(self, connection: socket.socket, what: str) -> Any:
        """Request additional information about the judged answer. Return None after a timeout or a malformed reply."""
        with contextlib.suppress(TimeoutError, Malformed):
            connection.settimeout(TELLING_SECONDS)
            send(connection, {what: True})
            return receive(connection, time.monotonic() + TELLING_SECONDS, TELLING_BYTES)
        return None

    def _verdict(self, name: str, connection: socket.socket) -> Verdict:
        exercise, points = self.find(name), self.item_of(name).points
        left = MOST_ANSWERS

        def respond(script: Script) -> Recording:
            nonlocal left
            try:
                connection.sendall(_request(script))
                answer, size = receive_sized(connection, deadline, min(MOST_ANSWER, left))
                left -= size
                return Recording.from_plain(answer)
            except TimeoutError:
                raise Unanswered("time", f"no answer within {self.seconds:g} seconds. Does a loop never end?") from None
            except ConnectionError:
                raise Unanswered("error", "the kernel went away while the exercise was being judged") from None

        try:
            source = self.sources.get(name, "")
            key, prerequisite = self._key(exercise, source)
            deadline = time.monotonic() + self.seconds
            return with_prerequisite(judge(key, respond, points, source, describing=True), prerequisite, key, source)
        except Exception as fault:  # noqa: BLE001 - a bug of the judge, not the student's
            message = f"the judge itself failed ({type(fault).__name__}: {fault}); this costs no points and is retried"
            return Verdict.without_points(name, "not-graded", points, message)

    def failing_prerequisite(self, name: str, source: str) -> str:
        """Return the failing exercise that an answer depends on according to its text, or an empty string."""
        return failing_prerequisite(name, source, self.verdicts, self.written)

    def _key(self, exercise: Exercise, source: str) -> tuple[Key, str]:
        """Return the key of an exercise, and the failing exercise that the answer depends on, if any."""
        prerequisite = self.failing_prerequisite(exercise.name, source) or self.failing_prerequisite(
            exercise.name, self._checked
        )
        key = expected(exercise, self.seed)
        if prerequisite and (mistake := self.verdicts[prerequisite].misconception):
            key = knowing_prerequisite(key, exercise, self.find(prerequisite), mistake)
        return key, prerequisite


def _request(script: Script) -> bytes:
    """Return the packed message that runs a script, cached because all students with the same key get the same one."""
    kept = _requests.get(script)
    if kept is None:
        kept = pack({"run": script.to_plain()}, whole=True)
        if len(kept) <= MOST_KEPT:
            _requests[script] = kept
    return kept
