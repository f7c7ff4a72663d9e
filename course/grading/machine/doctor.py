"""`course doctor` checks whether this machine can run the course, and says what is wrong and what to do.

The checks stand in the order of their findings: this user, Python and its packages, torch, JupyterLab, memory and disk,
and what only an instructor has.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from course.grading.machine.resources import memory_at_hand

GIB = 2**30

Kind = Literal["fine", "note", "wrong"]
MARKS: dict[Kind, str] = {"fine": "✓", "note": "!", "wrong": "✗"}


@dataclass(frozen=True)
class Finding:
    """The result of one check: `what` was checked, `said` describes its state, and `advice` says what to do."""

    kind: Kind
    what: str
    said: str
    advice: str = ""

    def __str__(self) -> str:
        told = _folded(self.said, f"{MARKS[self.kind]} {self.what:<12} ")
        return f"{told}\n{_folded(self.advice, 15 * ' ' + '→ ')}" if self.advice else told


def _folded(text: str, head: str) -> str:
    wrapper = textwrap.TextWrapper(110, break_long_words=False, break_on_hyphens=False)
    wrapper.initial_indent, wrapper.subsequent_indent = head, " " * len(head)
    return wrapper.fill(text)


def has_home() -> bool:
    """Whether `HOME` or the system's list of users names a home folder, without which Jupyter does not start."""
    try:
        return bool(Path("~").expanduser())
    except RuntimeError:
        return False


def home() -> Iterator[Finding]:
    """Check that there is a home folder; yield nothing if there is."""
    if not has_home():
        said = "HOME is not set, and the system does not know this user, so JupyterLab cannot start"
        yield Finding("wrong", "home", said, "Set HOME to a folder of your own")


DISTRIBUTION = "sequence-course"


def python() -> Iterator[Finding]:
    """Check that this version of Python is one that the course supports."""
    version = platform.python_version()
    said = f"{version} on {platform.system()} {platform.machine()}, {sys.executable}"
    wanted = _about("Requires-Python")
    if wanted and not fits(version, wanted):
        yield Finding(
            "wrong", "Python", said, f"The course needs Python {wanted}. Make an environment with such a version"
        )
    else:
        yield Finding("fine", "Python", said)


def packages() -> Iterator[Finding]:
    """Check the libraries that notebooks need and, if the hidden tests are installed, those that grading needs."""
    if find_spec("packaging") is None:
        yield Finding(
            "wrong", "packages", "not even packaging is installed", "Install the course's wheel again with pip"
        )
        return
    try:
        listed = metadata.requires(DISTRIBUTION) or []
        course = metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        yield Finding(
            "note", "course", "runs from a folder and is not installed", "Install the course's wheel with pip"
        )
        return
    edition = "instructor's edition" if find_spec("course.hidden") else "student edition"
    yield Finding("fine", "course", f"{course}, {edition}")
    extras = ("", "grading") if find_spec("course.hidden") else ("",)
    found = [_package(line, extras) for line in listed]
    told = [text for kind, text in filter(None, found) if kind == "fine"]
    yield Finding("fine", "packages", ", ".join(told) or "none")
    for kind, text in filter(None, found):
        if kind != "fine":
            yield Finding(kind, "packages", text, f"pip install {_quoted(text.split(':')[0])}")


def _package(line: str, extras: Sequence[str]) -> tuple[Kind, str] | None:
    """Return the finding on one line of the required packages, or None if its marker does not apply."""
    from packaging.requirements import Requirement

    wanted = Requirement(line)
    if wanted.marker and not any(wanted.marker.evaluate({"extra": extra}) for extra in extras):
        return None
    plain = f"{wanted.name}{wanted.specifier}"
    try:
        version = metadata.version(wanted.name)
    except metadata.PackageNotFoundError:
        return "wrong", f"{plain}: not installed"
    if not wanted.specifier.contains(version, prereleases=True):
        return "wrong", f"{plain}: {version} is installed"
    return "fine", f"{wanted.name} {version}"


def fits(version: str, wanted: str) -> bool:
    """Whether a version is in a range; True without `packaging`, which reads ranges."""
    if find_spec("packaging") is None:
        return True
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(wanted).contains(version, prereleases=True)


def _quoted(requirement: str) -> str:
    return f'"{requirement}"' if set("<>=!~,") & set(requirement) else requirement


def _about(field: str) -> str:
    try:
        return metadata.metadata(DISTRIBUTION)[field] or ""
    except metadata.PackageNotFoundError:
        return ""


_TORCH = """
import json, torch
found = {"version": torch.__version__, "threads": torch.get_num_threads(), "gpus": [], "mps": False}
x = torch.ones(3, 3) @ torch.ones(3, 3)
found["right"] = bool((x == 3).all())
try:
    if torch.cuda.is_available():
        for i in range(torch.cuda.device_count()):
            about = torch.cuda.get_device_properties(i)
            y = (torch.ones(3, 3, device=f"cuda:{i}") @ torch.ones(3, 3, device=f"cuda:{i}")).cpu()
            found["gpus"].append([about.name, about.total_memory, bool((y == 3).all())])
    found["mps"] = torch.backends.mps.is_available()
except Exception as error:
    found["fault"] = str(error).splitlines()[0]
print(json.dumps(found))
"""


def torch_works() -> Iterator[Finding]:
    """Check that torch computes, and on which devices, in a subprocess, because a broken torch can crash it."""
    if find_spec("torch") is None:
        return  # reported by `packages`
    try:
        done = subprocess.run([sys.executable, "-c", _TORCH], capture_output=True, text=True, timeout=180)
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Finding("wrong", "torch", f"could not be tested: {error}", "Try `python -c 'import torch'` in a terminal")
        return
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"])[-1]
        yield Finding("wrong", "torch", said, "Install torch again as https://pytorch.org/get-started/locally shows")
        return
    yield from about_torch(json.loads(done.stdout.splitlines()[-1]))


def about_torch(found: dict[str, Any]) -> Iterator[Finding]:
    """Yield the findings from what the subprocess printed about torch and its devices."""
    threads = f"{found['threads']} thread{'s' * (found['threads'] != 1)}"
    if found["right"]:
        yield Finding("fine", "torch", f"{found['version']} computes on the CPU with {threads}")
    else:
        yield Finding("wrong", "torch", f"{found['version']} multiplies wrongly on this CPU", "Install torch again")
    if found.get("fault"):
        yield Finding(
            "note",
            "GPU",
            f"there is one, but {found['fault']}",
            "Notebooks use the CPU. To use the GPU, update its driver",
        )
    for name, size, right in found["gpus"]:
        if right:
            yield Finding("fine", "GPU", f"{name}, {size / GIB:.0f} GiB. Training uses it, with the larger budget")
        else:
            yield Finding("wrong", "GPU", f"{name} multiplies wrongly", "export COURSE_DEVICE=cpu")
    if found["mps"]:
        yield Finding(
            "note", "MPS", "this machine has an Apple GPU, which is not used", "export COURSE_DEVICE=mps to train on it"
        )
    if not (found["gpus"] or found["mps"] or found.get("fault")):
        yield Finding("fine", "GPU", "none, and none is needed, because every training task fits a CPU")


_KERNEL = f"{sys.executable} -m ipykernel install --sys-prefix"

_OWN = {"python", f"python{sys.version_info[0]}", f"python{sys.version_info[0]}.{sys.version_info[1]}"}
"""Names of Python in a kernel's command for which Jupyter starts the Python that it runs on."""


def jupyter() -> Iterator[Finding]:
    """Check that JupyterLab is installed and can show widgets."""
    try:
        version = metadata.version("jupyterlab")
    except metadata.PackageNotFoundError:
        advice = 'pip install "jupyterlab>=4.2,<5" (not needed in Colab, in VS Code or on a hub)'
        yield Finding("note", "JupyterLab", "not in this environment", advice)
        return
    right = fits(version, ">=4.2,<5")
    advice = "" if right else 'pip install "jupyterlab>=4.2,<5"'
    yield Finding("fine" if right else "wrong", "JupyterLab", version, advice)
    if has_home():
        yield widgets_extension([Path(folder) for folder in _extension_folders()], _disabled())


def widgets_extension(folders: Iterable[Path], disabled: Iterable[str]) -> Finding:
    """Check that an extension for ipywidgets is in JupyterLab's extension `folders`, new enough, and enabled."""
    name = "@jupyter-widgets/jupyterlab-manager"
    described = [path for folder in folders if (path := folder / name / "package.json").is_file()]
    advice = 'pip install "jupyterlab_widgets>=3" in the environment that starts JupyterLab, then start it again'
    if not described:
        return Finding("wrong", "widgets", "JupyterLab has no extension for widgets", advice)
    try:
        version = str(json.loads(described[0].read_text(encoding="utf-8")).get("version", "?"))
    except (OSError, ValueError, AttributeError):
        return Finding("wrong", "widgets", f"{described[0]} cannot be read", advice)
    if any(entry.split(":")[0] == name for entry in disabled):
        return Finding("wrong", "widgets", f"{name} is disabled", f"jupyter labextension enable {name}")
    if version.split(".")[0] in "1234":
        return Finding("wrong", "widgets", f"{name} {version} is too old", 'pip install "jupyterlab_widgets>=3"')
    return Finding("fine", "widgets", f"{name} {version}")


def _extension_folders() -> list[str]:
    if find_spec("jupyter_core") is None:
        return []
    from jupyter_core.paths import jupyter_path

    return jupyter_path("labextensions")


def _disabled() -> list[str]:
    """Return JupyterLab's disabled extensions, from its page_config.json files."""
    if find_spec("jupyter_core") is None:
        return []
    from jupyter_core.paths import jupyter_config_path

    names: list[str] = []
    for folder in jupyter_config_path():
        try:
            kept = json.loads(Path(folder, "labconfig", "page_config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        listed = kept.get("disabledExtensions", {}) if isinstance(kept, dict) else {}
        names += [name for name, off in listed.items() if off] if isinstance(listed, dict) else listed
    return names


def kernel() -> Iterator[Finding]:
    """Check that the kernel called python3 runs the Python of this environment."""
    if find_spec("ipykernel") is None:
        yield Finding("wrong", "kernel", "ipykernel is not installed", "pip install ipykernel")
        return
    if find_spec("jupyter_client") is None or not has_home():
        return
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        program = KernelSpecManager().get_kernel_spec("python3").argv[0]
    except NoSuchKernel:
        yield Finding("wrong", "kernel", "Jupyter has no kernel called python3", _KERNEL)
        return
    path = sys.executable if program in _OWN else shutil.which(program)
    if path is None:
        yield Finding("wrong", "kernel", f"the kernel python3 starts {program}, which is not there", _KERNEL)
    elif not _same_environment(path):
        yield Finding("wrong", "kernel", f"the kernel python3 runs another Python, {path}", _KERNEL)
    else:
        yield Finding("fine", "kernel", f"python3 runs {path}")


def _same_environment(program: str) -> bool:
    """Whether `program` is this environment's Python. Links are not followed, because environments share a Python."""
    here, there = Path(sys.executable).absolute(), Path(program).absolute()
    return here == there or here.parent == there.parent


LITTLE_DISK, NO_DISK = 2.0, 0.3
"""GiB. An assignment takes some megabytes and the cache of corpora some tens; below `NO_DISK`, saving may fail."""
LITTLE_MEMORY, NO_MEMORY = 2.0, 1.0
"""GiB. Every notebook of the course runs within 1.5 GB, and JupyterLab needs some more."""


def memory(size: float) -> Finding:
    """Check that `size` bytes of memory are enough; 0 means an unknown size, which gets a note."""
    if not size:
        return Finding("note", "memory", "unknown", f"Notebooks need about {LITTLE_MEMORY:.0f} GiB")
    said = f"{size / GIB:.1f} GiB"
    if size < NO_MEMORY * GIB:
        return Finding("wrong", "memory", said, f"Notebooks need about {LITTLE_MEMORY:.0f} GiB. Use Binder or Colab")
    if size < LITTLE_MEMORY * GIB * 0.95:  # as much as a machine with 2 GB reports
        return Finding(
            "note", "memory", said, "Open one notebook at a time, and shut its kernel down when you leave it"
        )
    return Finding("fine", "memory", said)


def disk(folder: Path, free: float) -> Finding:
    """Check that `free` bytes are enough for the files that notebooks write in `folder`."""
    said = f"{free / GIB:.1f} GiB free in {folder}"
    if free < NO_DISK * GIB:
        return Finding("wrong", "disk", said, "Make room, or a notebook that cannot be saved is lost")
    if free < LITTLE_DISK * GIB:
        return Finding("note", "disk", said, "This is enough for the notebooks. `pip cache purge` makes more room")
    return Finding("fine", "disk", said)


def writable(folder: Path) -> Iterator[Finding]:
    """Check that the folder of the notebooks and the cache of corpora can be written."""
    from course.data.cache import cache_folder

    if not _is_folder(folder):
        yield Finding(
            "wrong",
            "folder",
            f"there is no folder {folder}",
            "Name the folder with your notebooks, or leave the name out",
        )
        return
    for what, place, then in (
        ("folder", folder, "Progress and checkpoints are lost here. Copy the notebooks to a folder of your own"),
        ("cache", cache_folder(), "Corpora are made again each time. Set COURSE_CACHE to a folder of your own"),
    ):
        try:
            with tempfile.NamedTemporaryFile(dir=existing(place), prefix=".course-doctor-"):
                yield Finding("fine", what, f"{place} can be written")
        except OSError as error:
            kind: Kind = "wrong" if what == "folder" else "note"
            yield Finding(kind, what, f"{place} cannot be written ({error.strerror})", then)


def existing(folder: Path) -> Path:
    """Return a folder, or else the nearest folder above it that exists and can be accessed."""
    return next(place for place in (folder.absolute(), *folder.absolute().parents) if _is_folder(place))


def _is_folder(place: Path) -> bool:
    try:
        return place.is_dir()
    except OSError:  # a folder above it may not be accessed
        return False


def language_model() -> Iterator[Finding]:
    """Say whether the weights of `data.load_language_model()` are in the cache. No notebook needs them."""
    from course.data.language_model import fetch

    if fetch.is_kept():
        yield Finding("fine", "weights", f"SmolLM2-135M-Instruct is in {fetch.kept().parent}")
    elif fetch.kept().exists():
        advice = "Run data.load_language_model(download=True) in a notebook"
        yield Finding("note", "weights", f"{fetch.kept()} is damaged, and no notebook needs it", advice)
    else:
        said = "SmolLM2-135M-Instruct is not here, and no notebook needs it. data.load_language_model() tells more"
        yield Finding("fine", "weights", said)


def own_course(folder: Path) -> Iterator[Finding]:
    """Check that `course.toml` can be read; yield nothing without one, or for the copy in a student edition."""
    from course.course import find_course
    from course.outline import Faulty

    try:
        course = find_course(folder)
        if not course.is_original and not course.outline.carried:
            topics = len(course.topics)
            yield Finding("fine", "course.toml", f"{course.outline.path}: {topics} topic{'s' * (topics != 1)}")
            yield from platforms([place.address for place in course.outline.places.values()])
    except (Faulty, OSError) as fault:
        advice = "Correct this file, because no command runs before that. `course list` then shows what it says"
        yield Finding("wrong", "course.toml", str(fault), advice)


def platforms(addresses: Sequence[str]) -> Iterator[Finding]:
    """Check the packages that fetching and sending need, if `course.toml` says where the class is."""
    missing = [name for name in ("canvasapi", "httpx", "keyring") if find_spec(name) is None]
    told = " and ".join(addresses)
    if missing and addresses:
        said = f"the class is at {told}, but {', '.join(missing)} is not installed"
        yield Finding("wrong", "platforms", said, 'pip install "sequence-course[lms]"')
    elif addresses:
        yield Finding("fine", "platforms", f"the class is at {told}")


def sandbox() -> Iterator[Finding]:
    """Check which sandbox isolates students' code on this machine."""
    if find_spec("zmq") is None:
        return  # reported by `packages`
    from course.grading.sandbox.probe import strongest

    tier = strongest()
    why = "; ".join(tier.reasons)
    if tier.name == "none":
        advice = (
            "Grade only code that you trust here, or grade on Linux with bubblewrap "
            f"({why or 'COURSE_SANDBOX is none'})"
        )
        yield Finding("note", "sandbox", "none, so grading runs students' code NOT ISOLATED", advice)
    elif tier.reasons:
        yield Finding("note", "sandbox", tier.name, f"bubblewrap isolates better ({why})")
    else:
        yield Finding("fine", "sandbox", tier.name)


def examine(folder: Path) -> list[Finding]:
    """Return all findings on this machine, and on `folder` as the folder of the notebooks."""
    folder = folder.absolute()
    looks: list[Callable[[], Iterable[Finding]]] = [
        python,
        packages,
        torch_works,
        home,
        jupyter,
        kernel,
        lambda: [memory(memory_at_hand()), disk(folder, shutil.disk_usage(existing(folder)).free)],
        lambda: writable(folder),
        language_model,
        lambda: own_course(folder),
    ]
    if find_spec("course.hidden") is not None:
        looks += [sandbox]
    return [finding for look in looks for finding in look()]


def report(findings: Sequence[Finding]) -> str:
    """Return the findings as lines, with a summary at the end."""
    wrong, notes = (sum(finding.kind == kind for finding in findings) for kind in ("wrong", "note"))
    plural = "thing" if wrong == 1 else "things"
    verdict = f"{wrong} {plural} to fix." if wrong else "Everything the course needs is here."
    also = f" {notes} worth knowing." if notes else ""
    return "\n".join([*map(str, findings), "", verdict + also])


def diagnose(folder: Path) -> int:
    """Print the report, and return the exit status, which is 1 if something is wrong."""
    findings = examine(folder)
    print(report(findings))
    return int(any(finding.kind == "wrong" for finding in findings))
