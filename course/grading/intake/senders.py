"""Keep the sender of each submission, as a platform named it, from one download to the next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from course.files import write_atomically
from course.grading.intake.platforms import Sender

FOLDER = Path(".course", "owners")
"""The folder, within the course's folder, with a file for each topic."""


def read_senders(root: Path, topic: str) -> dict[str, Sender]:
    """Return the senders by student, or an empty dict if the file is missing or unreadable."""
    try:
        plain = json.loads(_path(root, topic).read_text(encoding="utf-8"))
        return {student: Sender(str(of), str(key), str(label)) for student, (of, key, label) in plain.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def write_senders(root: Path, topic: str, senders: Mapping[str, Sender]) -> None:
    """Save these senders, replacing the saved ones."""
    plain = {student: [sender.platform, sender.key, sender.label] for student, sender in sorted(senders.items())}
    if senders or _path(root, topic).exists():
        write_atomically(_path(root, topic), json.dumps(plain, indent=1, ensure_ascii=False).encode())


def _path(root: Path, topic: str) -> Path:
    return root / FOLDER / f"{topic}.json"
