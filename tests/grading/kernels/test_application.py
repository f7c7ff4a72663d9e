"""What kernels leave out when they begin changes nothing that anybody asked for."""

from __future__ import annotations

import sys

import pytest
from ipykernel import ipkernel
from ipykernel.kernelapp import IPKernelApp

from course.grading.kernels.application import Application, without_modules


def config_of(kind: type[IPKernelApp], *arguments: str) -> dict:
    app = kind()
    app.parse_command_line(["-f", "/tmp/kernel.json", *arguments])
    assert app.connection_file == "/tmp/kernel.json"
    own = {**app.config.pop("IPKernelApp", {}), **app.config.pop("Application", {})}
    return {name: dict(values) for name, values in {**app.config, "own": own}.items() if values}


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--HistoryManager.enabled=False",),
        ("--HistoryManager.hist_file=:memory:", "--HistoryManager.enabled=True"),
        ("--HistoryManager.hist_file=:memory:", "--IPythonKernel.debug_just_my_code=False"),
        ("--InlineBackend.print_figure_kwargs={'dpi': 50}", "--IPKernelApp.exec_lines=a = 1"),
        ("--debug",),
        ("--HistoryManager.enabled=False", "--cache-size=0"),
        ("--Session.key=abc", "--matplotlib", "inline"),
    ],
)
def test_a_command_line_says_what_it_says_to_ipykernel(arguments):
    assert config_of(Application, *arguments) == config_of(IPKernelApp, *arguments)


def test_modules_are_hidden_from_ipykernels_list_alone_and_come_back():
    with pytest.raises(KeyError), without_modules():
        assert ipkernel.sys.modules.copy() == {}
        assert ipkernel.sys.version_info is sys.version_info
        assert "torch" in sys.modules or "pytest" in sys.modules
        raise KeyError("whatever happens meanwhile")
    assert ipkernel.sys is sys
