"""Zips of feedback, read as Moodle and Canvas read them: each student gets their own page and nobody else's."""

from __future__ import annotations

import io
import shutil
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from nbgrader.api import Gradebook

from course import cli
from course.grading.intake.downloaded import names_by_sender
from course.grading.intake.platforms import Sender
from course.grading.intake.senders import read_senders, write_senders
from tests.commands import output_of
from tests.grading.lesson import NAME
from tests.grading.test_ways_in import FIRST, SECOND, packed

PAGE = f"{NAME}.html"


@pytest.fixture
def course(graded_class: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class that is graded, ada, bea, cy, dan and eve; nothing of it was downloaded yet."""
    root = shutil.copytree(graded_class, tmp_path / "course")
    monkeypatch.chdir(root)
    return root


def work(root: Path, student: str, time: str = FIRST) -> dict[str, bytes]:
    """What the student handed in, as the zip that `course submit` makes: its name, and its bytes."""
    folder = root / "submitted" / student / NAME
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {f"{NAME}-{student}-{time}.zip": packed(files)}


def download(root: Path, name: str, files: dict[str, bytes]) -> None:
    inbox = root / "downloaded" / NAME / "archive"
    inbox.mkdir(parents=True, exist_ok=True)
    (inbox / name).write_bytes(packed(files))


def collect(root: Path) -> None:
    output_of(root, "nbgrader", "zip_collect", NAME, "--force")


def export(root: Path, platform: str, capsys: pytest.CaptureFixture[str]) -> tuple[zipfile.ZipFile, str]:
    """The zip, and what was said beside its path."""
    assert cli.main(["export", platform, "6", "--feedback"]) == 0
    said = capsys.readouterr()
    path = root / "exports" / f"{NAME}-feedback-{platform}.zip"
    assert said.out.strip() == str(path)
    return zipfile.ZipFile(path), said.err


def moodle_reads(archive: zipfile.ZipFile, *, before_41: bool) -> dict[str, tuple[str, bytes]]:
    """Feedback by the participant's number, as `is_valid_filename_for_import` finds it in a file's path."""
    read = {}
    for name in archive.namelist():
        parts = f"/import/{name}".split("_", 4) if before_41 else PurePosixPath(name).parts[0].split("_", 4)
        _, participant, *plugin = parts[:4]
        assert participant.isdigit() and plugin == ["assignsubmission", "file"], name
        assert len(parts) == 5 or not before_41
        read[participant] = (PurePosixPath(name).name, archive.read(name))
    assert len(read) == len(archive.namelist())
    return read


def canvas_reads(archive: zipfile.ZipFile) -> dict[tuple[str, str], bytes]:
    """Feedback by the numbers of student and file, as `infer_comment_context_from_filename` finds them."""
    read = {}
    for name in archive.namelist():
        split = [part for part in name.split("_") if part != "LATE"]
        student, file = split[1:3] if split[0] == "anon" else [part for part in split if part.isdigit()][:2]
        read[student, file] = archive.read(name)
    return read


def page(root: Path, student: str) -> bytes:
    return (root / "feedback" / student / NAME / PAGE).read_bytes()


def test_moodle_takes_it_back(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Folders as since 4.1 and as before, and a student who handed in by email."""
    download(
        course,
        "CS-Attention-77.zip",
        {
            **{f"Ada Lovelace_101_assignsubmission_file/{name}": data for name, data in work(course, "ada").items()},
            **{f"Bea Núñez_102_assignsubmission_file_/{name}": data for name, data in work(course, "bea").items()},
            **{f"Participant_7_assignsubmission_file_{name}": data for name, data in work(course, "eve").items()},
        },
    )
    collect(course)
    archive, said = export(course, "moodle", capsys)
    expected = {number: (PAGE, page(course, name)) for number, name in (("101", "ada"), ("102", "bea"), ("7", "eve"))}
    assert moodle_reads(archive, before_41=False) == moodle_reads(archive, before_41=True) == expected
    assert said.count("\n") == 2
    assert (
        f"{NAME}: 5 submissions (ada, bea, cy, dan, eve) with answers that you have not graded yet. Their pages say so"
        in said
    )
    assert "left out cy, dan, as no file in Moodle's download is certainly theirs alone. Send each of them" in said


def test_canvas_takes_it_back_as_it_came(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A zip comes back as a zip, for Canvas calls it so; the newest file counts; a notebook becomes a page."""
    (ada, ada_zip), *_ = work(course, "ada").items()
    (old, old_zip), *_ = work(course, "bea").items()
    (bea, bea_zip), *_ = work(course, "bea", SECOND).items()
    dan = (course / "submitted" / "dan" / NAME / f"{NAME}.ipynb").read_bytes()
    files = {
        f"lovelaceada_LATE_123_456_{ada}": ada_zip,
        f"nunezbea_124_457_{old}": old_zip,
        f"nunezbea_124_1060_{bea}": bea_zip,
        "nunezbea_124_1061_picture.png": b"",
        "dandan_125_458_my_work.ipynb-1.txt": dan,
        "dandan_125_459_weights.safetensors": b"",
    }
    download(course, "submissions.zip", files)
    output_of(course, "nbgrader", "zip_collect", NAME, "--force", status=1)  # it names the picture
    write_senders(course, NAME, {**read_senders(course, NAME), "dan": Sender("Canvas", "125", "dandan_125")})
    archive, said = export(course, "canvas", capsys)
    read = canvas_reads(archive)
    assert set(read) == {("123", "456"), ("124", "1060"), ("125", "458")}
    for name, place in (("ada", ("123", "456")), ("bea", ("124", "1060"))):
        with zipfile.ZipFile(io.BytesIO(read[place])) as inner:
            assert inner.namelist() == [PAGE] and inner.read(PAGE) == page(course, name)
    assert read["125", "458"] == page(course, "dan")
    assert "did not hand in a zip, so they have to rename" in said and said.rstrip().endswith(": dan")
    assert "left out cy, eve, as no file in Canvas's download is certainly theirs alone." in said


def test_one_sender_of_two_students_gets_nothing(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = Sender("Moodle", "101", "Ada_101")
    write_senders(course, NAME, {"ada": twice, "bea": twice, "cy": Sender("Moodle", "103", "Cy_103")})
    download(course, "all.zip", {f"{who}_assignsubmission_file/x.ipynb": b"" for who in ("Ada_101", "Cy_103")})
    archive, said = export(course, "moodle", capsys)
    assert set(moodle_reads(archive, before_41=False)) == {"103"}
    assert "ada, bea, dan, eve" in said


def test_moodles_teams(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A member's own number leads to the page. A team's does not, as it may be that of a student there."""
    toml = course / "course.toml"
    toml.write_text(f"[topics.{NAME}]\n[groups]\nowls = ['ada', 'bea']\njays = ['cy', 'dan']\n", "utf-8")
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        for student, last in (("ada", "Lovelace"), ("bea", "Núñez"), ("cy", "Young")):
            gradebook.update_or_create_student(student, first_name=student.title(), last_name=last)
    labels = {"ada": "Night-Owls-Ada Lovelace_101", "bea": "Night-Owls-Bea Núñez_102", "cy": "Jays_104", "eve": "E_105"}
    write_senders(course, NAME, {who: Sender("Moodle", one[-3:], one) for who, one in labels.items()})
    download(course, "all.zip", {f"{one}_assignsubmission_file/x.zip": b"" for one in labels.values()})
    archive, said = export(course, "moodle", capsys)
    expected = {number: (PAGE, page(course, name)) for number, name in (("101", "ada"), ("102", "bea"), ("105", "eve"))}
    assert moodle_reads(archive, before_41=False) == moodle_reads(archive, before_41=True) == expected
    assert "left out cy, dan, as no file in Moodle's download is certainly theirs alone." in said


def test_a_page_of_an_earlier_time_is_not_sent(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Points given by hand meanwhile are in it, and who is not graded any more is not."""
    senders = {name: Sender("Moodle", str(number), f"{name}_{number}") for number, name in enumerate(("ada", "bea"))}
    write_senders(course, NAME, senders)
    download(course, "all.zip", {f"{one.label}_assignsubmission_file/x.ipynb": b"" for one in senders.values()})
    for name in senders:
        (course / "feedback" / name / NAME).mkdir(parents=True, exist_ok=True)
        (course / "feedback" / name / NAME / PAGE).write_text("of yesterday")
    shutil.rmtree(course / "autograded" / "bea")
    archive, _ = export(course, "moodle", capsys)
    read = moodle_reads(archive, before_41=False)
    assert set(read) == {"0"} and b"of yesterday" not in read["0"][1]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("moodle", "6", "--feedback"), "Put Moodle's download there as it is, and run `nbgrader zip_collect"),
        (("csv", "6", "--feedback"), "only canvas and moodle take a zip of feedback. Leave --feedback out"),
        (("canvas", "6", "--feedback", "--into", "x.csv"), "needs no other option than --to"),
        (("canvas", "6", "3", "--feedback", "--to", "x.zip"), "Export one topic at a time"),
        (("canvas", "3", "--feedback"), "nothing of 03_rnn is graded yet. Run `course grade 03_rnn` first"),
    ],
)
def test_what_cannot_be_is_said(
    line: tuple[str, ...], said: str, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["export", *line]) == 2
    assert said in capsys.readouterr().err


def test_only_a_platforms_own_names_count(tmp_path: Path) -> None:
    """A name that a student packed, one for another student, and a zip that is none say nothing."""
    ada, bob = Sender("Moodle", "101", "Ada_101"), Sender("Canvas", "1", "week_1")
    inside = {"Bob_102_assignsubmission_file/Ada_101_assignsubmission_file/x.ipynb": b"", "week_1_2_all/a.ipynb": b""}
    inner = {"Ada_101_assignsubmission_file/x.zip": packed({"week_1_2_a.ipynb": b""})}
    (tmp_path / "week 1.zip").write_bytes(packed({**inside, **inner, "__MACOSX/._week_1_2_a.ipynb": b""}))
    (tmp_path / "broken.zip").write_bytes(b"PK")
    assert names_by_sender(tmp_path, [ada, bob]) == {ada: ["Ada_101_assignsubmission_file"]}
    renamed = Sender("Moodle", "101", "Ada King_101")
    assert names_by_sender(tmp_path, [renamed]) == {} == names_by_sender(tmp_path / "missing", [ada])
