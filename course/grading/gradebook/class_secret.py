"""Create and read the class's secret, which seeds hidden cases and random samples."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from course.files import is_shared


def class_secret(db_url: str) -> str:
    """Return the secret that seeds a class's hidden cases; only graders can read its file beside the gradebook."""
    path = Path(db_url.removeprefix("sqlite:///").partition("?")[0]).parent if "sqlite:" in db_url else Path()
    path = path / ".course-secret"
    if not _line(path):
        drawn = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        drawn.touch(mode=0o660 if is_shared(drawn.parent) else 0o600)
        drawn.write_text(secrets.token_hex(16))
        try:
            os.link(drawn, path)  # if two processes create a secret, the first one wins
        except OSError:
            if not _line(path):  # an empty file from a killed process, or a disk without hard links
                drawn.replace(path)
        drawn.unlink(missing_ok=True)
    return _line(path)


def _line(path: Path) -> str:
    return path.read_text().strip() if path.is_file() else ""
