"""`nbgrader zip_collect` with downloads as the platforms make them: who gets what, and what an instructor reads.

Nothing is executed here: the notebooks are a line long.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import ZipCollectApp
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from course.grading.intake import attempts
from course.grading.intake.ownership import read_senders
from course.grading.intake.regrade_requests import kept_requests, line_of
from course.grading.intake.submit import MANIFEST, archive_pattern
from course.grading.nbgrader_bridge.left_files import BESIDE
from course.grading.nbgrader_bridge.patches import guard_collecting
from tests.grading.lesson import NAME
from tests.grading.nbgrader_bridge.test_unpacking import made
from tests.original import ORIGINAL

ROOT = Path(__file__).parents[2]
FIRST, SECOND, THIRD = "20270131T230029Z", "20270201T080000Z", "20270202T120000Z"


@dataclass
class Course:
    """An instructor's folder, and what was heard there."""

    root: Path
    told: str = ""
    status: int = 0

    @property
    def inbox(self) -> Path:
        return self.root / "downloaded" / NAME / "archive"

    @property
    def extracted(self) -> Path:
        return self.root / "downloaded" / NAME / "extracted"

    def collect(self, topic: str = NAME, *, force: bool = True) -> str:
        """Run the command, in this process; returns what it ends with."""
        app = ZipCollectApp(force=force, config=_config())
        app.coursedir = CourseDirectory(root=str(self.root), assignment_id=topic)
        app.coursedir.release_directory = "assignments"
        app.init_plugins()
        app.extract_archive_files()
        try:
            app.process_extracted_files()
        except SystemExit as error:
            self.status, self.told = 1, str(error.code)
        else:
            self.status, self.told = 0, ""
        return self.told

    def download(self, **archives: Mapping[str, bytes | str] | bytes) -> None:
        """Put zips, by their names without an ending, in place of what was downloaded before."""
        shutil.rmtree(self.inbox, ignore_errors=True)
        self.inbox.mkdir(parents=True)
        self.add(**archives)

    def add(self, **archives: Mapping[str, bytes | str] | bytes) -> None:
        for name, content in archives.items():
            data = content if isinstance(content, bytes) else packed(content)
            (self.inbox / f"{name}.zip").write_bytes(data)

    def there(self, folder: str = "submitted") -> dict[str, str]:
        """The notebooks of the topic below a folder, by whose they are (and the attempt), and what is in each."""
        found = sorted((self.root / folder).rglob(f"{NAME}.ipynb"))
        return {path.parent.relative_to(self.root / folder).as_posix(): path.read_text() for path in found}

    def came(self, student: str) -> str:
        return (self.root / "submitted" / student / NAME / "timestamp.txt").read_text()


def _config() -> Config:
    config = Config()
    config.ZipCollectApp.extractor_plugin = "course.grading.nbgrader_bridge.unpacking.TolerantExtractor"
    config.ZipCollectApp.collector_plugin = "course.grading.nbgrader_bridge.zip_collect.TopicCollector"
    config.FileNameCollectorPlugin.named_regexp = archive_pattern(ORIGINAL.known_folders)
    config.FileNameCollectorPlugin.valid_ext = [".ipynb", ".safetensors", ".json"]
    return config


@pytest.fixture
def course(tmp_path: Path) -> Course:
    guard_collecting()
    root = tmp_path / "course"
    (root / "assignments" / NAME).mkdir(parents=True)
    (root / "assignments" / NAME / f"{NAME}.ipynb").write_text("{}")
    return Course(root)


def packed(files: Mapping[str, bytes | str]) -> bytes:
    """The bytes of a zip."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return written.getvalue()


def manifest(student: str, time: str) -> str:
    when = re.sub(r"(....)(..)(..)T(..)(..)(..)Z", r"\1-\2-\3T\4:\5:\6+00:00", time)
    return json.dumps({"topic": NAME, "student": student, "time": when})


def handed_in(student: str, text: str, time: str = FIRST) -> dict[str, str]:
    """What `course submit` packs."""
    return {f"{NAME}.ipynb": text, "checkpoints/a.safetensors": text, MANIFEST: manifest(student, time)}


def named(student: str, time: str = FIRST) -> str:
    return f"{NAME}-{student}-{time}"


def zipped(student: str, text: str, time: str = FIRST) -> bytes:
    return packed(handed_in(student, text, time))


def test_moodle_in_folders_and_flat(course: Course) -> None:
    """mod/assign/classes/downloader.php: folders are its default; both with the number that tells people apart."""
    course.download(
        **{
            "CS1-Self-attention-77": {
                f"Ada Lovelace_101_assignsubmission_file/{named('jd1234')}.zip": zipped("jd1234", "Ada's"),
                f"Bob_102_assignsubmission_file_/{named('bm9')}.zip": zipped("bm9", "Bob's"),
                f"Cy_103_assignsubmission_file_{named('cy')}.zip": zipped("cy", "Cy's"),
            }
        }
    )
    assert course.collect() == ""
    assert course.there() == {f"jd1234/{NAME}": "Ada's", f"bm9/{NAME}": "Bob's", f"cy/{NAME}": "Cy's"}
    assert (course.root / "submitted" / "cy" / NAME / "checkpoints" / "a.safetensors").read_text() == "Cy's"
    assert course.came("cy") == "2027-01-31 23:00:29"


def test_canvas_late_and_handed_in_twice(course: Course) -> None:
    """lib/content_zipper.rb: of a student's attempts it packs the last; files of one name get a number behind."""
    course.download(
        submissions={
            f"lovelaceada_123_456_{named('ada')}.zip": zipped("ada", "Ada's"),
            f"moorebob_LATE_124_457_{named('bob')}-1.zip": zipped("bob", "Bob's"),
            f"anon_f3xY9_458_{named('cy')}.zip": zipped("cy", "Cy's"),
            "daedan_125_text.html": "<p>see my zip</p>",
        }
    )
    told = course.collect()
    assert course.there() == {f"ada/{NAME}": "Ada's", f"bob/{NAME}": "Bob's", f"cy/{NAME}": "Cy's"}
    assert course.status == 1 and told.splitlines()[1] == (
        "the student typed a text on the platform and handed in no file. Ask for the notebook:"
    )
    assert told.splitlines()[2:] == ["  submissions/daedan_125_text.html"]


def test_blackboard_with_two_attempts_and_a_topic_for_a_title(
    course: Course, capfd: pytest.CaptureFixture[str]
) -> None:
    """README.md of kwurst/bb-file-cleanup: a text file for each attempt, and the date in digits before the name."""
    title = f"{NAME}-1"
    attempts = {
        f"{title}_jd1234_attempt_2027-01-31-23-59-01_{named('jd1234')}.zip": zipped("jd1234", "first"),
        f"{title}_jd1234_attempt_2027-01-31-23-59-01.txt": "Name: Ada",
        f"{title}_jd1234_attempt_2027-02-01-09-00-00_{named('jd1234', SECOND)}.zip": zipped("jd1234", "second", SECOND),
        f"{title}_jd1234_attempt_2027-02-01-09-00-00.txt": "Name: Ada",
        f"{title}_bm_9_attempt_2027-02-01-10-00-00_my work.zip": zipped("bm9", "Bob's"),
    }
    course.download(**{"gradebook_CS1_Self-attention_2027-02-03-10-00-00": attempts})
    assert course.collect() == ""
    assert course.there() == {f"bm9/{NAME}": "Bob's", f"jd1234/{NAME}": "second"}
    assert course.there("attempts") == {f"jd1234/{NAME}/{FIRST}": "first"}
    kept = course.root / "attempts" / "jd1234" / NAME / FIRST
    files = [f"{NAME}.ipynb", "a.safetensors", MANIFEST, "timestamp.txt"]
    assert sorted(path.name for path in kept.rglob("*.*")) == files
    assert course.collect() == "" and course.there("attempts") == {f"jd1234/{NAME}/{FIRST}": "first"}, "once"
    assert "Skipped" not in capfd.readouterr().err, "no warnings about work that was replaced"


def test_brightspace_in_folders_and_flat(course: Course) -> None:
    """bsunzip.sh of squell/bb-scripts: a folder for each attempt, called by name and time, and an index."""
    course.download(
        **{
            "Self-attention Download Feb 3, 2027 1000 AM": {
                "index.html": "<table>",
                f"12345-67890 - Ada Lovelace - Jan 31, 2027 1159 PM/{named('ada')}.zip": zipped("ada", "first"),
                f"12345-67890 - Ada Lovelace - Feb 1, 2027 900 AM/{named('ada', SECOND)}.zip": zipped(
                    "ada", "second", SECOND
                ),
                f"12346-67890 - Mary-Ann Smith - Jan 31, 2027 1158 PM - {named('mas')}.zip": zipped("mas", "Mary's"),
            }
        }
    )
    assert course.collect() == ""
    assert course.there() == {f"ada/{NAME}": "second", f"mas/{NAME}": "Mary's"}
    assert course.there("attempts") == {f"ada/{NAME}/{FIRST}": "first"}


def test_gradescope_unpacks_what_was_uploaded(course: Course) -> None:
    """Its export has a folder for each submission, with what was in the zip: the manifest says whose it is."""
    export = {"submission_metadata.yml": "submission_123456:\n  :submitters:\n  - :name: Ada\n"}
    for number, student in ((123456, "ada"), (123457, "bob"), (123458, "ada")):
        for name, content in handed_in(student, f"{number}").items():
            export[f"assignment_99_export/submission_{number}/{name}"] = content
    course.download(assignment_99_export=export)
    told = course.collect()
    assert course.there() == {f"bob/{NAME}": "123457"} and course.status == 1
    assert told.splitlines()[1] == (
        "submission_123456 and submission_123458 handed in as ada. None of these is collected, so put each into "
        f"submitted/<student>/{NAME}/ yourself:"
    )
    assert len(told.splitlines()) == 4 and "submission_metadata.yml" not in told


def test_two_students_one_name(course: Course) -> None:
    """Zips made on Colab all say root: nobody's is lost, nobody gets another's, and all are named."""
    zips = {"Ada_101": FIRST, "Bob_102": FIRST.replace("29Z", "30Z"), "Cy_103": SECOND}
    files = {
        f"{who}_assignsubmission_file_/{named('root', time)}.zip": zipped("root", who, time)
        for who, time in zips.items()
    }
    course.download(all={**files, f"Dan_104_assignsubmission_file_/{named('dan')}.zip": zipped("dan", "Dan's")})
    told = course.collect()
    assert course.status == 1 and course.there() == {f"dan/{NAME}": "Dan's"} and course.there("attempts") == {}
    extracted = course.root / "downloaded" / NAME / "extracted"
    assert told.splitlines() == [
        f"nbgrader zip_collect: everything is in submitted/ except these files of {extracted}",
        "Ada_101, Bob_102 and Cy_103 handed in as root. None of these is collected, so put each into "
        f"submitted/<student>/{NAME}/ yourself:",
        *(f"  all/{who}_assignsubmission_file_/{named('root', time)}, from {who}" for who, time in zips.items()),
    ]
    for who, time in zips.items():
        place = extracted / "all" / f"{who}_assignsubmission_file_" / named("root", time)
        assert (place / f"{NAME}.ipynb").read_text() == who, "where the message says"


def test_what_an_instructor_put_into_its_place_is_known_there(course: Course) -> None:
    zips = {"Ada_101": FIRST, "Bob_102": SECOND}
    course.download(
        all={
            **{
                f"{who}_assignsubmission_file_/{named('smith', t)}.zip": zipped("smith", who, t)
                for who, t in zips.items()
            },
            f"Cy_103_assignsubmission_file_/{named('cy')}.zip": zipped("root", "Cy's"),
        }
    )
    assert len(course.collect().splitlines()) == 6
    extracted = course.root / "downloaded" / NAME / "extracted" / "all"
    for folder in extracted.iterdir():
        student = folder.name[:3].lower().strip("_")
        shutil.copytree(next(folder.iterdir()), course.root / "submitted" / student / NAME)
    mine = {f"ada/{NAME}": "Ada_101", f"bob/{NAME}": "Bob_102", f"cy/{NAME}": "Cy's"}
    assert course.collect() == "" and course.there() == mine and course.there("attempts") == {}
    course.download(again={f"Ada_101_assignsubmission_file_/{named('smith', THIRD)}.zip": zipped("smith", "3", THIRD)})
    assert course.collect().splitlines()[1].startswith("Ada_101 handed in as ada and smith.")
    assert course.there() == mine


def test_a_copy_of_somebody_elses_zip_is_not_taken_for_that(course: Course) -> None:
    course.download(one=packed({f"{named('ada')}.zip": zipped("ada", "Ada's")}))
    assert course.collect() == ""
    course.download(two=packed({f"{named('bob')}.zip": zipped("ada", "Ada's")}))
    assert course.collect().splitlines()[1].startswith("A zip is named for bob, but a manifest in it says ada.")
    assert course.there() == {f"ada/{NAME}": "Ada's"}


def test_somebody_elses_work_of_an_earlier_download_stays(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    course.download(one={f"Ada_101_assignsubmission_file_/{named('root')}.zip": zipped("root", "Ada's")})
    assert course.collect() == ""
    assert capsys.readouterr().out == (
        "root is a login that machines give. Ask whose work it is, and rename submitted/root to their id.\n"
    )
    course.download(
        two={f"Bob_102_assignsubmission_file_/{named('root', SECOND)}.zip": zipped("root", "Bob's", SECOND)}
    )
    told = course.collect()
    assert course.status == 1 and course.there() == {f"root/{NAME}": "Ada's"} and course.there("attempts") == {}
    assert told.splitlines()[1].startswith("Ada_101 and Bob_102 handed in as root.")
    assert told.splitlines()[2:] == [
        f"  two/Bob_102_assignsubmission_file_/{named('root', SECOND)}, from Bob_102",
        f"  submitted/root/{NAME}, collected before",
    ]
    (course.root / "submitted" / "root").rename(course.root / "submitted" / "ada")
    course.download(three={f"Ada_101_assignsubmission_file_/{named('ada', THIRD)}.zip": zipped("ada", "again", THIRD)})
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": "again"}
    assert course.there("attempts") == {f"ada/{NAME}/{FIRST}": "Ada's"}


def test_a_sender_with_two_names_and_a_manifest_that_says_another(course: Course) -> None:
    course.download(
        all={
            f"Ada_101_assignsubmission_file_/{named('jovyan')}.zip": zipped("jovyan", "before"),
            f"Ada_101_assignsubmission_file_/{named('ada', SECOND)}.zip": zipped("ada", "after", SECOND),
            f"Bob_102_assignsubmission_file_/{named('bob')}.zip": zipped("cy", "whose?"),
        }
    )
    told = course.collect().splitlines()
    assert course.status == 1 and course.there() == {} and course.there("attempts") == {}
    assert told[1].startswith("A zip is named for bob, but a manifest in it says cy. None of these is collected")
    assert told[3].startswith("Ada_101 handed in as ada and jovyan. None of these is collected"), told[3]
    assert len(told) == 6


def test_what_a_later_download_replaces_is_kept(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    sender = "Ada_101_assignsubmission_file_"
    for text, time in (("first", FIRST), ("third", THIRD), ("second", SECOND)):
        course.download(all={f"{sender}/{named('ada', time)}.zip": zipped("ada", text, time)})
        assert course.collect() == ""
    assert course.there() == {f"ada/{NAME}": "third"}, "the newest counts, whenever it is downloaded"
    assert course.there("attempts") == {f"ada/{NAME}/{FIRST}": "first", f"ada/{NAME}/{SECOND}": "second"}
    assert (course.root / "attempts" / "ada" / NAME / FIRST / "timestamp.txt").read_text() == "2027-01-31 23:00:29"
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "Newer hand-ins replace these, which are kept:",
        f"  attempts/ada/{NAME}/{SECOND}",
    ]
    assert course.collect() == "" and "attempts" not in capsys.readouterr().out, "that was said before"


def test_the_same_work_stays_as_it_is(course: Course) -> None:
    """What an instructor corrected beside it, a time stamp say, stays, too."""
    course.download(**{named("ada"): handed_in("ada", "mine"), f"{named('ada')} (1)": handed_in("ada", "mine")})
    assert course.collect() == ""
    stamp = course.root / "submitted" / "ada" / NAME / "timestamp.txt"
    stamp.write_text("2027-01-30 12:00:00")
    (stamp.parent / "helper.py").touch()
    assert course.collect() == "" and course.came("ada") == "2027-01-30 12:00:00"
    assert (stamp.parent / "helper.py").exists() and course.there("attempts") == {}


def test_without_force_nothing_that_is_there_is_replaced(course: Course) -> None:
    work = course.root / "submitted" / "ada" / NAME / f"{NAME}.ipynb"
    work.parent.mkdir(parents=True)
    work.write_text("by hand")
    course.download(**{named("ada"): handed_in("ada", "mine"), named("bob"): handed_in("bob", "Bob's")})
    told = course.collect(force=False)
    assert course.status == 1 and course.there() == {f"ada/{NAME}": "by hand", f"bob/{NAME}": "Bob's"}
    assert "the student. Run with --force to replace it and keep it in attempts/:" in told


def test_windows_a_mac_and_a_name_that_leads_out(course: Course, tmp_path: Path) -> None:
    windows = made(tmp_path, f"{NAME}.ipynb", "checkpoints\\a.safetensors").read_bytes()
    zoe = "Zoe\u0308"
    course.download(
        **{named("win"): windows, named(zoe): handed_in(zoe, "hers"), named(".."): {f"{NAME}.ipynb": "out"}},
        All={f"__MACOSX/{named('mac')}/._{NAME}.ipynb": "", f"{named('mac')}/{NAME}.ipynb": "Mac's"},
    )
    told = course.collect().splitlines()
    assert sorted(course.there()) == sorted(f"{who}/{NAME}" for who in ("Zo\u00eb", "mac", "win"))
    assert (course.root / "submitted" / "win" / NAME / "checkpoints" / "a.safetensors").is_file()
    assert told[1] == ".. cannot be a student's name. Rename the zip, or ask for it again:" and len(told) == 3
    assert not list(course.root.glob(f"{NAME}*")), "as submitted/../ would be"


def test_a_macs_files_beside_the_zips_are_no_work(course: Course) -> None:
    """The Finder writes them onto disks that are no Mac's, and packs them."""
    mac = "Mac OS X        \x02"
    inner = {**handed_in("ada", "Ada's"), "__MACOSX/._x.zip": mac, "._y.zip": mac, "Icon\r": "", "data/Icon\r": ""}
    course.download(
        **{named("ada"): inner, f"._{named('ada')}": mac.encode()},
        all={f"{named('bob')}.zip": zipped("bob", "Bob's"), f"__MACOSX/._{named('bob')}.zip": mac, "Icon\r": ""},
    )
    for name in ("Icon\r", "Thumbs.db", "desktop.ini", ".DS_Store"):
        (course.inbox / name).touch()
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": "Ada's", f"bob/{NAME}": "Bob's"}
    work = course.root / "submitted" / "ada" / NAME
    assert not [path for path in work.rglob("*") if "Icon" in path.name or path.name.startswith("._")]


def test_what_was_typed_on_a_platform_hides_no_missing_notebook(course: Course) -> None:
    """Blackboard and Moodle make a page of it for everybody. Who handed in nothing else is named apart."""
    date = "attempt_2027-01-31-23-59-01"
    files: dict[str, bytes | str] = {"Title_none_attempt_2027-01-31-23-59-01.txt": "Name: None", "z.ipynb": "{}"}
    for number in range(30):
        who, folder = f"m{number:02}", f"Moo_{number}_assignsubmission"
        files |= {
            f"{folder}_file/{named(who)}.zip": zipped(who, who),
            f"{folder}_onlinetext/onlinetext.html": "<p>see my zip</p>",
            f"Title_b{number:02}_{date}_{named(f'b{number:02}')}.zip": zipped(f"b{number:02}", ""),
            f"Title_b{number:02}_{date}.txt": "Name: B",
            f"a{number:02}.pdf": "",
        }
    course.download(all=files)
    _first, nobodys, notebook, *more = course.collect().splitlines()
    assert len(course.there()) == 60 and nobodys.startswith("neither a zip's name") and notebook == "  all/z.ipynb"
    assert len(more) == 22 and more[19:] == [
        "  and 11 more",
        "the student typed a text on the platform and handed in no file. Ask for the notebook:",
        "  all/Title_none_attempt_2027-01-31-23-59-01.txt",
    ]


def test_a_rar_or_7z_is_to_be_unpacked_where_it_lies(course: Course) -> None:
    course.download(all={f"{named('bob')}.7z": b"7z\xbc\xaf"})
    (course.inbox / f"{named('ada')}.RAR").write_bytes(b"Rar!\x1a\x07")
    told = course.collect().splitlines()
    assert course.status == 1 and told[1] == (
        f"only .zip and .gz are unpacked. Unpack it in downloaded/{NAME}/archive/, into a folder of its name "
        "without the ending:"
    )
    assert sorted(told[2:]) == [f"  {named('ada')}.RAR", f"  all/{named('bob')}.7z"]
    for who in ("ada", "bob"):
        for name, text in handed_in(who, who).items():
            path = course.inbox / named(who) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": "ada", f"bob/{NAME}": "bob"}


OTHER = "05_bahdanau_attention"
OF_ANOTHER = (
    f"work on {OTHER}, and not on {NAME}. Put it into downloaded/{OTHER}/archive/ and collect {OTHER}, or ask for the "
    "right one:"
)


def test_a_zip_for_another_topic_is_called_that(course: Course) -> None:
    """Its folder can be collected where the sentence says. A topic may be none of this course, or not any more."""
    gone = {f"{NAME}.ipynb": "{}", MANIFEST: manifest("ada", FIRST).replace(NAME, "20_smooth")}
    other = {f"{OTHER}.ipynb": "Bob's", MANIFEST: manifest("bob", FIRST).replace(NAME, OTHER)}
    course.download(**{"my work": gone, f"{OTHER}-bob-{FIRST}": other})
    assert course.collect().splitlines()[1:] == [
        OF_ANOTHER,
        f"  {OTHER}-bob-{FIRST}",
        f"work on 20_smooth, which is no topic of this course. Ask for the work on {NAME}:",
        "  my work",
    ]
    assert course.there() == {}
    place = course.root / "downloaded" / OTHER / "archive" / f"{OTHER}-bob-{FIRST}"
    shutil.copytree(course.extracted / place.name, place)
    assert course.collect(OTHER) == ""
    assert (course.root / "submitted" / "bob" / OTHER / f"{OTHER}.ipynb").read_text() == "Bob's"


def test_zips_of_an_assignment_that_is_no_topic_of_ours_come_in(course: Course) -> None:
    course.download(**{named("ada"): {f"{NAME}.ipynb": "no manifest"}})
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": "no manifest"}
    extra = course.root / "downloaded" / "99_extra" / "archive"
    extra.mkdir(parents=True)
    (extra / f"99_extra-ada-{FIRST}.zip").write_bytes(packed({"99_extra.ipynb": "an instructor's own"}))
    assert course.collect("99_extra") == ""
    assert (course.root / "submitted" / "ada" / "99_extra" / "99_extra.ipynb").read_text() == "an instructor's own"


def test_a_chosen_attempt_counts_until_a_newer_one_comes(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    course.download(
        **{named("ada", time): handed_in("ada", text, time) for text, time in ((FIRST, FIRST), (SECOND, SECOND))}
    )
    assert course.collect() == ""
    work = course.root / "submitted" / "ada" / NAME
    first = attempts.attempts_of(course.root, "ada", NAME, work)[0]
    attempts.put_back(course.root, "ada", NAME, first, work)
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": FIRST}
    assert course.came("ada") == "2027-01-31 23:00:29"
    told = "ada: the attempt that you chose with `course attempts` still counts, until a newer one comes."
    assert told in capsys.readouterr().out
    course.add(**{named("ada", THIRD): handed_in("ada", THIRD, THIRD)})
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": THIRD}
    assert list(course.there("attempts").values()) == [FIRST, SECOND]


@pytest.fixture
def listed(course: Course) -> Course:
    """A class list as `course roster` keeps it: of Canvas with numbers, with two of one name."""
    people = {"ada": ("Ada", "Lovelace", "123"), "bm9": ("José María", "Núñez", "")}
    people |= {"kim1": ("Kim", "Lee", ""), "kim2": ("Kim", "Lee", "")}
    with Gradebook(CourseDirectory(root=str(course.root)).db_url) as gradebook:
        for student, (first, last, number) in people.items():
            gradebook.add_student(student, first_name=first, last_name=last, lms_user_id=number)
    return course


def test_bare_notebooks_from_canvas(listed: Course, capsys: pytest.CaptureFixture[str]) -> None:
    """By the number that Canvas's class list has, else by the name that Canvas makes of it."""
    listed.download(
        submissions={
            f"lovelaceada_123_456_{NAME}-1.ipynb": "Ada's",
            "lovelaceada_123_457_self_attention_task.safetensors": "weights",
            "lovelaceada_123_458_my.png": "picture",
            "núñezjosémaría_LATE_999_459_my homework.ipynb": "José's",
            f"leekim_125_460_{NAME}.ipynb": "whose?",
            "lovelaceada_126_461_another.ipynb": "of another Ada",
            "anon_f3xY9_462_x.ipynb": "nobody's",
        }
    )
    told = listed.collect().splitlines()
    assert listed.there() == {f"ada/{NAME}": "Ada's", f"bm9/{NAME}": "José's"}
    work = listed.root / "submitted" / "ada" / NAME
    assert (work / "checkpoints" / "self_attention_task.safetensors").read_text() == "weights"
    assert (work / "my.png").read_text() == "picture" and not (work / "timestamp.txt").exists()
    place = "Give it to its student with `course take STUDENT FILE`:"
    cannot = "the class list has no student, or several, whom Canvas can mean by"
    assert f"{cannot} leekim. {place}" in told and f"  submissions/leekim_125_460_{NAME}.ipynb" in told
    assert any(line.startswith(f"{cannot} anon_f3xY9. ") for line in told) and len(told) == 7
    said = "handed in notebooks without `course submit` and were found in the class list. Nothing says when they came,"
    assert f"ada, bm9 {said}" in capsys.readouterr().out
    (work / "timestamp.txt").write_text("2027-01-30 12:00:00")
    listed.collect()
    assert listed.came("ada") == "2027-01-30 12:00:00", "the same work stays"
    assert f"bm9 {said}" in (told := capsys.readouterr().out) and "ada" not in told


def test_bare_notebooks_from_moodle(listed: Course) -> None:
    """In folders and flat, and packed by hand; a zip of `course submit` beside a notebook counts alone."""
    mine = "José María Núñez_102_assignsubmission_file"
    listed.download(
        **{
            "CS1-Self-attention-77": {
                f"Ada Lovelace_101_assignsubmission_file_{NAME}.ipynb": "Ada's",
                f"{mine}/work.zip": packed({f"my work/{NAME}.ipynb": "José's", "my work/figs/a.png": "picture"}),
                f"Cy_103_assignsubmission_file/{named('cy')}.zip": zipped("cy", "Cy's"),
                "Cy_103_assignsubmission_file/draft.ipynb": "draft",
                f"Kim Lee_104_assignsubmission_file/{NAME}.ipynb": "whose?",
            }
        }
    )
    told = listed.collect()
    assert listed.there() == {f"ada/{NAME}": "Ada's", f"bm9/{NAME}": "José's", f"cy/{NAME}": "Cy's"}
    assert (listed.root / "submitted" / "bm9" / NAME / "figs" / "a.png").read_text() == "picture"
    assert listed.status == 1 and "draft.ipynb" in told and "whom Moodle can mean by Kim Lee" in told


def test_a_bare_notebook_that_may_be_another_is_left(listed: Course) -> None:
    listed.download(
        submissions={
            f"lovelaceada_123_456_{OTHER}.ipynb": "of another topic",
            "núñezjosémaría_124_457_one.ipynb": "one",
            "núñezjosémaría_124_458_two.ipynb": "two",
        }
    )
    told = listed.collect().splitlines()
    assert listed.there() == {} and told[1:] == [
        OF_ANOTHER,
        f"  submissions/lovelaceada_123_456_{OTHER}.ipynb",
        f"nothing says which notebook of núñezjosémaría_124 is {NAME}.ipynb. Give it to its student with `course take "
        "STUDENT FILE`:",
        *(f"  submissions/núñezjosémaría_124_{number}.ipynb" for number in ("457_one", "458_two")),
    ]


def test_bare_notebooks_in_two_downloads_are_collected_once(listed: Course) -> None:
    """A second download brings the first one's files again; what changed in it is for a person to decide."""
    mine, josés = f"lovelaceada_123_456_{NAME}.ipynb", f"núñezjosémaría_124_457_{NAME}.ipynb"
    listed.download(first={mine: "Ada's", josés: "old"}, second={mine: "Ada's", josés: "new"})
    told = listed.collect()
    assert listed.there() == {f"ada/{NAME}": "Ada's"}
    assert "which notebook of núñezjosémaría_124 is" in told and "lovelaceada" not in told


def test_a_manifest_with_a_time_that_cannot_be_hinders_nobody(course: Course) -> None:
    first = {**handed_in("ada", "old"), MANIFEST: manifest("ada", FIRST).replace("2027", "0001")}
    course.download(work=first, **{named("ada"): handed_in("ada", "mine"), named("bob"): handed_in("bob", "Bob's")})
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": "mine", f"bob/{NAME}": "Bob's"}
    work = course.root / "submitted" / "ada" / NAME
    (old,) = [one for one in attempts.attempts_of(course.root, "ada", NAME, work) if not one.counts]
    assert old.came is None and (old.place / f"{NAME}.ipynb").read_text() == "old"


def test_a_bare_notebook_gives_way_to_a_zip_and_is_kept(listed: Course) -> None:
    listed.download(submissions={f"lovelaceada_123_456_{NAME}.ipynb": "bare"})
    listed.collect()
    listed.download(submissions={f"lovelaceada_123_457_{named('ada')}.zip": zipped("ada", "zip")})
    assert listed.collect() == "" and listed.there() == {f"ada/{NAME}": "zip"}
    assert list(listed.there("attempts").values()) == ["bare"]


def test_the_time_of_a_bare_notebook_is_taken_as_soon_as_it_is_told(listed: Course) -> None:
    listed.download(submissions={f"lovelaceada_123_456_{NAME}.ipynb": "Ada's"})
    listed.collect()
    listed.download(**{named("ada"): {f"{NAME}.ipynb": "Ada's"}})
    assert listed.collect() == "" and listed.came("ada") == "2027-01-31 23:00:29"


EMPTY = "not unpacked, because no work is in it. Ask for it again:"


@pytest.mark.parametrize(
    "content",
    [
        {},
        b"",
        {"work/": ""},
        {"__MACOSX/": "", f"__MACOSX/._{NAME}.ipynb": "Mac"},
        {"work/.DS_Store": "", "work/Thumbs.db": ""},
        {f".ipynb_checkpoints/{NAME}-checkpoint.ipynb": "{}", "__pycache__/a.pyc": ""},
    ],
    ids=["nothing", "no byte", "a folder", "a Mac's", "systems'", "Jupyter's and Python's"],
)
def test_an_empty_zip_is_named_with_its_student(course: Course, content: dict[str, str] | bytes) -> None:
    """Whatever the zip is called: it is all that came of them."""
    empty = content if isinstance(content, bytes) else packed(content)
    paths = [f"all/Ada_101_assignsubmission_file/{named('ada')}.zip", "all/lovelacecy_125_458_my work.zip"]
    files = {path.removeprefix("all/"): empty for path in paths}
    course.download(all={**files, f"Bob_102_assignsubmission_file/{named('bob')}.zip": zipped("bob", "Bob's")})
    course.add(dan=empty)
    assert course.collect().splitlines()[1:] == [EMPTY, *(f"  {path}" for path in (*paths, "dan.zip"))]
    assert course.status == 1 and course.there() == {f"bob/{NAME}": "Bob's"}
    assert all((course.extracted / path).is_file() for path in paths), "where the message says"


def test_an_empty_folder_of_a_student_is_named(course: Course) -> None:
    """A Mac has unpacked the download, or a platform packed no file. An empty folder beside work is nobody's."""
    moodle = "{}_assignsubmission_file"
    bobs, cys = (f"{moodle.format(who)}/{named(who[:3].strip('_').lower())}" for who in ("Bob_102", "Cy_103"))
    files = {f"{moodle.format('Ada_101')}/": "", f"{bobs}/.DS_Store": "", f"{cys}/figs/": ""}
    course.download(all={**files, **{f"{cys}/{name}": content for name, content in handed_in("cy", "Cy's").items()}})
    hidden = course.inbox / named("dan") / "work" / ".ipynb_checkpoints" / "x.ipynb"
    hidden.parent.mkdir(parents=True)
    hidden.touch()
    assert course.collect().splitlines()[1:] == [
        "no work is in it. Ask for it again:",
        f"  {named('dan')}",
        "  all/Ada_101_assignsubmission_file",
        "  all/Bob_102_assignsubmission_file",
    ]
    assert course.there() == {f"cy/{NAME}": "Cy's"}


def with_outline(course: Course, text: str) -> None:
    """Have the course a `course.toml`, whose topic is due at midnight."""
    path = course.root / "course.toml"
    path.write_text(f"[topics.{NAME}]\ndue = 2027-02-01T00:00:00Z\n{text}", "utf-8")


def test_canvas_says_that_work_is_late(
    listed: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so of work without a time, and of zips packed early and uploaded late. Not where the time says so."""
    with_outline(listed, "")
    listed.download(
        submissions={
            f"lovelaceada_LATE_123_456_{NAME}.ipynb": "Ada's",
            f"núñezjosémaría_124_457_{NAME}-1.ipynb": "in time",
            f"cy_LATE_125_458_{named('cy')}.zip": zipped("cy", "packed early"),
            f"dan_LATE_126_459_{named('dan', SECOND)}.zip": zipped("dan", "packed late", SECOND),
        }
    )
    told = (
        "Canvas calls the work of {} LATE, but it counts as on time. To change that, write the time that Canvas shows "
        f"into submitted/<student>/{NAME}/timestamp.txt."
    )
    assert listed.collect() == "" and told.format("ada, cy") in capsys.readouterr().out
    (listed.root / "submitted" / "ada" / NAME / "timestamp.txt").write_text("2027-02-01 07:00:00")
    assert listed.collect() == "" and told.format("cy") in capsys.readouterr().out
    assert listed.came("ada") == "2027-02-01 07:00:00"


OWLS = '[groups]\nowls = ["ada", "bm9"]\n"Night-Owls" = ["kim1", "kim2", "cy"]\n'


def team(folder: str, **files: bytes | str) -> dict[str, bytes | str]:
    """What Moodle puts into the folder of a team, or of a member of one."""
    return {f"{folder}_assignsubmission_file/{name}": content for name, content in files.items()}


@pytest.mark.parametrize("named_for", ["ada", "bm9", "owls"])
def test_moodle_before_41_names_each_member_of_a_team(
    listed: Course, named_for: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has a copy of what one of them packed; the other gets it as a member of the group, and has a sender."""
    with_outline(listed, OWLS)
    work = {f"{named(named_for)}.zip": zipped(named_for, "ours")}
    ada, josé = "Night-Owls-Ada Lovelace_101", "Night-Owls-José María Núñez_102"
    listed.download(all={**team(ada, **work), **team(josé, **work)})
    expected = {f"{'bm9' if named_for == 'bm9' else 'ada'}/{NAME}": "ours"}
    for _ in range(2):
        assert listed.collect() == "" and listed.there() == expected
    assert {who: one.label for who, one in read_senders(listed.root, NAME).items()} == {"ada": ada, "bm9": josé}
    other = "bm9" if named_for == "ada" else "ada"
    again = {f"{named(other, THIRD)}.zip": zipped(other, "again", THIRD)}
    listed.download(all={**team(ada, **again), **team(josé, **again)})
    assert listed.collect() == "" and listed.there()[f"{other}/{NAME}"] == "again", "by another member"


def test_a_team_whom_the_class_list_does_not_know(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The group of `course.toml` counts, and is named, as one of the senders may be a stranger."""
    with_outline(course, OWLS)
    work = {f"{named('ada')}.zip": zipped("ada", "ours")}
    course.download(all={**team("Owls-Ada L_101", **work), **team("Owls-José N_102", **work)})
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": "ours"}
    told = "Owls-Ada L_101 and Owls-José N_102 handed in one work of ada. It counts for the group owls.\n"
    assert told in capsys.readouterr().out and read_senders(course.root, NAME) == {}
    course.add(more=team("Owls-Mallory_103", **work))
    assert "Owls-Ada L_101, Owls-José N_102 and Owls-Mallory_103 handed in as ada." in course.collect()


@pytest.mark.parametrize("text", ["", '[groups]\nowls = ["ada", "kim1"]\n'])
def test_a_copy_of_someone_outside_the_group_is_no_teams(
    listed: Course, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_outline(listed, text)
    work = {f"{named('ada')}.zip": zipped("ada", "ours")}
    listed.download(all={**team("Ada Lovelace_101", **work), **team("José María Núñez_102", **work)})
    told = listed.collect().splitlines()[1:]
    said = "If they are a group, name it under [groups] in course.toml and run this again, or put each into"
    assert listed.there() == {} and len(told) == 3
    assert told[0] == (
        f"Ada Lovelace_101 and José María Núñez_102 handed in as ada. {said} submitted/<student>/{NAME}/ yourself:"
    )


def test_moodle_since_41_names_the_team(listed: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its number. Zips of several members lie in one folder, and a bare notebook is of the group of that name."""
    with_outline(listed, OWLS)
    zips = {f"{named('ada')}.zip": zipped("ada", "1"), f"{named('bm9', SECOND)}.zip": zipped("bm9", "2", SECOND)}
    own = {f"{named('dan')}.zip": zipped("dan", "Dan's"), f"{named('eve')}.zip": zipped("eve", "Eve's")}
    listed.download(
        all={
            **team("Owls_44", **zips),
            **team("Night-Owls_45", **{f"{NAME}.ipynb": "3"}),
            **team("Default group", **own, **{"notes.txt": "ours"}),
        }
    )
    told = listed.collect().splitlines()
    there = {
        f"ada/{NAME}": "1",
        f"bm9/{NAME}": "2",
        f"kim1/{NAME}": "3",
        f"dan/{NAME}": "Dan's",
        f"eve/{NAME}": "Eve's",
    }
    assert listed.there() == there
    assert told[1:] == [f"{BESIDE}:", "  all/Default group_assignsubmission_file/notes.txt"]


@pytest.mark.parametrize("of", ["Owls-", "Night-Owls-", "Default group-", "A_B".replace("_", " ") + "-"])
def test_bare_notebooks_of_teams(listed: Course, of: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each member by the class list, though the names of teams and people have hyphens. Others have whole names."""
    with Gradebook(CourseDirectory(root=str(listed.root)).db_url) as gradebook:
        gradebook.add_student("jl", first_name="Jean-Luc", last_name="Picard")
    mine = {f"{NAME}.ipynb": "ours"}
    listed.download(all={**team(f"{of}Ada Lovelace_101", **mine), **team(f"{of}Jean-Luc Picard_102", **mine)})
    assert f"whom Moodle can mean by {of}Ada Lovelace, and course.toml" in listed.collect() and listed.there() == {}
    with_outline(listed, OWLS)
    assert listed.collect() == "" and listed.there() == {f"ada/{NAME}": "ours", f"jl/{NAME}": "ours"}
    listed.download(all=team(f"{of}Kim Lee_103", **mine))
    told = (
        f"the class list has no student, or several, whom Moodle can mean by {of}Kim Lee, and course.toml has no such"
    )
    assert told in listed.collect()


def test_a_second_topics_notebook_is_not_taken_for_the_first(listed: Course) -> None:
    """Whoever sent it, and with whatever: nobody is told to put it where the first one belongs."""
    listed.download(
        submissions={
            f"lovelaceada_123_456_{NAME}.ipynb": "Ada's",
            f"lovelaceada_123_457_{OTHER}.ipynb": "of another topic",
            f"cy_125_458_{named('cy')}.zip": zipped("cy", "Cy's"),
            f"cy_125_459_{OTHER}-cy-{FIRST}.zip": zipped("cy", "of another topic"),
            "nobody/bob.zip": packed({f"{OTHER}.ipynb": "of another topic"}),
        }
    )
    told = listed.collect().splitlines()
    assert listed.there() == {f"ada/{NAME}": "Ada's", f"cy/{NAME}": "Cy's"} and told[1:] == [
        OF_ANOTHER,
        f"  submissions/lovelaceada_123_457_{OTHER}.ipynb",
        f"  submissions/nobody/bob/{OTHER}.ipynb",
        f"  submissions/cy_125_459_{OTHER}-cy-{FIRST}",
    ]
    assert not list((listed.root / "submitted").rglob(f"{OTHER}*"))


def test_what_is_named_is_there(listed: Course) -> None:
    """Damaged archives and what they lay in, beside notebooks that were only compressed or renamed."""
    notebook = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    listed.download(
        submissions={
            f"lovelaceada_123_456_{NAME}.ipynb.gz": gzip.compress(b"Ada's"),
            f"núñezjosémaría_124_457_{NAME}.ipynb-1.txt": notebook,
            "kim_125_458_work.zip": b"PK\x03\x04 damaged",
            "kim_125_459_report.pdf": "%PDF-",
        }
    )
    listed.add(broken=b"damaged")
    told = listed.collect().splitlines()[1:]
    assert listed.there() == {f"ada/{NAME}": "Ada's", f"bm9/{NAME}": notebook}
    assert told == [
        "no notebook came with it. Ask for the notebook:",
        "  submissions/kim_125_459_report.pdf",
        "not unpacked, because it is damaged, encrypted, or not a .zip file. Ask for it again:",
        "  broken.zip",
        "  submissions/kim_125_458_work.zip",
    ]
    assert all((listed.extracted / line.strip()).is_file() for line in told if line.startswith("  "))


@pytest.mark.parametrize("copy", [f"{NAME}-1", f"{NAME} (1)", f"{NAME}-Copy1", "draft"])
def test_of_two_notebooks_the_one_with_the_exact_name_is_graded(listed: Course, copy: str) -> None:
    """The other lies beside it, where grading sees it. Of two downloads the newer has the number: a person decides."""
    files = {f"lovelaceada_123_456_{NAME}.ipynb": "exact", f"lovelaceada_123_457_{copy}.ipynb": "copy"}
    listed.download(submissions=files)
    assert listed.collect() == "" and listed.there() == {f"ada/{NAME}": "exact"}
    assert (listed.root / "submitted" / "ada" / NAME / f"{copy}.ipynb").read_text() == "copy"
    exact, second = files
    listed.download(first={exact: "exact"}, second={second.replace(copy, f"{NAME}-1"): "newer"})
    assert f"nothing says which notebook of lovelaceada_123 is {NAME}.ipynb" in listed.collect()


def test_who_may_be_somebody_of_the_class_list_is_named(listed: Course, capsys: pytest.CaptureFixture[str]) -> None:
    """Spreadsheet programs drop zeros, and people write capitals."""
    with Gradebook(CourseDirectory(root=str(listed.root)).db_url) as gradebook:
        gradebook.add_student("123")
    for student in ("Ada", "00123", "bm9", "kim3"):
        listed.download(**{named(student): handed_in(student, "mine")})
        assert listed.collect() == "" and f"{student}/{NAME}" in listed.there()
    said = capsys.readouterr().out
    for student, other in (("Ada", "ada"), ("00123", "123")):
        assert (
            f"The class list has no {student}, but {other}. If they are one student, move the work from "
            f"submitted/{student} to submitted/{other} before you grade.\n"
        ) in said
    assert said.count("The class list has no") == 2


def test_a_name_that_the_class_list_lacks_gives_way_to_the_platforms(
    listed: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """Canvas has Ada's number and José's name; two are called Kim Lee, so that name says nothing."""
    names = {"lovelaceada_123": "lady", "núñezjosémaría_124": "root", "leekim_125": "kimmy"}
    zips = {f"{who}_45_{named(name)}.zip": zipped(name, who) for who, name in names.items()}
    for _ in range(2):
        listed.download(all=zips)
        assert listed.collect() == ""
        assert set(listed.there()) == {f"ada/{NAME}", f"bm9/{NAME}", f"kimmy/{NAME}"}
        said = capsys.readouterr().out
        for student, name in (("ada", "lady"), ("bm9", "root")):
            assert f"{student} handed in as {name}, whom the class list does not have. " in said
        assert "handed in as kimmy" not in said


def test_work_under_a_classmates_name_waits_for_the_instructor(listed: Course) -> None:
    """Canvas has Ada's number, and she sent a zip that says bm9; the instructor decides, either way."""
    mine = f"lovelaceada_123_45_{named('bm9')}"
    for student in ("ada", "bm9"):
        listed.download(all={f"{mine}.zip": zipped("bm9", "whose?")})
        told = listed.collect().splitlines()
        assert told[1].startswith("A zip says bm9, but its sender is ada in the class list. None of these is collected")
        assert len(told) == 3 and listed.there() == read_senders(listed.root, NAME) == {}
        shutil.copytree(listed.extracted / "all" / mine, listed.root / "submitted" / student / NAME)
        assert listed.collect() == "" and listed.there() == {f"{student}/{NAME}": "whose?"}
        assert set(read_senders(listed.root, NAME)) <= {"ada"}, "Ada's number is never another's"
        shutil.rmtree(listed.root / "submitted")


def test_members_of_a_group_send_each_others_zips(listed: Course) -> None:
    with_outline(listed, "[groups]\nowls = ['ada', 'bm9']\n")
    listed.download(all={f"lovelaceada_123_45_{named('bm9')}.zip": zipped("bm9", "ours")})
    assert listed.collect() == "" and listed.there() == {f"bm9/{NAME}": "ours"}
    assert read_senders(listed.root, NAME) == {}, "Ada's number is never another's"


def test_what_was_taken_is_not_asked_for_again(listed: Course) -> None:
    """A form's notebook, which the instructor gave to Ada, and its copy."""
    listed.download(all={"form - Ada.ipynb": "Ada's", "other.ipynb": "whose?"})
    assert "neither a zip's name nor a manifest" in listed.collect()
    work = listed.root / "submitted" / "ada" / NAME
    work.mkdir(parents=True)
    (work / f"{NAME}.ipynb").write_text("Ada's")
    there = listed.collect().splitlines()
    done, ask = "It is the work of ada in submitted/ already", "Give a notebook to its student with `course take"
    of = {kind: next(file for line, file in pairwise(there) if kind in line) for kind in (done, ask)}
    assert of == {done: "  all/form - Ada.ipynb", ask: "  all/other.ipynb"}


def test_regrade_requests_are_recognised_and_are_no_work(course: Course) -> None:
    """In a student's zip, beside it, alone, typed on Canvas, in another's name, and from a sender nobody knows."""
    ask = {student: f"{line_of(NAME, 'softmax', student)} why" for student in ("ada", "bob", "cy", "dan", "eve")}
    moodle = {
        f"Ada_101_assignsubmission_file_/{named('ada')}.zip": packed(
            {**handed_in("ada", "Ada's"), "regrade-me.txt": ask["ada"]}
        ),
        f"Bob_102_assignsubmission_file_/{named('bob')}.zip": zipped("bob", "Bob's"),
        "Bob_102_assignsubmission_file_/regrade-06.txt": ask["bob"],
        "Eve_105_assignsubmission_file_/Regrade (1).txt": ask["eve"],
        "Mallory_106_assignsubmission_file_/notes.txt": ask["cy"],
    }
    moodle["Ada_101_assignsubmission_file_/regrade-2.txt"] = f"{line_of(NAME, 'softmax', 'Ada')} why"
    course.download(moodle=packed(moodle), canvas=packed({"cy_7_text.html": f"<p>{ask['cy']}</p>"}))
    told = course.collect()
    assert {one.asked.student: one.sender for one in kept_requests(course.root, NAME)} == {
        "ada": "", "bob": "", "eve": "Eve_105", "cy": "cy_7",
    }  # fmt: skip
    assert told.splitlines()[2:] == ["  moodle/Mallory_106_assignsubmission_file_/notes.txt"]
    assert not list((course.root / "submitted").rglob("*egrade*"))

    course.add(again=packed({"Bob_102_assignsubmission_file_/regrade-x.txt": ask["dan"]}))
    assert "names another student than the one who sent it" in course.collect()
    assert len(kept_requests(course.root, NAME)) == 4
