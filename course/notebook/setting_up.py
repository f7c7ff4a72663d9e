"""`set_up`: install the notebooks' requirements in a foreign environment, such as Colab.

Installed packages keep their versions, such as PyTorch for the machine's GPU.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import PackageNotFoundError, distributions, requires, version
from pathlib import Path
from typing import TYPE_CHECKING

from ..surroundings import KAGGLE_INPUTS, on_colab
from .hide_traceback import hide_traceback

if TYPE_CHECKING:
    from packaging.version import Version

DISTRIBUTION = "sequence-course"

PYARROW_FOR_NUMPY_1 = "pyarrow<26"
"""A requirement if numpy 1 stays: `datasets` brings later versions, which do not tell pip that they need numpy 2."""


def set_up() -> None:
    """Install missing requirements, and print what the notebook computes on.

    Raises:
        RuntimeError: pip could not install it.
    """
    wanted = missing()
    if wanted:
        install(wanted)
    print(f"The course is installed{f', and with it {_listed(wanted)}' if wanted else ''}. {_computes_on()}")


def missing() -> list[str]:
    """Return the requirements of the course, without extras, that this environment does not meet."""
    from packaging.requirements import Requirement

    base = [Requirement(line) for line in requires(DISTRIBUTION) or ()]
    needed = [one for one in base if one.marker is None or one.marker.evaluate({"extra": ""})]
    return [f"{one.name}{one.specifier}" for one in needed if not _is_met(one.name, str(one.specifier))]


def main(of_class: bool) -> None:
    """Install the course from the newest of some wheels with all its requirements, or not at all.

    The notebooks' first cell runs this in a process of its own, which imports it from a wheel. Its arguments are the
    wheels. Without a fitting wheel it exits with status 1, and after a failed installation it also prints the reason.

    Args:
        of_class: consider only wheels of an instructor's own course, which have a `+` in their versions.
    """
    named = {_proper_name(wheel): wheel for wheel in sys.argv[1:]}
    fitting = [name for name in named if "+" in name or not of_class]
    if not fitting:
        sys.exit(1)
    newest = max(fitting, key=_version)
    with tempfile.TemporaryDirectory() as folder:
        wheel = shutil.copyfile(named[newest], Path(folder, newest))
        try:
            install(missing(), wheel)
        except RuntimeError as error:
            print(error)
            sys.exit(1)


def install(wanted: list[str], wheel: Path | None = None) -> None:
    """Install these requirements with pip, which may add packages but does not change installed ones.

    Pip also finds wheels in this folder and in Kaggle's inputs, and needs no network for these.

    Args:
        wheel: the course's own wheel, to be installed as well.

    Raises:
        RuntimeError: pip failed.
    """
    wheels = [*Path().glob("*.whl"), *KAGGLE_INPUTS.rglob("*.whl")]
    beside = [f"--find-links={folder.absolute()}" for folder in sorted({wheel.parent for wheel in wheels})]
    what = [*([str(wheel)] if wheel else []), *wanted]
    with tempfile.TemporaryDirectory() as folder:
        held = Path(folder, "held.txt")
        held.write_text("\n".join(held_versions(wanted)), encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]
        line = [*pip, *beside, "--constraint", str(held), *what]
        ran = subprocess.run(line, capture_output=True, text=True, check=False)
    if ran.returncode:
        again = "run this cell again" if wheel else "run course.set_up()"
        raise hide_traceback(RuntimeError(f"{_why_not(wanted, ran)}, and then {again}."))


def _why_not(wanted: list[str], ran: subprocess.CompletedProcess[str]) -> str:
    """Return why pip installed nothing, and what to do."""
    if wanted and "Retrying (" in ran.stderr:
        return (
            f"The course needs {_listed(wanted)}, and this machine cannot download packages. Turn the internet on, or "
            "put their .whl files beside this notebook (on Kaggle, as an input)"
        )
    said = [line for line in ran.stderr.splitlines() if line.strip()] or [f"status {ran.returncode}"]
    why = next((line for line in said if line.startswith("ERROR")), said[-1]).removeprefix("ERROR: ")
    return f"pip could not install {_listed(wanted) or 'the course'}: {why.rstrip('.')}. Fix that"


def _proper_name(wheel: str) -> str:
    """Return a wheel's name in pip's form. Browsers and platforms may rename the file, as in `… (1).whl`."""
    with zipfile.ZipFile(wheel) as archive:
        inside = next(name for name in archive.namelist() if ".dist-info/" in name)
    return inside.partition(".dist-info/")[0] + "-py3-none-any.whl"


def _version(wheel: str) -> Version:
    """Return the version in a wheel's proper name."""
    from packaging.version import Version

    return Version(wheel.split("-")[1])


def _is_met(name: str, specifier: str) -> bool:
    from packaging.specifiers import SpecifierSet

    try:
        return SpecifierSet(specifier).contains(version(name), prereleases=True)
    except PackageNotFoundError:
        return False


def held_versions(wanted: list[str]) -> list[str]:
    """Return `name==version` for all installed packages except the course and those that are too old."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    free = {canonicalize_name(name) for name in (DISTRIBUTION, *(Requirement(line).name for line in wanted))}
    found = {canonicalize_name(one.metadata["Name"]): one.version for one in distributions() if one.metadata["Name"]}
    kept = [f"{name}=={number}" for name, number in sorted(found.items()) if name not in free]
    if found.get(canonicalize_name("numpy"), "").startswith("1.") and "pyarrow" not in found:
        kept.append(PYARROW_FOR_NUMPY_1)
    return kept


def _listed(wanted: list[str]) -> str:
    from packaging.requirements import Requirement

    return ", ".join(Requirement(line).name for line in wanted)


def _computes_on() -> str:
    import torch

    from .machine import device

    place = device()
    if place.type == "cuda":
        return f"It computes on the GPU, {torch.cuda.get_device_name(place)}."
    more = " (on Colab, Runtime > Change runtime type offers a GPU)" if on_colab() else ""
    return f"It computes on the {place.type.upper()}{more}."
