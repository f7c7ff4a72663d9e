"""The kernel that runs a student's notebook: what its process sees of the world it was started from."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import course
from course.data import CORPORA, load
from course.data.cache import cache_folder
from course.grading.problem import Problem
from course.grading.sources import imports, reached
from course.syllabus import Topic

KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX")
"""All that a kernel inherits from the grader's own environment: where programs and libraries are, and the locale."""

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def environment(
    home: Path, edition: Path, judge: str | None, policy: str, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment of a student's kernel.

    Args:
        home: a private folder that serves as home and for temporary files.
        edition: the assembled student edition, first on the import path.
        judge: address of the judge's socket, if anything is to be judged.
        policy: `checkpoint` or `retrain`, for `course.fit`.
        more: variables an instructor passes on.
    """
    inherited = {name: os.environ[name] for name in KEPT if name in os.environ}
    variables = {
        "HOME": str(home),
        "TMPDIR": str(_folder(home / "tmp")),
        "IPYTHONDIR": str(home / ".ipython"),
        "MPLCONFIGDIR": str(matplotlib_folder(home)),
        "PYTHONHASHSEED": "0",
        "NBGRADER_EXECUTION": os.environ.get("NBGRADER_EXECUTION", "autograde"),
        "COURSE_FIT_POLICY": policy,
        "COURSE_CACHE": str(cache_folder()),
        "HF_HOME": str(home / "huggingface"),
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        **dict.fromkeys(_ONE_THREAD, "1"),
        **(more or {}),
    }
    paths = [str(edition), variables.get("PYTHONPATH", "")]
    variables["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    if judge is not None:
        variables["COURSE_JUDGE"] = judge
    return {**inherited, **variables}


def added(environment: Mapping[str, str], gpu: bool) -> dict[str, str]:
    """What an instructor adds to a kernel's environment, and the accelerator where notebooks get one."""
    return {**environment, **({"COURSE_DEVICE": "cuda"} if gpu else {})}


ACCELERATOR = "(lambda torch: torch.cuda.is_available() or torch.backends.mps.is_available())(__import__('torch'))"
"""Asked in a notebook's kernel: whether its tensors could live elsewhere than on the processor."""


def demand_accelerator() -> None:
    """Refuse to begin where no notebook could get an accelerator. Another process looks: one who has asked cannot fork.

    Raises:
        Problem: torch finds none on this machine.
    """
    look = [sys.executable, "-c", f"raise SystemExit(not {ACCELERATOR})"]
    if subprocess.run(look, stdin=subprocess.DEVNULL, capture_output=True).returncode:
        raise Problem("an accelerator is asked for, and torch finds none on this machine: nothing was graded")


def corpora() -> list[Path]:
    """What the cache holds for students: the corpora, and none of what the grader keeps there for itself."""
    cache = cache_folder()
    return [path for path in sorted(cache.iterdir()) if path.name not in GRADERS] if cache.is_dir() else []


FILLED = "filled"
"""Folder of the cache with a note on each corpus it holds: from what state of the course, and as which entries."""

GRADERS = ("editions", "keys", FILLED)
"""Folders of the cache that are the grader's: other states of the course, expected answers, and its notes."""

FILLING = 300.0
"""Seconds that the making of a topic's corpora may take, before every notebook makes its own."""


def fill_cache(topic: Topic) -> None:
    """See to it that the cache holds a topic's corpora before kernels start: they can read there, and cannot write.

    Where that fails, each notebook makes its own, which costs only time. Another process loads: the grader's needs no
    torch.
    """
    notes = cache_folder() / FILLED
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        missing = [name for name in corpora_of(topic) if not _holds(name)]
        if not missing or not os.access(_folder(notes), os.W_OK):
            return
        paths = [str(Path(course.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        subprocess.run(
            [sys.executable, "-P", "-c", f"from {__name__} import keep_corpora as keep; keep({missing!r})"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=FILLING,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )


def corpora_of(topic: Topic) -> list[str]:
    """The corpora that a topic's tests draw from, as its notebook does, and that the cache keeps."""
    from course.grading.engine import modules_of

    package = Path(course.__file__).parent
    used = {one.file for file in reached(package, modules_of(topic)) for one in imports(package, file)}
    drawn = [name for name in CORPORA if f"data/{name}.py" in used]
    return [name for name in drawn if any(one[1:] == _KEPT for one in imports(package, f"data/{name}.py"))]


def keep_corpora(names: Iterable[str]) -> None:
    """Load the corpora, so that the cache keeps them, and note which of its entries they are."""
    cache, state = cache_folder(), _state_of_data()
    for name in names:
        loaded = load(name)
        parts = loaded.values() if isinstance(loaded, dict) else [loaded]
        files = [Path(file["filename"]).resolve() for part in parts for file in part.cache_files]
        inside = [file.relative_to(cache.resolve()) for file in files if file.is_relative_to(cache.resolve())]
        if inside:
            _folder(cache / FILLED)
            (cache / FILLED / name).write_text("\n".join([state, *sorted({file.parts[0] for file in inside})]))


def _holds(name: str) -> bool:
    """Whether the cache holds a corpus as the course makes it today."""
    try:
        state, *entries = (cache_folder() / FILLED / name).read_text().splitlines()
    except (OSError, ValueError):
        return False
    return state == _state_of_data() and all((cache_folder() / entry).is_dir() for entry in entries)


def _state_of_data() -> str:
    """A name for what decides the corpora; one of them is made of this Python's own library."""
    digest = hashlib.sha256(platform.python_version().encode())
    for path in sorted(Path(course.__file__).parent.glob("data/*.py")):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


_KEPT = ("data/cache.py", "kept")
"""What a corpus that is kept on disk imports."""


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def matplotlib_folder(home: Path) -> Path:
    """Matplotlib's folder in `home`, with the grader's own list of fonts: making one takes seconds a kernel."""
    import matplotlib

    folder = _folder(home / ".matplotlib")
    for fonts in Path(matplotlib.get_cachedir()).glob("fontlist-*.json"):
        shutil.copy(fonts, folder)
    return folder
