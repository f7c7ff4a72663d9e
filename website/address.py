"""Writes another public address into everything that leads to this one: `python -m website.address URL`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from course.syllabus import SOURCE

ROOT = Path(__file__).parents[1]
GITHUB = "https://github.com/"


def stamp(root: Path, files: list[str], url: str) -> list[str]:
    """Puts `url` in the place of the address in use, in those of the `files` below `root` that name it; returns these.

    Raises:
        ValueError: it is no address of a repository on GitHub, which notebooks and badges are opened from.
    """
    if not re.fullmatch(rf"{GITHUB}[\w.-]+/[\w.-]+", url):
        raise ValueError(f"{url!r} is no address like {SOURCE}, from which Binder and Colab open notebooks")
    old, new = SOURCE.removeprefix(GITHUB), url.removeprefix(GITHUB).removesuffix(".git")
    changed = []
    for name in files:
        path = root / name
        text = path.read_bytes()
        if old.encode() in text:
            path.write_bytes(text.replace(old.encode(), new.encode()))
            changed.append(name)
    return changed


if __name__ == "__main__":
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tracked = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    try:
        print("\n".join(stamp(ROOT, tracked, "".join(sys.argv[1:2]))))
    except ValueError as error:
        sys.exit(f"make address: {error}")
