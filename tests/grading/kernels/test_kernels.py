"""Kernels forked from a zygote: quick, alone, the same every time, and gone when they should be."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import gc
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook

from course.grading.cells import notebook_bytes
from course.grading.execution import corpora_cache, notebook_run
from course.grading.execution import execute as execution
from course.grading.execution.execute import execute
from course.grading.execution.hidden_from_students import class_paths
from course.grading.execution.task import Limits, Outcome, Task
from course.grading.kernel_edition import assemble
from course.grading.kernels import environment as kernels
from course.grading.kernels import provisioner, zygote_client
from course.grading.kernels.protocol import Order
from course.grading.kernels.zygote_client import ALIVE, is_free
from course.grading.problem import Problem
from course.grading.sandbox import probe as tiers
from course.grading.sandbox.probe import strongest
from course.grading.sandbox.spec import MEGABYTE, Allowance, Confines

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kernels are forked on Linux only")


def run(*sources: str, name: str = "nb", limits: Limits | None = None, **task) -> tuple[Outcome, list]:
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nb = new_notebook(cells=[new_code_cell(source) for source in sources], metadata={"kernelspec": kernelspec})
    given = Task(name, notebook_bytes(nb), limits=limits or Limits(20.0), **task)
    outcome = Outcome.from_bytes(execute(given.to_bytes()))
    assert not outcome.fault, outcome.fault
    return outcome, [cell.outputs for cell in nbformat.reads(outcome.notebook.decode(), as_version=4).cells]


def printed(outputs: list) -> str:
    return "".join(output.get("text", "") for output in outputs)


def error(outputs: list) -> tuple[str, str]:
    (found,) = [output for output in outputs if output.output_type == "error"]
    return found.ename, found.evalue


@pytest.mark.parametrize(("policy", "trains"), [("checkpoint", False), ("retrain", True)])
def test_a_kernel_is_forked_and_has_imported_what_its_notebook_is_likely_to_use(policy, trains):
    loaded = "import sys; print([name in sys.modules for name in ('torch', 'matplotlib', 'datasets')])"
    outcome, (before, _, after) = run(loaded, "from course import data; data.load('order')", loaded, policy=policy)
    assert outcome.why_cold == ""
    assert printed(before) == f"[True, True, {trains}]\n"
    assert printed(after) == "[True, True, True]\n"


def test_kernels_share_nothing_and_repeat_themselves():
    draw = "import random, numpy, torch; print(random.random(), numpy.random.rand(), torch.rand(1).item())"
    _, (first, _) = run(draw, "import builtins, torch; builtins.left = 1; torch.left = 1")
    _, (second, left) = run(draw, "import builtins, torch; print(hasattr(builtins, 'left'), hasattr(torch, 'left'))")
    _, (other,) = run(draw, seed=5)
    assert printed(first) == printed(second) != printed(other)
    assert printed(left) == "False False\n"


def test_reruns_of_a_grading_train_alike_and_do_not_know_the_hidden_cases_seed():
    told = "import course, torch; course.seed(); print(torch.initial_seed(), torch.rand(1).item())"
    began = "import torch; print(torch.initial_seed())"
    _, (first, start) = run(told, began, seed=123)
    _, (second, _) = run(told, began, seed=123)
    _, (other, _) = run(told, began, seed=5)
    assert printed(first) == printed(second) != printed(other)
    assert "123" not in (printed(first).split()[0], printed(start).strip())


def test_a_cell_is_translated_once_and_anew_when_it_runs_again():
    counting = "seen = []\nget_ipython().input_transformers_cleanup.append(lambda lines: seen.append(lines) or lines)"
    doubling = "get_ipython().input_transformers_post.append(lambda lines: 2 * lines)"
    same = "print('said')"
    _, outputs = run(counting, same, "print(len(seen))", doubling, same)
    assert list(map(printed, outputs)) == ["", "said\n", "2\n", "", "said\nsaid\n"]


def test_a_cell_says_when_it_ran_as_nbclient_has_it_whatever_the_kernel_claims():
    forge = (
        "import ipykernel.ipkernel; kernel = get_ipython().kernel; send = kernel.session.send\n"
        "forged = lambda *a, metadata=None, **k: send(*a, metadata=metadata and {'busy_since': ['<b>']}, **k)\n"
        "kernel.session.send = forged"
    )
    outcome, _ = run("1 + 1", forge, "1 + 1")
    cells = nbformat.reads(outcome.notebook.decode(), as_version=4).cells
    first, last = (cells[index].metadata.execution for index in (0, 2))
    assert first["iopub.status.busy"] <= first["iopub.execute_input"] <= first["iopub.status.idle"]
    assert set(first) - set(last) == {"iopub.status.busy"}
    assert [cell.execution_count for cell in cells] == [1, 2, 3]


def test_what_is_printed_stands_in_order_whoever_prints_and_flushes():
    source = (
        "import sys, threading\n"
        "for part in range(3):\n"
        "    print(part, 'out'); sys.stdout.flush(); print(part, 'err', file=sys.stderr); sys.stderr.flush()\n"
        "other = threading.Thread(target=lambda: (print('other', end=''), sys.stdout.flush()))\n"
        "other.start(); other.join()\n"
        "display('shown'); print('last', end='')"
    )
    _, (outputs, later) = run(source, "print('later')")
    told = [output.get("text") or output["data"]["text/plain"] for output in outputs]
    assert told == ["0 out\n", "0 err\n", "1 out\n", "1 err\n", "2 out\n", "2 err\n", "other", "'shown'", "last"]
    assert printed(later) == "later\n"


def test_a_kernel_knows_nothing_of_its_grader(monkeypatch):
    monkeypatch.setenv("CLASS_SECRET", "canary")
    _, (seen, hidden) = run(
        "import os; print(os.environ.get('CLASS_SECRET'), os.environ.get('JPY_PARENT_PID'), os.listdir('.'))",
        "import sys; print([name for name in sys.modules if name.startswith(('course.hidden', 'course.reference'))])",
    )
    assert printed(seen) == "None None []\n"
    assert printed(hidden) == "[]\n"


def test_memory_and_time_are_told_of_a_notebook_that_was_over_at_once():
    quick, _ = run("pass")
    longer, _ = run(
        "import time; kept = bytearray(b'1') * 200_000_000; began = time.process_time()\n"
        "while time.process_time() < began + 0.3: pass"
    )
    assert 5 * MEGABYTE < quick.memory < longer.memory - 150 * MEGABYTE
    assert 0 < quick.cpu < longer.cpu - 0.2
    ended, _ = run("import os; os._exit(0)")
    assert 5 * MEGABYTE < ended.memory < longer.memory - 150 * MEGABYTE


def test_parallel_operations_work_in_a_fork():
    source = (
        "import torch; torch.set_num_threads(2); x = torch.randn(600, 600); print((x @ x.inverse()).trace().round())"
    )
    _, (product,) = run(source)
    assert printed(product) == "tensor(600.)\n"


class Broken(zygote_client.ZygoteClient):
    """A zygote that never answers."""

    def kernel(self, order):
        raise zygote_client.NoKernel("broken on purpose")


def test_where_no_zygote_answers_a_kernel_starts_cold_and_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(provisioner, "zygote_for", lambda environment: Broken(str(tmp_path / "none"), environment))
    outcome, (text,) = run("import os; print(6 * 7, os.getpid() > 0)")
    assert outcome.why_cold == "broken on purpose"
    assert outcome.isolation == strongest().label
    assert printed(text) == "42 True\n"


@pytest.mark.parametrize("warm", [True, False])
def test_files_beside_a_notebook_are_its_own_and_in_nobodys_place(warm, monkeypatch, tmp_path):
    if not warm:
        monkeypatch.setattr(provisioner, "zygote_for", lambda environment: Broken(str(tmp_path / "none"), environment))
    files = {"mine.py": b"x = 42", "ipykernel.py": b"raise SystemExit", "logging.py": b"raise SystemExit"}
    outcome, (text,) = run("import mine; print(mine.x)", files=files)
    assert printed(text) == "42\n" and bool(outcome.why_cold) is not warm


def test_a_zygote_that_is_gone_is_not_waited_for(monkeypatch, tmp_path):
    """Another process began it, and only the refused connection tells: a zygote that is there listens."""
    monkeypatch.chdir(tmp_path)  # short: a socket's address has 107 letters at most
    with socket.socket(socket.AF_UNIX) as ended:
        ended.bind("zygote")
    monkeypatch.setattr(zygote_client.time, "sleep", lambda seconds: pytest.fail("it waited"))
    with pytest.raises(zygote_client.NoKernel, match="refused"):
        zygote_client.ZygoteClient("zygote", {}).kernel(Order("none", Confines(str(tmp_path)), str(tmp_path), {}))


@pytest.mark.parametrize("shared", [False, True])
def test_a_zygote_that_dies_while_it_imports_is_not_waited_for(monkeypatch, tmp_path, shared):
    """Neither by who started it nor by workers, who only know its address; and no other is tried in vain."""
    (tmp_path / "numpy.py").write_text("raise MemoryError('no room for numpy')")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    zygote_client.close_all()
    begun = zygote_client.zygote_for(environment)
    asked = zygote_client.ZygoteClient(begun.address, environment) if shared else begun
    with pytest.raises(zygote_client.NoKernel, match=r"ended while it imported libraries .*no room for numpy"):
        asked.kernel(Order("none", Confines(str(tmp_path)), str(tmp_path), environment))
    assert zygote_client.zygote_for(environment) is begun
    zygote_client.close_all()


def test_that_a_zygote_died_shows_while_kernels_of_its_live(tmp_path):
    begun = zygote_client.ZygoteClient.begin(dict(os.environ))
    handle = begun.kernel(Order("none", Confines(str(tmp_path)), str(tmp_path), dict(os.environ)))
    try:
        assert not is_free(Path(begun.address).with_name(ALIVE))
        assert begun.process is not None
        begun.process.kill()
        begun.process.wait()
        assert handle.poll() is None and is_free(Path(begun.address).with_name(ALIVE))
    finally:
        handle.kill()
        begun.close()


def test_after_a_class_the_next_one_begins_a_zygote_of_its_own():
    environment = dict(os.environ)
    zygote_client.zygote_for(environment).close()  # as whoever opened the pool does in the end
    begun = zygote_client.zygote_for(environment)
    assert not begun.gone and Path(begun.address).parent.is_dir()
    zygote_client.close_all()


@pytest.mark.parametrize(
    ("source", "allowance", "kind", "words"),
    [
        (
            "import os, time\nos.fork()\nx = []\nwhile True: x.append(bytearray(8_000_000)); time.sleep(0.02)",
            {"memory": 700 * MEGABYTE},
            "LimitExceeded",
            "of memory",
        ),
        (
            "import os, time\nwhile os.fork(): time.sleep(0.005)\ntime.sleep(60)",
            {"processes": 20},
            "LimitExceeded",
            "20 are",
        ),
        (
            "import time\nfor n in range(100):\n    open(f'{n}', 'wb').write(bytes(10_000_000)); time.sleep(0.05)",
            {"disk": 80 * MEGABYTE},
            "LimitExceeded",
            "to the disk, where 80 MB",
        ),
    ],
    ids=["memory", "processes", "disk"],
)
def test_who_uses_too_much_is_stopped_with_both_numbers(source, allowance, kind, words):
    limits = Limits(20.0, allowance=replace(Allowance(), **allowance))
    _, (before, during, after) = run("print('before')", source, "print('after')", limits=limits)
    assert printed(before) == "before\n"
    assert error(during)[0] == kind and words in error(during)[1]
    assert error(after)[0] == "NotReached"


def test_memory_asked_for_at_once_is_an_error_that_can_be_caught():
    limits = Limits(20.0, allowance=Allowance(memory=1024 * MEGABYTE))
    source = "import torch\ntry: torch.ones(10**10)\nexcept RuntimeError as error: print(error)"
    _, (caught, after) = run(source, "print('after')", limits=limits)
    assert "allocate memory" in printed(caught) and printed(after) == "after\n"


def test_a_file_has_a_largest_size():
    limits = Limits(20.0, allowance=Allowance(file=10 * MEGABYTE))
    _, (text,) = run("try: open('large', 'wb').write(bytes(20_000_000))\nexcept OSError as e: print(e)", limits=limits)
    assert "too large" in printed(text)


SPINNING = """
import os, time
for _ in range(3):
    if not os.fork():
        try:
            while True: pass
        finally:
            os._exit(0)
time.sleep(600)
"""


def test_processor_time_counts_for_all_processes_of_a_cell(monkeypatch):
    """Those it started use all of it, and the clock on the wall, which allows as many seconds, does not come first."""
    clock = notebook_run.NotebookRun._get_timeout
    monkeypatch.setattr(notebook_run.NotebookRun, "_get_timeout", lambda run, cell: 300.0 if cell else clock(run, cell))
    outcome, (during,) = run(SPINNING, limits=Limits(2.0))
    told = [output for output in during if output.output_type == "error"][-1]
    assert told.ename in ("CellTimeoutError", "Unresponsive")
    assert "seconds of processor time, where 2 are allowed" in told.evalue
    assert outcome.cpu > 2.0


def test_endless_output_is_cut_and_the_next_cell_runs():
    _, (during, after) = run("while True: print('x' * 1000)", "print('after')", limits=Limits(20.0, output=100_000))
    assert "OutputLimit" in str(during) and len(str(during)) < 300_000
    assert printed(after) == "after\n"


BRACKETS = (
    "from IPython.display import display\n"
    "display({'text/plain': '', 'application/json': [[0]] * 3_000_000}, raw=True, display_id='brackets')"
)


def test_a_message_that_is_too_large_is_not_read_and_the_next_cell_runs():
    """Fifteen million characters, which as lists take half a gigabyte."""
    import resource

    run("print('what a first notebook needs is there')")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, (before, during, after) = run("print('before')", BRACKETS, "print('after')")
    assert (printed(before), printed(after)) == ("before\n", "after\n")
    assert error(during)[0] == "OutputLimit" and "printed more than 4.2 million" in error(during)[1]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most < 200_000


def test_what_is_printed_beside_a_large_message_stays():
    _, (during,) = run(f"print('first', flush=True)\n{BRACKETS}")
    assert printed(during) == "first\n" and error(during)[0] == "OutputLimit"


@pytest.mark.parametrize("part", ["{}", "''"])
def test_empty_things_fill_a_cell_as_well(part):
    source = f"from IPython.display import display\ndisplay({{'application/json': [{part}] * 20_000}}, raw=True)"
    _, (during,) = run(source, limits=Limits(20.0, output=150_000))
    assert error(during)[0] == "OutputLimit"


def test_a_large_reply_is_too_much_output():
    _, (during, after) = run("raise ValueError('x' * 300_000)", "print('after')", limits=Limits(20.0, output=100_000))
    assert error(during)[0] == "OutputLimit" and printed(after) == "after\n"


def test_a_cell_whose_last_word_is_too_much_ends_at_once():
    """An interrupt that meets a kernel on its way out of a cell takes the reply with it."""
    _, (during, after) = run("'x' * 300_000", "print('after')", limits=Limits(20.0, output=100_000))
    assert error(during)[0] == "OutputLimit" and printed(after) == "after\n"


@pytest.mark.parametrize(
    "source", ["for _ in range(100): print('x' * 1_000_000)", "raise ValueError('x' * 100_000_000)"]
)
def test_a_message_that_ends_the_connection_costs_its_cell_alone(source):
    """What is printed in a fifth of a second is one message, and so is an error."""
    _, (during, after) = run(source, "print('after')")
    assert error(during)[0] == "OutputLimit" and printed(after) == "after\n"


def test_large_headers_are_no_message():
    """Not even their own fault is told from what they hold."""
    source = (
        "kernel = get_ipython().kernel\n"
        "kernel.session.send(kernel.iopub_socket, 'stream', {'name': 'stdout', 'text': 'x'},\n"
        "    parent=kernel.get_parent(), metadata={'x': [[0]] * 100_000})"
    )
    _, (during, after) = run(source, "print('after')", limits=Limits(20.0, output=100_000))
    assert error(during) == ("ValueError", "an output of this cell could not be read") and printed(after) == "after\n"


def test_no_watch_over_a_kernel_outlives_its_notebook(caplog):
    """nbclient forgets it where an output cannot be read; what that met later stood on the grader's terminal."""
    source = "k = get_ipython().kernel\nk.session.send(k.iopub_socket, 'display_data', {}, parent=k.get_parent())"
    _, (during,) = run(source)
    assert error(during) == ("KeyError", "an output of this cell could not be read")
    run("import time; time.sleep(1.2)")
    gc.collect()
    assert not caplog.text


def test_a_loop_that_ignores_interrupts_ends_the_notebook_and_leaves_nothing_behind():
    mark = f"outlives-{os.getpid()}"
    source = (
        "import signal, subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)', {mark!r}], start_new_session=True)\n"
        "while True:\n    try: time.sleep(60)\n    except KeyboardInterrupt: pass"
    )
    _, (during, after) = run(source, "print('after')", limits=Limits(2.0))
    assert error(during)[0] == "Unresponsive" and error(after)[0] == "NotReached"
    assert not _running(mark)


class Flooded(notebook_run.NotebookRun):
    """A notebook whose kernel always has something else to say before its reply, for ten seconds."""

    async def _meet(self) -> None:
        await super()._meet()
        assert self.kc is not None
        channel: Any = self.kc.shell_channel
        honest, end = channel.get_msg, time.monotonic() + 10

        async def something(timeout: float | None = None) -> Any:
            await asyncio.sleep(0)
            return {"parent_header": {}} if time.monotonic() < end else await honest(timeout=timeout)

        channel.get_msg = something


def test_messages_without_end_do_not_make_a_cell_last(monkeypatch):
    """They keep nbclient from looking at its clock."""
    monkeypatch.setattr("course.grading.execution.execute.NotebookRun", Flooded)
    monkeypatch.setattr(notebook_run, "AFTER_INTERRUPT", 1)
    _, (during, after) = run("print('during')", "print('after')", limits=Limits(1.0), client={"iopub_timeout": 1})
    assert error(during)[0] == "Unresponsive" and error(after)[0] == "NotReached"


def test_what_a_later_cell_makes_of_an_earlier_ones_output_can_be_saved():
    """Half a character is a string like any other, until it is written."""
    shown = "from IPython.display import display\nprint('shown')\n_ = display('text', display_id='shown')"
    change = (
        "import json\n"
        "get_ipython().kernel.session.pack = lambda value: json.dumps(value, default=str).encode()\n"
        "display({'text/plain': '\\ud800'}, raw=True, display_id='shown', update=True)\nprint('changed')"
    )
    _, (before, changed, after) = run("print('before')", shown, change)
    assert error(changed) == ("OutputLimit", "an output of this cell could not be read")
    assert (printed(before), printed(after)) == ("before\n", "changed\n")


def test_kernels_end_with_a_grader_that_is_killed(tmp_path):
    mark = f"orphan-{os.getpid()}"
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    source = f"import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(300)', {mark!r}])"
    nb = new_notebook(cells=[new_code_cell(source)], metadata={"kernelspec": kernelspec})
    (tmp_path / "task").write_bytes(Task("nb", notebook_bytes(nb), limits=Limits(200.0)).to_bytes())
    code = "import sys; from course.grading.execution.execute import execute; execute(open(sys.argv[1], 'rb').read())"
    grader = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "task")])
    try:
        assert _eventually(lambda: _running(mark), 90.0)
        grader.send_signal(signal.SIGKILL)
        grader.wait()
        assert _eventually(lambda: not _running(mark), 20.0)
    finally:
        grader.kill()


def _with_accelerator() -> Outcome:
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nb = new_notebook(cells=[new_code_cell("import torch; print(torch.ones(2, device='cuda').sum())")])
    nb.metadata["kernelspec"] = kernelspec
    return Outcome.from_bytes(execute(Task("nb", notebook_bytes(nb), gpu=True, limits=Limits(60.0)).to_bytes()))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has an accelerator")
def test_an_accelerator_that_is_not_there_is_a_fault_and_no_silent_run_on_the_processor():
    assert "an accelerator is required" in _with_accelerator().fault


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_an_accelerator_that_is_there_can_be_used():
    outcome = _with_accelerator()
    assert not outcome.fault and b"tensor(2., device='cuda:0')" in outcome.notebook.replace(b"\\u0027", b"'")


def test_the_peak_of_memory_and_the_processor_time_are_reported():
    outcome, _ = run("x = bytearray(300_000_000)\nimport time; time.sleep(1.2)\nsum(range(10**7))")
    assert 300 * MEGABYTE < outcome.memory < 900 * MEGABYTE
    assert 0.1 < outcome.cpu < 20
    json.dumps(outcome.memory)


def _running(mark: str) -> bool:
    for process in psutil.process_iter():
        try:
            if mark in process.cmdline():
                return True
        except psutil.Error:
            continue
    return False


def _eventually(happened, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if happened():
            return True
        time.sleep(0.2)
    return False


def test_a_kernel_whose_supervisor_is_killed_is_a_fault_of_the_machine():
    """The machine ran out of memory, say: nothing the notebook did, and so no verdict on it."""
    source = new_notebook(cells=[new_code_cell("import time; time.sleep(20)")])
    given = Task("nb", notebook_bytes(source), limits=Limits(30.0))

    def kill_supervisors() -> None:
        killed = 0
        deadline = time.monotonic() + 60
        while killed < 2 and time.monotonic() < deadline:  # it is tried a second time
            for kernel in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    if time.time() - kernel.create_time() > 1 and _keeps_a_kernel(kernel):
                        kernel.kill()
                        killed += 1
            time.sleep(0.2)

    killer = threading.Thread(target=kill_supervisors)
    killer.start()
    outcome = Outcome.from_bytes(execute(given.to_bytes()))
    killer.join()
    assert "the kernel's supervisor ended" in outcome.fault and not outcome.final


KILLED = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"


def test_a_kernel_killed_as_the_machines_memory_ran_out_is_a_fault_of_the_machine(monkeypatch):
    killings = count()
    monkeypatch.setattr(notebook_run, "out_of_memory", lambda: next(killings))
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nb = new_notebook(cells=[new_code_cell(KILLED)], metadata={"kernelspec": kernelspec})
    outcome = Outcome.from_bytes(execute(Task("nb", notebook_bytes(nb)).to_bytes()))
    assert "ran out of memory" in outcome.fault and not outcome.final


def test_a_kernel_that_kills_itself_has_only_itself_to_blame():
    outcome, (during,) = run(KILLED)
    assert error(during) == ("DeadKernelError", "the notebook's process ended") and outcome.final


def _keeps_a_kernel(process: psutil.Process) -> bool:
    """A child of the zygote with a child of its own."""
    parent = process.parent()
    zygote = "course.grading.kernels.zygote"
    is_zygote = parent is not None and zygote in " ".join(parent.cmdline())
    grand = parent.parent() if parent is not None else None
    return is_zygote and bool(process.children()) and grand is not None and zygote not in " ".join(grand.cmdline())


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_a_cold_kernel_does_not_see_the_folder_it_was_started_in(tier, tmp_path, monkeypatch):
    """Python puts that folder first on its path, and what is on the path is shown: here it is a class's."""
    if tiers.probe_tier(tier):
        pytest.skip(f"no {tier} here")
    monkeypatch.setattr("course.grading.execution.execute.strongest", lambda: tiers.Tier(tier, ()))
    monkeypatch.setattr(provisioner, "zygote_for", lambda environment: Broken(str(tmp_path / "none"), environment))
    (tmp_path / "gradebook.db").write_text("canary")
    monkeypatch.chdir(tmp_path)
    outcome, (seen,) = run(f"try: print(open({str(tmp_path / 'gradebook.db')!r}).read())\nexcept OSError: print('no')")
    assert outcome.why_cold and printed(seen) == "no\n"


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_a_class_among_the_systems_own_folders_is_not_shown(tier, monkeypatch):
    """As when an instructor's course lies in /opt, or in the environment's folder, or nbgrader's exchange in /usr."""
    if tiers.probe_tier(tier):
        pytest.skip(f"no {tier} here")
    monkeypatch.setattr("course.grading.execution.execute.strongest", lambda: tiers.Tier(tier, ()))
    with tempfile.TemporaryDirectory(dir=sys.prefix) as root:
        eve = Path(root, "submitted", "eve")
        eve.mkdir(parents=True)
        names = (
            "/shown",
            "/submitted/eve/answer",
            "/gradebook.db",
            "/exports/zip",
            "/tests/hidden",
            "/.git/HEAD",
            "/nbgrader_config.py",
            "/cache/keys/key",
            "/cache/editions/other",
        )
        for canary in (Path(f"{root}{name}") for name in names):
            canary.parent.mkdir(parents=True, exist_ok=True)
            canary.write_text("canary")
        shutil.copytree(edition := assemble("", ()), f"{root}/cache/editions/{edition.name}")  # else it is made anew
        monkeypatch.chdir(root)
        monkeypatch.setenv("COURSE_CACHE", f"{root}/cache")
        execution.assembled.cache_clear()
        look = (
            "def look(path):\n    try: return open(path).read()\n    except OSError: return 'no'\n"
            f"print([look({root!r} + name) for name in {names}])"
        )
        try:
            _, (seen, own) = run(look, "import course; print(course.__file__)")
        finally:
            execution.assembled.cache_clear()
        monkeypatch.chdir("/")
        assert printed(own).startswith(f"{root}/cache/editions/"), "what it needs of a hidden folder is there"
    told = ast.literal_eval(printed(seen))
    assert told[0] == "canary" and "canary" not in told[1:]


def test_a_kernel_has_the_key_of_its_own_topic_and_passes_over_what_belongs_to_another():
    """An answer below such a call is not lost, whichever topics were graded before."""
    calls = "course.check('softmax', 3); course.hint('softmax'); course.predict('scores_without_scaling')"
    asked = "import course, pathlib; print(*(pathlib.Path(course.__file__).parent / 'keys').iterdir(), sep='\\n')"
    _, (keys, said) = run(asked, f"import course; {calls}; print('reached')", name="03_rnn")
    assert [Path(line).name for line in printed(keys).split()] == ["rnn.key"]
    elsewhere = "This belongs to 06_self_attention. It is not run while this notebook is graded.\n"
    assert printed(said) == elsewhere * 3 + "reached\n"


def test_the_courses_checkout_is_not_shown_wherever_a_class_is_graded(monkeypatch, tmp_path):
    """It holds the tests of the hidden tests, which know right answers, and may lie among the system's own folders."""
    (tmp_path / "tests").mkdir()
    monkeypatch.chdir("/")
    monkeypatch.setattr("course.__file__", str(tmp_path / "course" / "__init__.py"))
    assert tmp_path / "tests" not in class_paths()  # as among the libraries, where others have tests
    (tmp_path / "solutions").mkdir()
    (tmp_path / "nbgrader_config.py").touch()
    assert {tmp_path / "tests", tmp_path / "solutions"} <= set(class_paths())


def test_an_accelerator_that_is_not_there_is_missed_before_anybody_is_graded(monkeypatch):
    monkeypatch.setattr(kernels, "ACCELERATOR", "True")
    kernels.demand_accelerator()
    monkeypatch.setattr(kernels, "ACCELERATOR", "False")
    with pytest.raises(Problem, match="Nothing was graded"):
        kernels.demand_accelerator()


@pytest.mark.parametrize("chosen", ["~/cache", "cache"])
def test_a_notebook_finds_the_cache_whichever_way_its_folder_is_written(chosen, tmp_path, monkeypatch):
    (tmp_path / "cache" / "corpus").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COURSE_CACHE", chosen)
    assert corpora_cache.for_students() == [tmp_path / "cache" / "corpus"]
    variables = kernels.environment(tmp_path / "home", tmp_path / "edition", None, "checkpoint")
    assert variables["COURSE_CACHE"] == str(tmp_path / "cache")


def test_a_notebook_has_a_users_name_where_the_machine_lists_none():
    _, (told,) = run("import getpass; print(getpass.getuser())")
    assert printed(told) == "student\n"
