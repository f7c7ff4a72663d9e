"""Whom each platform names as the sender, by names as they make them."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from course.grading.intake.platforms import is_companion, sender_of, typed_by

ZIP = "06_self_attention-jd1234-20270131T230029Z"


@pytest.mark.parametrize(
    ("folder", "before", "platform", "key", "label"),
    [
        # Moodle, mod/assign/classes/downloader.php (4.1 and later), mod/assign/locallib.php (before)
        (f"Ada Lovelace_101_assignsubmission_file_/{ZIP}", "", "Moodle", "101", "Ada Lovelace_101"),
        (f"Ada Lovelace_101_assignsubmission_file/{ZIP}", "", "Moodle", "101", "Ada Lovelace_101"),
        (f"CS-Attention-77/Ada_101_assignsubmission_file/my/{ZIP}", "", "Moodle", "101", "Ada_101"),
        ("Ada_101_assignsubmission_file_" + ZIP, "Ada_101_assignsubmission_file_", "Moodle", "101", "Ada_101"),
        (f"Participant_7_assignsubmission_file/{ZIP}", "", "Moodle", "7", "Participant_7"),
        (f"Default group_assignsubmission_file/{ZIP}", "", "Moodle", "Default group", "Default group"),
        # Canvas, lib/content_zipper.rb
        ("lovelaceada_123_456_" + ZIP, "lovelaceada_123_456_", "Canvas", "123", "lovelaceada_123"),
        ("lovelaceada_LATE_123_456_" + ZIP, "lovelaceada_LATE_123_456_", "Canvas", "123", "lovelaceada_123"),
        (f"lovelaceada_123_456_{ZIP}-1", "lovelaceada_123_456_", "Canvas", "123", "lovelaceada_123"),
        ("anon_f3xY9_456_" + ZIP, "anon_f3xY9_456_", "Canvas", "anon_f3xY9", "anon_f3xY9"),
        ("lovelaceada_123_456_my work", "lovelaceada_123_456_my work", "Canvas", "123", "lovelaceada_123"),
        # Blackboard, README.md of kwurst/bb-file-cleanup
        (
            f"gradebook_CS_Attention/Self-attention_jd1234_attempt_2027-01-31-23-59-01_{ZIP}",
            "Self-attention_jd1234_attempt_2027-01-31-23-59-01_",
            *("Blackboard", "Self-attention_jd1234", "Self-attention_jd1234"),
        ),
        # Brightspace, bsunzip.sh of squell/bb-scripts
        (
            f"12345-67890 - Ada Lovelace - Jan 31, 2027 1159 PM/{ZIP}",
            *("", "Brightspace", "12345 Ada Lovelace", "Ada Lovelace"),
        ),
        (
            f"12345-67890 - Mary-Ann Smith - Jan 31, 2027 1159 PM - {ZIP}",
            "12345-67890 - Mary-Ann Smith - Jan 31, 2027 1159 PM - ",
            *("Brightspace", "12345 Mary-Ann Smith", "Mary-Ann Smith"),
        ),
        # Gradescope, submission_metadata.yml as ucbds-infra/otter-grader reads it
        (
            "assignment_99_export/submission_123456",
            "submission_123456",
            *("Gradescope, assignment_99_export", "123456", "submission_123456"),
        ),
    ],
)
def test_the_sender_is_read(folder: str, before: str, platform: str, key: str, label: str) -> None:
    sender = sender_of(PurePosixPath(folder), before)
    assert sender is not None and (sender.platform, sender.key, sender.label) == (platform, key, label)


@pytest.mark.parametrize("folder", [f"week_1_2_all/{ZIP}", f"submission_1/{ZIP}", f"2027-01 - all - in/{ZIP}", ZIP])
def test_folders_of_ones_own_name_nobody(folder: str) -> None:
    assert sender_of(PurePosixPath(folder), "") is None


def test_the_platforms_folder_counts_and_not_what_a_student_packed() -> None:
    folder = PurePosixPath(f"Ada_101_assignsubmission_file_/{ZIP}/Bob_102_assignsubmission_file_/{ZIP}")
    sender = sender_of(folder, "")
    assert sender is not None and sender.label == "Ada_101"


def test_what_a_platform_adds_is_known() -> None:
    own = ("a/index.html", "e/submission_metadata.yml")
    assert all(is_companion(PurePosixPath(name)) for name in own)
    assert not is_companion(PurePosixPath("notes.txt"))


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Self-attention_jd1234_attempt_2027-01-31-23-59-01.txt", "Self-attention_jd1234"),
        ("Ada Lovelace_101_assignsubmission_onlinetext_/onlinetext.html", "Ada Lovelace_101"),
        ("all/Ada Lovelace_101_assignsubmission_onlinetext_onlinetext.html", "Ada Lovelace_101"),
        ("Ada_101_assignsubmission_comments/comment.html", "Ada_101"),
        ("all/lovelaceada_123_text.html", "lovelaceada_123"),
        ("lovelaceada_LATE_123_link.html", "lovelaceada_123"),
        ("notes.txt", ""),
        ("Ada_101_assignsubmission_file_/text.html", ""),
        (f"lovelaceada_123_456_{ZIP}/text.html", ""),
    ],
)
def test_what_was_typed_on_a_platform_is_known_with_its_sender(name: str, label: str) -> None:
    sender = typed_by(PurePosixPath(name))
    assert (sender.label if sender else "") == label
