"""The same term without files: fetched from both platforms and sent to both by their interfaces, with faults.

`python -m tests.term_of_300.online` runs it. One request in twenty fails, and each sending is killed once. Then every
number on a platform is compared with `gradebook.db`, and everything that was written or printed is searched for the
tokens.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from course.grading.lms.message import plain, versions_in
from course.grading.lms.secret import variable
from course.grading.nbgrader_bridge.page_text import said_by
from tests.grading.lms.canvas_site import COURSE as CANVAS_COURSE
from tests.grading.lms.canvas_site import CanvasSite
from tests.grading.lms.moodle_site import COURSE as MOODLE_COURSE
from tests.grading.lms.moodle_site import MOODLE_TOKEN, MoodleSite
from tests.grading.lms.sites import TOKEN, Asked, Site

from . import work
from .__main__ import (
    ATTENTION,
    MARKOV,
    MOST,
    TOPICS,
    Figures,
    Grades,
    check_rules,
    grade,
    gradebook,
    make_course,
    notebooks,
    points_of,
    scaled,
    upload,
)
from .people import Student, students

NUMBERS = {MARKOV: 11, ATTENTION: 12}
EVERY = 20
"""One request in so many fails."""

FAULTS = ("429", "500", "503", "cut", "lost", "half")

RUN = """
import sys, time, types
from course.grading.lms import patience
patience.time = types.SimpleNamespace(sleep=lambda seconds: None, time=time.time)
from course.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""Runs `course` without waiting for a server that is our own."""


@dataclass
class Term:
    """The course in `root`, the platforms, all that was said, and the processes that were seen while a command ran."""

    root: Path
    everybody: list[Student]
    canvas: CanvasSite
    moodle: MoodleSite
    said: list[str] = field(default_factory=list)
    processes: list[str] = field(default_factory=list)

    def course(self, *arguments: str, kill: tuple[int, bool] | None = None) -> int:
        """Run `course`, and kill it at a request that changes a grade, if asked: before it is answered, or after."""
        tokens = {variable("canvas"): TOKEN, variable("moodle"): MOODLE_TOKEN}
        line = [sys.executable, "-c", RUN, *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        process = subprocess.Popen(line, cwd=self.root, env={**os.environ, **tokens}, **pipes)  # type: ignore[call-overload]
        for site in (self.canvas, self.moodle):
            start = writes(site)

            def strike(
                number: int, asked: Asked, site: Site = site, start: int = start, is_after: bool = False
            ) -> None:
                if kill and changes(asked) and (writes(site) - start, is_after) == kill:
                    os.kill(process.pid, signal.SIGKILL)
                    process.wait()

            site.before = lambda number, asked, strike=strike: (self._look(number), strike(number, asked))  # type: ignore[misc]
            site.after = lambda number, asked, strike=strike: strike(number, asked, is_after=True)  # type: ignore[misc]
        began = time.perf_counter()
        self.said.append(process.communicate()[0])
        self.took(" ".join(arguments), began)
        return process.returncode

    def took(self, what: str, began: float) -> None:
        """Print how long something took, and the processor time of all commands so far."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            f"{time.perf_counter() - began:7.0f} s, {used.ru_utime + used.ru_stime:6.0f} s in all: {what}", flush=True
        )

    def _look(self, number: int) -> None:
        if number % 400 == 1:
            self.processes.append(subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout)


def changes(asked: Asked) -> bool:
    """Whether a request changes a grade."""
    return asked.method == "PUT" or asked.one("wsfunction") == "mod_assign_save_grade"


def writes(site: Site) -> int:
    """How many requests wanted to change a grade."""
    return sum(map(changes, site.seen))


def open_sites(everybody: list[Student]) -> tuple[CanvasSite, MoodleSite]:
    """Both courses with the whole class; the last student has left both."""
    canvas, moodle = CanvasSite(), MoodleSite()
    for one in everybody:
        canvas.add_user(one.canvas_id, one.sortable_name, one.login, email=one.email, sis_user_id=one.sis_id)
        moodle.add_user(one.canvas_id, one.first, one.last, one.username, one.email)
    for site in (canvas, moodle):
        for topic, number in NUMBERS.items():
            site.add_assignment(number, topic, int(MOST[topic]))
    dice = random.Random(300)
    faults = {id(site): (*FAULTS, "limit") if site is canvas else FAULTS for site in (canvas, moodle)}
    for site in (canvas, moodle):
        kinds = faults[id(site)]
        site.fault = lambda number, asked, kinds=kinds: dice.choice(kinds) if dice.randrange(EVERY) == 0 else None  # type: ignore[misc]
    return canvas, moodle


def hand_in(term: Term) -> None:
    """Everybody's attempts, each topic on both platforms, so that both can send both."""
    made = notebooks(term.root)
    for topic, number in NUMBERS.items():
        for one in term.everybody:
            for attempt in work.plan(one, topic).attempts:
                file = upload(one, topic, attempt, made[topic, attempt.variant])
                term.canvas.hand_in(number, one.canvas_id, attempt.came, file, late=attempt.came > work.DUE)
                term.moodle.hand_in(number, one.canvas_id, attempt.came, file)


def before_sending(term: Term) -> None:
    """What is there already: a grade and an excuse that stay, and a student who has left."""
    first, second, third = (one.canvas_id for one in term.everybody[:3])
    for number in NUMBERS.values():
        term.canvas.work(number, first).excused = True
        term.canvas.work(number, second).score = 1.25
        term.moodle.locked = {first}
        term.moodle.grade_of(number, second).grade = 1.25
    for site in (term.canvas, term.moodle):
        site.active.discard(third)


def compare(term: Term, found: Grades, figures: Figures) -> None:
    """Hold both platforms against the gradebook, and each student against one message of ours and one page."""
    points = points_of(term.root)
    first, second, third = term.everybody[:3]
    for topic, number in NUMBERS.items():
        for one in term.everybody:
            graded, work_there = found.get((one.id, topic)), term.canvas.work(number, one.canvas_id)
            at_moodle = term.moodle.grade_of(number, one.canvas_id)
            kept = one in (first, second, third) or graded is None
            expected = scaled(graded, topic, points) if graded and not kept else 1.25 if one is second else None
            figures.compare(f"canvas, {one.id}, {topic}", expected, work_there.score)
            figures.compare(f"canvas, {one.id}, {topic}, messages", int(not kept), len(work_there.comments))
            told = None if expected is None else round(expected, 5)
            figures.compare(f"moodle, {one.id}, {topic}", told, at_moodle.grade)
            figures.compare(
                f"moodle, {one.id}, {topic}, messages", int(not kept), len(versions_in(plain(at_moodle.comment)))
            )
            page = term.root / "feedback" / one.id / topic / f"{topic}.html"
            pages = [] if kept else [(page.name, page.read_bytes())]
            attached = [file["id"] for comment in work_there.comments for file in comment["attachments"]]
            compare_pages(f"moodle, {one.id}, {topic}, page", pages, list(at_moodle.files.items()), figures)
            at_canvas = [term.canvas.files[number] for number in attached]
            compare_pages(f"canvas, {one.id}, {topic}, page", pages, at_canvas, figures)


Pages = Sequence[tuple[str, bytes]]
"""Files, each with its name."""


def compare_pages(where: str, expected: Pages, found: Pages, figures: Figures) -> None:
    """Count a row for what pages say about the work, and note where two of them part."""
    said = [[(name, said_by(page.decode())) for name, page in pages] for pages in (expected, found)]
    told = [[f"{name}, {len(text)} characters, {digest(text)}" for name, text in pages] for pages in said]
    before = len(figures.differences)
    figures.compare(where, *told)
    if len(figures.differences) > before and all(said):
        one, other = said[0][0][1], said[1][-1][1]
        place = next((place for place, pair in enumerate(zip(one, other, strict=False)) if len(set(pair)) > 1), 0)
        around = slice(max(0, place - 40), place + 60)
        figures.differences[-1] += f"; they part at {one[around]!r} and {other[around]!r}"


def digest(text: str) -> str:
    """Eight digits that tell two texts apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def leaks(term: Term) -> list[str]:
    """Where a token stands that should stand nowhere."""
    found = []
    for token in (TOKEN, MOODLE_TOKEN):
        files = [path for path in term.root.rglob("*") if path.is_file() and not path.is_symlink()]
        found += [str(path) for path in files if token.encode() in path.read_bytes()]
        found += ["what was said" for said in term.said if token in said]
        found += ["the list of processes" for listed in term.processes if token in listed]
        found += [asked.path for site in (term.canvas, term.moodle) for asked in site.seen if token in asked.path]
    return found


def run(root: Path, count: int) -> Figures:
    """The whole term in an empty folder `root`."""
    everybody = students(count)
    figures = Figures(count)
    canvas, moodle = open_sites(everybody)
    with ExitStack() as running:
        term = Term(root, everybody, canvas, moodle)
        for site in (canvas, moodle):
            running.enter_context(site.running())
        began = time.perf_counter()
        make_course(root, everybody)
        term.took("the course", began)
        outline = root / "course.toml"
        places = "".join(
            f"\n[{name}]\naddress = '{site.address}'\ncourse = {number}\n"
            for name, site, number in (("canvas", canvas, CANVAS_COURSE), ("moodle", moodle, MOODLE_COURSE))
        )
        outline.write_text(outline.read_text("utf-8") + places, "utf-8")
        hand_in(term)
        for platform in ("moodle", "canvas"):
            figures.compare(f"roster {platform}", 0, term.course("roster", platform))
        for platform, topic in (("canvas", work.BY_CANVAS), ("moodle", work.BY_MOODLE)):
            term.course("fetch", platform, topic)
        began = time.perf_counter()
        term.said.append(grade(root, everybody))
        term.took("grading", began)
        term.course("export", "csv", *TOPICS)
        found = gradebook(root)
        figures.graded = len(found)
        check_rules(found, everybody, figures)
        before_sending(term)
        for platform in ("canvas", "moodle"):
            for place, topic in enumerate(TOPICS):
                killed = term.course("send", platform, topic, kill=(count // 4, place == 1))
                figures.compare(f"send {platform} {topic}, killed", -signal.SIGKILL, killed)
                figures.compare(f"send {platform} {topic}, kept some", 1, term.course("send", platform, topic))
        compare(term, found, figures)
        changed = writes(canvas), writes(moodle)
        for platform in ("canvas", "moodle"):
            term.course("send", platform, *TOPICS)
        figures.compare("requests that sending again makes", changed, (writes(canvas), writes(moodle)))
        figures.compare("leaks", [], leaks(term))
        figures.compare("gradebook, after all", found, gradebook(root))
        print("\n".join(term.said)[-6000:])
        print(f"{len(canvas.seen)} requests to Canvas, {len(moodle.seen)} to Moodle, {len(term.processes)} looks at ps")
    return figures


def main(arguments: Iterable[str] = ()) -> int:
    """Run the term; the status is 1 if any number differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.term_of_300.online", description=__doc__)
    parser.add_argument("--students", type=int, default=300)
    options = parser.parse_args(list(arguments))
    with tempfile.TemporaryDirectory(prefix="term-online-") as place:
        figures = run(Path(place, "class"), options.students)
    print("\n".join(figures.differences[:50]))
    print(
        f"{figures.students} students, {figures.graded} graded, {figures.rows} rows, {len(figures.differences)} differ"
    )
    return int(bool(figures.differences))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
