"""Check torch and accelerators for `course doctor`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from course.grading.machine.finding import GIB, Finding

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
