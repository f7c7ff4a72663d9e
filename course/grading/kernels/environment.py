"""Set the environment variables of the kernel that runs a student's notebook."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from course.data.cache import cache_folder
from course.files import write_atomically
from course.problem import Problem

KEPT = (
    *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"),
    *("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"),
)
"""The only variables that a kernel inherits from the grader: the paths of programs and libraries, the locale, and the
accelerators that a cluster's scheduler has given to this job."""

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

_MALLOC = ("hugetlb=1", f"mmap_threshold={32 * 2**20}", f"trim_threshold={256 * 2**20}")
"""Settings of glibc's malloc. Huge pages shorten the page table that each fork copies, and save a fourteenth of its
time. A kernel keeps up to 256 MB of freed memory, because returning pages and getting others doubles the waits."""

FONTS, LISTS = "matplotlib", "fontlist-*.json"
"""The folder of matplotlib's font lists in the course's cache, and the pattern of their names."""


def environment(
    home: Path, edition: Path, judge: str | None, policy: str, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the environment of a student's kernel.

    Args:
        home: a private folder that serves as home and for temporary files.
        edition: the assembled student edition, first on the import path.
        judge: the judge's socket, or None if the notebook has no exercises.
        policy: `checkpoint` or `retrain`, for `course.fit`.
        more: variables that an instructor adds.
    """
    inherited = {name: os.environ[name] for name in KEPT if name in os.environ}
    variables = {
        "HOME": str(home),
        "LOGNAME": "student",  # a sandbox has no list of users, and torch asks for one's name before it trains on a GPU
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
        "GLIBC_TUNABLES": ":".join(f"glibc.malloc.{setting}" for setting in _MALLOC),
        **(more or {}),
    }
    paths = [str(edition), variables.get("PYTHONPATH", "")]
    variables["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    if judge is not None:
        variables["COURSE_JUDGE"] = judge
    return {**inherited, **variables}


def added(environment: Mapping[str, str], gpu: bool) -> dict[str, str]:
    """Return the variables that an instructor adds, with `COURSE_DEVICE` if notebooks get an accelerator."""
    return {**environment, **({"COURSE_DEVICE": "cuda"} if gpu else {})}


ACCELERATOR = "(lambda torch: torch.cuda.is_available() or torch.backends.mps.is_available())(__import__('torch'))"
"""The expression that tells, in a kernel, whether torch finds an accelerator."""


def demand_accelerator() -> None:
    """Check in a subprocess that torch finds an accelerator, because a process that has asked cannot fork kernels.

    Raises:
        Problem: torch finds none on this machine.
    """
    look = [sys.executable, "-c", f"raise SystemExit(not {ACCELERATOR})"]
    if subprocess.run(look, stdin=subprocess.DEVNULL, capture_output=True).returncode:
        raise Problem("--gpu asks for an accelerator, but torch finds none on this machine. Nothing was graded")


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def matplotlib_folder(home: Path) -> Path:
    """Make matplotlib's folder in `home`, with a copy of the font list, which takes seconds to make in each kernel."""
    folder = _folder(home / ".matplotlib")
    for fonts in _lists_of_fonts():
        shutil.copy(fonts, folder)
    return folder


def _lists_of_fonts() -> list[Path]:
    """Return the font lists of the course's cache, or else the grader's own, whose path needs matplotlib's import."""
    kept = list((cache_folder() / FONTS).glob(LISTS))
    if kept:
        return kept
    import matplotlib

    return list(Path(matplotlib.get_cachedir()).glob(LISTS))


def keep_fonts(folder: Path) -> None:
    """Copy the font lists in matplotlib's folder into the course's cache, for later kernels."""
    for fonts in folder.glob(LISTS):
        kept = cache_folder() / FONTS / fonts.name
        if not kept.exists():
            with suppress(OSError):
                write_atomically(kept, fonts.read_bytes())
