"""Check JupyterLab, its widgets and the kernel called python3 for `course doctor`."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from course.grading.machine.check_packages import fits
from course.grading.machine.check_user import has_home
from course.grading.machine.finding import Finding

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
