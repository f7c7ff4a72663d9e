"""`set_up`: install what the notebooks need where they run in somebody else's environment, such as Colab.

Whatever is installed there stays as it is: PyTorch for that machine's GPU, the packages of its notebook, all of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distributions, requires, version
from pathlib import Path

DISTRIBUTION = "sequence-course"

PYARROW_FOR_NUMPY_1 = "pyarrow<26"
"""What `datasets` brings along where numpy 1 stays: later ones cannot be imported there, and do not tell pip so."""


def set_up() -> None:
    """Installs what is missing, if anything is, and says in a line what the notebook computes on.

    Raises:
        RuntimeError: pip could not install it.
    """
    wanted = missing()
    if wanted:
        install(wanted)
    print(f"The course is installed{f', and with it {_listed(wanted)}' if wanted else ''}. {_computes_on()}")


def missing() -> list[str]:
    """The requirements of the course, optional parts aside, that this environment does not meet."""
    from packaging.requirements import Requirement

    base = [Requirement(line) for line in requires(DISTRIBUTION) or ()]
    needed = [one for one in base if one.marker is None or one.marker.evaluate({"extra": ""})]
    return [f"{one.name}{one.specifier}" for one in needed if not _is_met(one.name, str(one.specifier))]


def install(wanted: list[str]) -> None:
    """Installs these requirements with pip, which may bring more but changes nothing that is here.

    Raises:
        RuntimeError: pip could not.
    """
    with tempfile.TemporaryDirectory() as folder:
        held = Path(folder, "held.txt")
        held.write_text("\n".join(_held(wanted)), encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        ran = subprocess.run([*pip, "--constraint", str(held), *wanted], capture_output=True, text=True, check=False)
    if ran.returncode:
        said = [line for line in ran.stderr.splitlines() if line.strip()] or [f"status {ran.returncode}"]
        why = next((line for line in said if line.startswith("ERROR")), said[-1]).removeprefix("ERROR: ")
        raise RuntimeError(f"pip could not install {_listed(wanted)}: {why}. Install them, then call course.set_up().")


def _is_met(name: str, specifier: str) -> bool:
    from packaging.specifiers import SpecifierSet

    try:
        return SpecifierSet(specifier).contains(version(name), prereleases=True)
    except PackageNotFoundError:
        return False


def _held(wanted: list[str]) -> list[str]:
    """`name==version` of everything installed, but for what is there in a version too old."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    free = {canonicalize_name(Requirement(line).name) for line in wanted}
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
    more = " (on Colab, Runtime > Change runtime type offers a GPU)" if "google.colab" in sys.modules else ""
    return f"It computes on the {place.type.upper()}{more}."
