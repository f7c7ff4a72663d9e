"""The environment of the kernel that runs a student's notebook."""

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
from course.grading.problem import Problem

KEPT = (
    *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"),
    *("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"),
)
"""All that a kernel inherits from the grader's own environment: where programs and libraries are, the locale, and which
accelerators a cluster's scheduler has given to this job."""

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

_MALLOC = ("hugetlb=1", f"mmap_threshold={32 * 2**20}", f"trim_threshold={256 * 2**20}")
"""Linux copies a table of all pages for each kernel that is forked, and large pages save a fourteenth of its time. What
a kernel frees it keeps for later, up to 256 MB: to give pages back and to get others doubles what it waits for."""

FONTS, LISTS = "matplotlib", "fontlist-*.json"
"""Where, in the course's cache, matplotlib's lists of fonts are kept, and how their files are called."""


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
        raise Problem("--gpu asks for an accelerator, but torch finds none on this machine. Nothing was graded")


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def matplotlib_folder(home: Path) -> Path:
    """Matplotlib's folder in `home`, with a list of fonts that was made before: making one takes seconds a kernel."""
    folder = _folder(home / ".matplotlib")
    for fonts in _lists_of_fonts():
        shutil.copy(fonts, folder)
    return folder


def _lists_of_fonts() -> list[Path]:
    """Those that a zygote has kept, or else the grader's own: to ask for them imports matplotlib."""
    kept = list((cache_folder() / FONTS).glob(LISTS))
    if kept:
        return kept
    import matplotlib

    return list(Path(matplotlib.get_cachedir()).glob(LISTS))


def keep_fonts(folder: Path) -> None:
    """Keep the lists of fonts in this folder of matplotlib's for kernels to come."""
    for fonts in folder.glob(LISTS):
        kept = cache_folder() / FONTS / fonts.name
        if not kept.exists():
            with suppress(OSError):
                write_atomically(kept, fonts.read_bytes())
