"""Whose a zip is, by all that says so, and what is nobody's: nothing is unpacked here."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from course.grading.intake.manifest import Manifest
from course.grading.intake.ownership import Conflict, HandIn, find_conflicts, find_hand_ins, newest
from course.grading.intake.platforms import Sender
from course.grading.intake.submit import archive_head, archive_pattern
from tests.grading.lesson import NAME

EARLY, LATE = "20270131T230029Z", "20270201T080000Z"
ADA, BOB = "Ada_101_assignsubmission_file_", "Bob_102_assignsubmission_file_"


def zipped(student: str, time: str = EARLY) -> str:
    return f"{NAME}-{student}-{time}"


def unpacked(*folders: str, manifests: dict[str, str] | None = None) -> list[HandIn]:
    """Zips unpacked to `folders`, with a notebook in each; `manifests` are the students that some say."""
    said = {PurePosixPath(folder): Manifest(NAME, who, LATE) for folder, who in (manifests or {}).items()}
    files = [PurePosixPath(folder, f"{NAME}.ipynb") for folder in folders]
    files += [folder / "submission.json" for folder in said]
    return find_hand_ins(files, said, [NAME, "01_markov_ngrams"])


def disputed(found: list[HandIn], collected: dict[str, Sender] | None = None) -> list[Conflict]:
    return find_conflicts(found, collected or {})


def test_names_that_look_different_are_no_conflict() -> None:
    """In an honest class the platform's names and the ids are never the same."""
    found = unpacked(
        *(f"{ADA}/{zipped('jd1234')}", f"{ADA}/{zipped('jd1234', LATE)} (1)", f"{BOB}/{zipped('bm99')}", zipped("cy")),
        manifests={f"{ADA}/{zipped('jd1234')}": "jd1234", "Dan_103_assignsubmission_file_/my work": "dan"},
    )
    assert [one.student for one in found] == ["jd1234", "jd1234", "bm99", "cy", "dan"]
    assert disputed(found) == []
    assert newest(found[:2]).time == LATE


def test_one_name_under_two_senders() -> None:
    found = unpacked(
        f"{ADA}/{zipped('root')}", f"{BOB}/{zipped('root', LATE)}", f"{BOB.replace('2', '3')}/{zipped('cy')}"
    )
    (conflict,) = disputed(found)
    assert conflict.reason == "Ada_101 and Bob_102 handed in as root." and list(conflict.hand_ins) == found[:2]


def test_one_name_under_two_senders_on_a_disk_that_tells_no_case() -> None:
    (conflict,) = disputed(unpacked(f"{ADA}/{zipped('kim')}", f"{BOB}/{zipped('Kim')}"))
    assert len(conflict.hand_ins) == 2


def test_one_sender_with_two_names() -> None:
    found = unpacked(f"{ADA}/{zipped('jovyan')}", f"{ADA}/{zipped('ada', LATE)}")
    (conflict,) = disputed(found)
    assert conflict.reason == "Ada_101 handed in as jovyan and ada." and list(conflict.hand_ins) == found


def test_a_manifest_that_contradicts_the_name() -> None:
    """It is nobody's, and takes nobody else's work along."""
    folder = f"{ADA}/{zipped('ada')}"
    found = unpacked(folder, f"{BOB}/{zipped('bob')}", manifests={folder: "bob"})
    (conflict,) = disputed(found)
    assert conflict.reason == "A zip is named for ada, but a manifest in it says bob."
    assert list(conflict.hand_ins) == found[:1] and found[0].student == "bob"
    (conflict,) = disputed(unpacked(folder, manifests={f"{folder}/work": "bob"}))
    assert "a manifest in it says bob" in conflict.reason, "in a folder of the zip, too"


def test_somebody_elses_work_was_collected_before() -> None:
    before = {"root": Sender("Moodle", "101", "Ada_101")}
    (conflict,) = disputed(unpacked(f"{BOB}/{zipped('root')}"), before)
    assert conflict.reason == "Ada_101 and Bob_102 handed in as root." and conflict.collected == ("root",)
    assert disputed(unpacked(f"{ADA}/{zipped('root', LATE)}"), before) == []
    (conflict,) = disputed(unpacked(f"{ADA}/{zipped('ada', LATE)}"), before)
    assert conflict.reason == "Ada_101 handed in as root and ada." and conflict.collected == ("root",)
    assert disputed(unpacked(zipped("root")), {"root": Sender("Canvas", "5", "ada_5")}), "a login, and no sender"
    assert disputed(unpacked(zipped("ada")), {"ada": Sender("Canvas", "5", "ada_5")}) == [], "mailed, and put there"


def test_a_machines_login_tells_nobody_from_anybody() -> None:
    found = unpacked(zipped("root"), f"{zipped('root')} (1)")
    assert disputed(found) == [], "one zip, downloaded twice"
    (conflict,) = disputed(unpacked(zipped("root"), zipped("root", LATE)))
    assert conflict.reason.startswith("root is a login that machines give")
    assert disputed(unpacked(zipped("ada"), zipped("ada", LATE))) == []


def test_two_platforms_names_are_not_compared() -> None:
    assert disputed(unpacked(f"{ADA}/{zipped('ada')}", f"lovelaceada_1_2_{zipped('ada', LATE)}")) == []
    exports = [f"assignment_{number}_export/submission_{number}0000" for number in (1, 2)]
    assert disputed(unpacked(*exports, manifests=dict.fromkeys(exports, "ada"))) == [], "of two days"
    inside = [f"assignment_1_export/submission_{number}0000" for number in (1, 2)]
    assert len(disputed(unpacked(*inside, manifests=dict.fromkeys(inside, "ada")))) == 1


def test_a_zip_in_a_zip_is_a_hand_in_of_its_own() -> None:
    outer, inner = f"{ADA}/{zipped('ada', LATE)}", f"{ADA}/{zipped('ada', LATE)}/{zipped('ada')}"
    found = unpacked(outer, inner)
    assert [(str(one.folder), list(one.files)) for one in found] == [
        (outer, [PurePosixPath(f"{NAME}.ipynb")]),
        (inner, [PurePosixPath(f"{NAME}.ipynb")]),
    ]


@pytest.mark.parametrize(
    "name",
    [
        f"{NAME}-ada-l-{EARLY}",
        f"Jean-Luc Picard_12345_assignsubmission_file_{NAME}-ada-l-{EARLY}",
        f"Self-attention_jd1234_attempt_2027-01-31-23-59-01_{NAME}-ada-l-{EARLY}",
        f"{NAME}_jd1234_attempt_2027-01-31-23-59-01_{NAME}-ada-l-{EARLY}",
        f"01_markov_ngrams-2_jd_attempt_2027-01-31-23-59-01_{NAME}-ada-l-{EARLY}",
        f"12345-67890 - Ada Lovelace - Jan 31, 2027 1159 PM - {NAME}-ada-l-{EARLY}",
        f"{NAME}-ada-l-{EARLY} (1)",
        f"{NAME}-ada-l-{EARLY}-1",
    ],
)
def test_the_name_is_read_back(name: str) -> None:
    """Whatever digits and dates a platform writes before it."""
    said = re.fullmatch(archive_head([NAME, "01_markov_ngrams"]), name)
    assert said and (said["topic"], said["student_id"], said["timestamp"]) == (NAME, "ada-l", EARLY)
    found = re.match(
        archive_pattern([NAME]), f"/course/downloaded/{NAME}/extracted/{name}/checkpoints/a_task.safetensors"
    )
    assert found and found["student_id"] == "ada-l" and found["file_id"] == "checkpoints/a_task.safetensors"


@pytest.mark.parametrize("name", [f"99_extra-ada-{EARLY}", f"{NAME}-ada-20279999T230029Z", "all", f"{NAME}-ada"])
def test_other_names_say_nothing(name: str) -> None:
    assert unpacked(name) == []
