"""A real kernel under Landlock, refused calls, limits and without capabilities still is a kernel."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client import BlockingKernelClient
from jupyter_client.connect import write_connection_file

from . import confined_kernel
from .child import needs_landlock, system

pytestmark = needs_landlock()


@pytest.fixture(scope="module")
def kernel() -> Iterator[BlockingKernelClient]:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # short: a socket's address has 107 letters at most
        home = Path(folder, "home")
        home.mkdir()
        Path(folder, "secret").write_text("hidden")
        connection, _ = write_connection_file(str(home / "k.json"), transport="ipc", ip=str(home / "s"), key=b"key")
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH")}
        told = {"HOME": str(home), "TMPDIR": str(home), "IPYTHONDIR": str(home), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, confined_kernel.__file__, connection, str(home), *map(str, system())]
        root = str(Path(confined_kernel.__file__).parents[3])
        told["PYTHONPATH"] = os.pathsep.join(filter(None, [root, kept.get("PYTHONPATH")]))
        process = subprocess.Popen(command, env=kept | told, cwd=home)
        client = BlockingKernelClient(connection_file=connection)
        client.load_connection_file()
        try:
            _wait_for_sockets(process, home)
            client.start_channels()
            client.wait_for_ready(timeout=60)
            yield client
        finally:
            client.stop_channels()
            process.kill()
            process.wait()


def _wait_for_sockets(process: subprocess.Popen[bytes], home: Path) -> None:
    """A client that knocks before the kernel has imported torch takes it for dead."""
    patience = time.monotonic() + 120
    while len(list(home.glob("s-*"))) < 5:
        assert process.poll() is None, f"the kernel ended with status {process.returncode}"
        assert time.monotonic() < patience, "the kernel did not come up"
        time.sleep(0.05)


def _run(kernel: BlockingKernelClient, code: str) -> str:
    """What a cell prints, or its error."""
    said: list[str] = []

    def hear(message: dict) -> None:
        content = message["content"]
        if message["msg_type"] == "stream":
            said.append(content["text"])
        elif message["msg_type"] == "error":
            said.append(f"{content['ename']}: {content['evalue']}")

    kernel.execute_interactive(code, timeout=60, output_hook=hear)
    return "".join(said).strip()


def test_prints_and_computes(kernel: BlockingKernelClient) -> None:
    code = "import torch; x = torch.ones(3, 5, requires_grad=True); (x @ x.T).sum().backward(); print(x.grad.sum())"
    assert _run(kernel, code) == "tensor(90.)"


def test_imports_what_notebooks_import(kernel: BlockingKernelClient) -> None:
    code = """
        import einops, numpy, torch
        import matplotlib; matplotlib.use("agg")
        import matplotlib.pyplot as plt
        from sklearn.decomposition import PCA
        import datasets
        plt.plot([1, 2]); plt.savefig("figure.png"); plt.close()
        rows = datasets.Dataset.from_dict({"a": [1, 2, 3]}).map(lambda row: {"b": row["a"] + 1})
        rows.save_to_disk("rows")
        print(sum(datasets.load_from_disk("rows")["b"]), torch.nn.Linear(2, 2)(torch.ones(1, 2)).shape)
    """
    assert _run(kernel, "\n".join(map(str.strip, code.splitlines()))).endswith("9 torch.Size([1, 2])")


def test_threads_train(kernel: BlockingKernelClient) -> None:
    code = "torch.set_num_threads(2); print((torch.ones(500, 500) @ torch.ones(500, 500)).mean().item())"
    assert _run(kernel, code) == "500.0"


def test_output_of_processes_it_starts_arrives(kernel: BlockingKernelClient) -> None:
    piped = "import subprocess; print(subprocess.check_output(['echo', 'started'], text=True))"
    assert _run(kernel, piped) == "started"
    forked = "import os\nif not os.fork():\n    print('forked', flush=True)\n    os._exit(0)\nos.wait()\nprint('both')"
    heard = _run(kernel, forked) + _run(kernel, "import time; time.sleep(0.5)")
    assert "both" in heard
    assert "forked" in heard


def test_shell_commands_need_no_terminal(kernel: BlockingKernelClient) -> None:
    assert _run(kernel, "!echo out; echo err >&2; exit 3\nprint(_exit_code)").split() == ["out", "err", "3"]


def test_is_confined(kernel: BlockingKernelClient) -> None:
    assert _run(kernel, "print(open('../secret').read())").startswith("PermissionError")
    assert _run(kernel, "import socket; socket.socket()").startswith("PermissionError")
    assert _run(kernel, "import os; os.kill(os.getppid(), 0)").startswith("PermissionError")
    assert _run(kernel, "try: b'x' * 2**33\nexcept MemoryError: print('MemoryError')") == "MemoryError"
    status = _run(kernel, "print(open('/proc/self/status').read())")
    assert "CapEff:\t0000000000000000" in status
    assert "Seccomp:\t2" in status


def test_an_error_is_an_error(kernel: BlockingKernelClient) -> None:
    assert _run(kernel, "1 / 0") == "ZeroDivisionError: division by zero"
