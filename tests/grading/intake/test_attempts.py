"""What a newer hand-in replaces is kept, once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeCollect

from course.grading.execution.execute import class_paths
from course.grading.intake.attempts import attempts_of, keep, keep_folder, put_back
from course.grading.nbgrader_bridge.patches import guard_exchange

TOPIC = "06_self_attention"


def work(folder: Path, text: str, **others: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in {f"{TOPIC}.ipynb": text, **others}.items():
        (folder / name).write_text(content)
    return folder


def kept(root: Path) -> dict[str, str]:
    """The notebooks in `attempts/`, by the folder that each is in."""
    found = sorted((root / "attempts").glob(f"*/*/*/{TOPIC}.ipynb"))
    return {path.parent.relative_to(root / "attempts").as_posix(): path.read_text() for path in found}


def test_an_attempt_is_kept_once_and_two_of_one_time_are_told_apart(tmp_path: Path) -> None:
    for text in ("one", "one", "two"):
        files = {f"{TOPIC}.ipynb": work(tmp_path / text, text) / f"{TOPIC}.ipynb"}
        keep(tmp_path, "ada", TOPIC, "20270131T230029Z", files)
    place = f"ada/{TOPIC}/20270131T230029Z"
    assert kept(tmp_path) == {place: "one", f"{place}-2": "two"}
    assert (tmp_path / "attempts" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    ("others", "time"),
    [
        ({"timestamp.txt": "2027-01-31 23:40:00+01:00"}, "20270131T224000Z"),
        ({"submission.json": '{"time": "2027-01-30T08:00:00+00:00"}'}, "20270130T080000Z"),
        ({"timestamp.txt": "yesterday", "submission.json": "["}, "20270129T000000Z"),
    ],
)
def test_it_is_called_by_when_it_came(others: dict[str, str], time: str, tmp_path: Path) -> None:
    folder = work(tmp_path / "submitted" / "ada" / TOPIC, "mine", **others)
    for path in folder.iterdir():
        os.utime(path, (1801180800, 1801180800))  # 2027-01-29
    place = keep_folder(tmp_path, "ada", TOPIC, folder)
    assert place == tmp_path / "attempts" / "ada" / TOPIC / time
    assert {path.name for path in place.iterdir()} == {path.name for path in folder.iterdir()}
    assert keep_folder(tmp_path, "ada", TOPIC, folder) == place


def test_nbgraders_own_collect_keeps_what_it_replaces(tmp_path: Path) -> None:
    """`nbgrader collect --update`, from the exchange of a shared machine."""
    guard_exchange()
    inbound = tmp_path / "exchange" / "seq" / "inbound"
    for time, text in (("2027-01-31 12:00:00 UTC", "first"), ("2027-02-01 12:00:00 UTC", "second")):
        name = f"ada+{TOPIC}+{time}+"
        work(inbound / name, text, **{"timestamp.txt": time})
        coursedir = CourseDirectory(root=str(tmp_path / "course"), course_id="seq", assignment_id=TOPIC)
        coursedir.db_url = f"sqlite:///{tmp_path / 'gradebook.db'}"
        collect = ExchangeCollect(coursedir=coursedir, root=str(tmp_path / "exchange"), update=True)
        collect.check_owner = False
        for step in (collect.init_src, collect.init_dest, collect.copy_files):
            step()
    submitted = tmp_path / "course" / "submitted" / "ada" / TOPIC / f"{TOPIC}.ipynb"
    assert submitted.read_text() == "second"
    assert kept(tmp_path / "course") == {f"ada/{TOPIC}/20270131T120000Z": "first"}


def test_nbgraders_own_collect_passes_over_what_was_there_when_another_was_chosen(tmp_path: Path) -> None:
    guard_exchange()
    root, name = tmp_path / "course", f"ada+{TOPIC}+2027-02-01 12:00:00 UTC+"
    newer = work(tmp_path / "exchange" / "seq" / "inbound" / name, "newer", **{"timestamp.txt": "2027-02-01 12:00:00"})
    chosen = root / "submitted" / "ada" / TOPIC
    keep_folder(root, "ada", TOPIC, work(chosen, "older", **{"timestamp.txt": "2027-01-31 12:00:00"}))
    keep_folder(root, "ada", TOPIC, newer)
    put_back(root, "ada", TOPIC, attempts_of(root, "ada", TOPIC, chosen)[0], chosen)
    coursedir = CourseDirectory(root=str(root), course_id="seq", assignment_id=TOPIC)
    coursedir.db_url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    collect = ExchangeCollect(coursedir=coursedir, root=str(tmp_path / "exchange"), update=True)
    collect.check_owner = False
    for step in (collect.init_src, collect.init_dest, collect.copy_files):
        step()
    assert (chosen / f"{TOPIC}.ipynb").read_text() == "older"


def test_it_is_no_students_to_see(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "attempts").mkdir()
    monkeypatch.chdir(tmp_path)
    assert tmp_path / "attempts" in class_paths()
