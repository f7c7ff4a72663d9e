"""`course doctor`: looks at this machine as the course will meet it, and says what is fine, what is not, what to do.

It needs nothing but the standard library: whatever it looks at may be missing or broken.
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
from typing import Literal

from course.grading.machine.resources import memory_at_hand

DISTRIBUTION = "sequence-course"
GIB = 2**30
LITTLE_DISK, NO_DISK = 2.0, 0.3
"""GiB: an assignment leaves some megabytes and the corpora's cache some tens; under the second, saving may fail."""
LITTLE_MEMORY, NO_MEMORY = 2.0, 1.0
"""GiB: every notebook of the course runs within 1.5 GB, and JupyterLab takes its part."""

Kind = Literal["fine", "note", "wrong"]
MARKS: dict[Kind, str] = {"fine": "✓", "note": "!", "wrong": "✗"}


@dataclass(frozen=True)
class Finding:
    """One thing looked at: `said` is how it is, `advice` what to do about it."""

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


def examine(folder: Path) -> list[Finding]:
    """Everything there is to say about this machine, and about `folder` as the place of the notebooks."""
    folder = folder.absolute()
    looks: list[Callable[[], Iterable[Finding]]] = [
        python,
        packages,
        torch_works,
        jupyter,
        kernel,
        lambda: [memory(memory_at_hand()), disk(folder, shutil.disk_usage(_existing(folder)).free)],
        lambda: writable(folder),
        lambda: own_course(folder),
    ]
    if find_spec("course.hidden") is not None:
        looks += [sandbox]
    return [finding for look in looks for finding in look()]


def report(findings: Sequence[Finding]) -> str:
    """The findings as lines, and the verdict below."""
    wrong, notes = (sum(finding.kind == kind for finding in findings) for kind in ("wrong", "note"))
    plural = "thing" if wrong == 1 else "things"
    verdict = f"{wrong} {plural} to mend." if wrong else "Everything the course needs is here."
    also = f" {notes} worth knowing." if notes else ""
    return "\n".join([*map(str, findings), "", verdict + also])


def diagnose(folder: Path) -> int:
    """Print the report, and return the exit status: 1 when something is wrong."""
    findings = examine(folder)
    print(report(findings))
    return int(any(finding.kind == "wrong" for finding in findings))


# -- Python and its packages -------------------------------------------------------------------------------------------


def python() -> Iterator[Finding]:
    """Is this a Python that the course declares?"""
    version = platform.python_version()
    said = f"{version} on {platform.system()} {platform.machine()}, {sys.executable}"
    wanted = _about("Requires-Python")
    if wanted and not _fits(version, wanted):
        yield Finding(
            "wrong", "Python", said, f"the course needs Python {wanted}: make an environment with one of these"
        )
    else:
        yield Finding("fine", "Python", said)


def packages() -> Iterator[Finding]:
    """Are the libraries here that notebooks use, and, with the hidden tests installed, those of grading?"""
    if find_spec("packaging") is None:
        yield Finding(
            "wrong", "packages", "not even packaging is installed", f"pip install {DISTRIBUTION}'s wheel again"
        )
        return
    try:
        listed = metadata.requires(DISTRIBUTION) or []
        course = metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        yield Finding("note", "course", "runs from a folder and is not installed", "pip install the course's wheel")
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
    """How it is about one required package, given as in the metadata; nothing if it is not for us."""
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


def _fits(version: str, wanted: str) -> bool:
    """Whether a version is in a range; where nobody can tell, it is."""
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


# -- computing ---------------------------------------------------------------------------------------------------------

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
    """Does torch compute here, and on what? Asked in another process: a broken one takes its process with it."""
    if find_spec("torch") is None:
        return  # told among the packages
    try:
        done = subprocess.run([sys.executable, "-c", _TORCH], capture_output=True, text=True, timeout=180)
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Finding("wrong", "torch", f"could not be asked: {error}", "try `python -c 'import torch'` by hand")
        return
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"])[-1]
        yield Finding("wrong", "torch", said, "install torch again: https://pytorch.org/get-started/locally")
        return
    yield from about_torch(json.loads(done.stdout.splitlines()[-1]))


def about_torch(found: dict) -> Iterator[Finding]:
    """What to say of torch's answers."""
    threads = f"{found['threads']} thread{'s' * (found['threads'] != 1)}"
    if found["right"]:
        yield Finding("fine", "torch", f"{found['version']} computes on the CPU with {threads}")
    else:
        yield Finding("wrong", "torch", f"{found['version']} multiplies wrongly on this CPU", "install torch again")
    if found.get("fault"):
        yield Finding("note", "GPU", f"there is one, but {found['fault']}", "notebooks use the CPU; update its driver")
    for name, size, right in found["gpus"]:
        if right:
            yield Finding("fine", "GPU", f"{name}, {size / GIB:.0f} GiB: training uses it, with the larger budget")
        else:
            yield Finding("wrong", "GPU", f"{name} multiplies wrongly", "export COURSE_DEVICE=cpu")
    if found["mps"]:
        yield Finding("note", "MPS", "an Apple GPU is here and left alone", "export COURSE_DEVICE=mps to train on it")
    if not (found["gpus"] or found["mps"] or found.get("fault")):
        yield Finding("fine", "GPU", "none, and none is needed: every training task fits a CPU")


# -- Jupyter -----------------------------------------------------------------------------------------------------------


def jupyter() -> Iterator[Finding]:
    """Is there a notebook server, and can it show widgets?"""
    try:
        version = metadata.version("jupyterlab")
    except metadata.PackageNotFoundError:
        advice = 'pip install "jupyterlab>=4.2,<5"; in Colab, VS Code and on a hub there is nothing to do'
        yield Finding("note", "JupyterLab", "not in this environment", advice)
        return
    fits = _fits(version, ">=4.2,<5")
    advice = "" if fits else 'pip install "jupyterlab>=4.2,<5"'
    yield Finding("fine" if fits else "wrong", "JupyterLab", version, advice)
    yield widgets_extension([Path(folder) for folder in _extension_folders()], _disabled())


def widgets_extension(folders: Iterable[Path], disabled: Iterable[str]) -> Finding:
    """Is JupyterLab's part of ipywidgets in one of its extension `folders`, of the right generation, and enabled?"""
    name = "@jupyter-widgets/jupyterlab-manager"
    described = [path for folder in folders if (path := folder / name / "package.json").is_file()]
    advice = 'pip install "jupyterlab_widgets>=3" into the environment that starts JupyterLab, and start it again'
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
    """JupyterLab's disabled extensions, as its page_config.json files say."""
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
    """Does the kernel called python3 run the Python that has the course?"""
    if find_spec("ipykernel") is None:
        yield Finding("wrong", "kernel", "ipykernel is not installed", "pip install ipykernel")
        return
    if find_spec("jupyter_client") is None:
        return
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        program = KernelSpecManager().get_kernel_spec("python3").argv[0]
    except NoSuchKernel:
        yield Finding("wrong", "kernel", "Jupyter has no kernel called python3", _KERNEL)
        return
    path = shutil.which(program)
    if path is None:
        yield Finding("wrong", "kernel", f"the kernel python3 starts {program}, which is not there", _KERNEL)
    elif not _same_environment(path):
        yield Finding("wrong", "kernel", f"the kernel python3 runs another Python, {path}", _KERNEL)
    else:
        yield Finding("fine", "kernel", f"python3 runs {path}")


_KERNEL = f"{sys.executable} -m ipykernel install --sys-prefix"


def _same_environment(program: str) -> bool:
    """Whether `program` is this environment's Python: links are not followed, as environments share a Python."""
    here, there = Path(sys.executable).absolute(), Path(program).absolute()
    return here == there or here.parent == there.parent


# -- the machine -------------------------------------------------------------------------------------------------------


def memory(size: float) -> Finding:
    """Are `size` bytes of memory enough? Nothing is said of an unknown size, which is 0."""
    if not size:
        return Finding("note", "memory", "unknown", f"notebooks need about {LITTLE_MEMORY:.0f} GiB")
    said = f"{size / GIB:.1f} GiB"
    if size < NO_MEMORY * GIB:
        return Finding("wrong", "memory", said, f"notebooks need about {LITTLE_MEMORY:.0f} GiB: use Binder or Colab")
    if size < LITTLE_MEMORY * GIB * 0.95:  # what a machine sold with 2 GB has left
        return Finding(
            "note", "memory", said, "open one notebook at a time, and shut its kernel down when you leave it"
        )
    return Finding("fine", "memory", said)


def disk(folder: Path, free: float) -> Finding:
    """Are `free` bytes enough for what working in `folder` leaves there?"""
    said = f"{free / GIB:.1f} GiB free in {folder}"
    if free < NO_DISK * GIB:
        return Finding("wrong", "disk", said, "make room: a notebook that cannot be saved is lost")
    if free < LITTLE_DISK * GIB:
        return Finding("note", "disk", said, "enough for the notebooks; `pip cache purge` makes room")
    return Finding("fine", "disk", said)


def writable(folder: Path) -> Iterator[Finding]:
    """Can notebooks, checkpoints and the corpora's cache be written where they go?"""
    from course.data.cache import cache_folder

    if not folder.is_dir():
        yield Finding("wrong", "folder", f"there is no folder {folder}", "name the one with your notebooks, or none")
        return
    for what, place, then in (
        ("folder", folder, "progress and checkpoints are forgotten: copy the notebooks to a folder of your own"),
        ("cache", cache_folder(), "corpora are made anew each time: export COURSE_CACHE=a folder of your own"),
    ):
        try:
            with tempfile.NamedTemporaryFile(dir=_existing(place), prefix=".course-doctor-"):
                yield Finding("fine", what, f"{place} can be written")
        except OSError as error:
            kind: Kind = "wrong" if what == "folder" else "note"
            yield Finding(kind, what, f"{place} cannot be written ({error.strerror})", then)


def own_course(folder: Path) -> Iterator[Finding]:
    """For instructors: can the `course.toml` of a course of their own be followed?"""
    from course.outline import Faulty, find_outline

    try:
        outline = find_outline(folder)
        if outline is None or outline.carried:
            return
        from course.syllabus import chosen

        topics = len(chosen(outline))
        yield Finding("fine", "course.toml", f"{outline.path}: {topics} topic{'s' * (topics != 1)}")
    except (Faulty, OSError) as fault:
        advice = "every command stops at this: mend that file, then `course list` shows what stands in it"
        yield Finding("wrong", "course.toml", str(fault), advice)


def _existing(folder: Path) -> Path:
    return next(place for place in (folder.absolute(), *folder.absolute().parents) if place.is_dir())


def sandbox() -> Iterator[Finding]:
    """For instructors: what stands between a student's code and this machine?"""
    if find_spec("zmq") is None:
        return  # told among the packages
    from course.grading.sandbox.probe import strongest

    tier = strongest()
    why = "; ".join(tier.reasons)
    if tier.name == "none":
        advice = (
            f"grade only code you trust here, or on Linux with bubblewrap ({why or 'COURSE_SANDBOX asks for none'})"
        )
        yield Finding("note", "sandbox", "none: grading runs students' code NOT ISOLATED", advice)
    elif tier.reasons:
        yield Finding("note", "sandbox", tier.name, f"bubblewrap isolates better ({why})")
    else:
        yield Finding("fine", "sandbox", tier.name)
