"""References make every tensor where their inputs are, tried without an accelerator.

Once the inputs are on `meta`, where no value can be read, and no tensor may be made elsewhere. Once they are on the CPU
and `meta` is the default device, and no tensor may be made there. Each holds what the other cannot see: the first a
`.cpu()`, the second whatever reads values.
"""

from __future__ import annotations

import copy
import inspect
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from course.exercise.runner import run
from course.hidden import exercises
from course.syllabus import OURS
from tests.reference.test_devices import moved

EXERCISES = {e.name: e for topic in OURS for e in exercises(topic) if not e.name.endswith("_task")}
NO_TENSORS = {
    *("count_ngrams", "build_vocab", "bag_of_words", "lstm_parameters", "attention_cost", "crossover_length"),
    *("multi_head_parameters", "sinusoidal", "shift_matrix", "alibi_bias", "causal_mask", "warmup_schedule"),
    *("lora_parameters", "order_properties", "count_pairs", "merge_pair", "train_bpe", "bpe_encode", "bpe_decode"),
    *("wordpiece_encode", "eliza", "receptive_field", "ctc_collapse", "decoder_parameters", "chat_ids"),
    *("next_sentence_pairs", "span_corrupt", "step_time", "window_mask", "wilson_interval"),
    *("extract_answer", "majority_vote", "pass_at_k"),
}
"""Exercises whose reference is given none, so that it makes what it makes on the default device."""
NOT_ON_META = {
    *("transition_matrix", "perplexity", "clip_grad_norm", "ElmanClassifier", "GatedClassifier", "AttentionSeq2Seq"),
    *("alignment_error_rate", "padding_mask", "masked_cross_entropy", "architecture_masks", "label_smoothing_loss"),
    *("accept_draft", "calibration_error", "choose_by_likelihood", "control_labels", "rollout"),
    *("bits_per_byte", "fit_ar", "stretch", "insert_patches", "pretraining_loss"),
    *("sample_text", "generate", "scheduled_inputs", "mlm_corrupt", "negative_samples"),  # with a generator
    *(
        "run_bidirectional",
        "is_permutation_equivariant",
        "leaks_future",
        "decode_greedy",
        "decode_beam",
        "generate_text",
    ),  # a function
}
"""Exercises whose reference reads values, or is given a generator or a function that lives on the CPU."""
MAKES_ITS_OWN = {"NGramModel", "fit_power_law"}
"""Tables of Python's numbers: their tensors are made where all are made."""


ENOUGH = 6
"""So many calls of one function are looked at."""


class Made(TorchDispatchMode):
    """Notes each tensor that is made on `forbidden`. One without axes may be there: it goes with any other."""

    def __init__(self, forbidden: str) -> None:
        super().__init__()
        self.forbidden, self.found = forbidden, list[str]()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(made):
            if isinstance(tensor, Tensor) and tensor.ndim and tensor.device.type == self.forbidden:
                self.found.append(f"{func}: {tuple(tensor.shape)}")
        return made


class OnTheCpu:
    """A function of the judge's, which makes its tensors as ever."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with torch.device("cpu"):
            return self.function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)


def made_on_the_default_device(function: Callable[..., Any], args: Any) -> list[str]:
    """What `function` makes on the default device, though its arguments `(args, kwargs)` are elsewhere."""

    def given(value: Any) -> Any:
        return OnTheCpu(value) if callable(value) and not isinstance(value, nn.Module) else copy.deepcopy(value)

    args, kwargs = tree_map(given, args)
    with torch.device("meta"), Made("meta") as made:
        function(*args, **kwargs)
    return made.found


def made_off_meta(function: Callable[..., Any], args: Any) -> list[str]:
    """What `function` makes on the CPU of arguments on `meta`."""
    args, kwargs = moved(copy.deepcopy(args), "meta")
    with Made("cpu") as made:
        function(*args, **kwargs)
    return made.found


Examine = Callable[[Callable[..., Any], Any], list[str]]


def watched(answer: Callable[..., Any], examine: Examine, found: list[list[str]]) -> Callable[..., Any]:
    """`answer`; of its first calls with tensors, and of its modules' methods, what `examine` finds is `found`."""
    asked: Counter[Callable[..., Any]] = Counter()

    def look(function: Callable[..., Any], given: Any) -> None:
        asked[function] += 1
        if asked[function] <= ENOUGH:
            found.append(examine(function, given))

    def called(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(value, Tensor | nn.Module) for value in tree_leaves((args, kwargs))):
            look(answer, (args, kwargs))
        result = answer(*args, **kwargs)
        return with_methods(result) if inspect.isclass(answer) else result

    def with_methods(module: nn.Module) -> nn.Module:
        own = [vars(kind) for kind in reversed(type(module).__mro__) if kind.__module__.startswith("course.reference")]
        methods = {name: m for names in own for name, m in names.items() if inspect.isroutine(m) and name[0] != "_"}
        for name, method in methods.items():
            setattr(module, name, watched_method(module, method, set(methods)))
        return module

    def watched_method(module: nn.Module, method: Callable[..., Any], methods: set[str]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            bare = copy.copy(module)
            bare.__dict__ = {name: value for name, value in vars(module).items() if name not in methods}
            look(method, ((bare, *args), kwargs))
            return method(bare, *args, **kwargs)

        return called

    return called


def found_by(examine: Examine, name: str) -> list[list[str]]:
    """What is found in each call of the public cases that is to succeed."""
    exercise, found = EXERCISES[name], list[list[str]]()
    answer = watched(exercise.reference, examine, found)
    for case in exercise.cases(public_only=True):
        recording = run(case.script(), answer)
        assert recording.raised is None or case.raises, f"{case.title}: {recording.raised}"
    return found


@pytest.mark.parametrize("name", sorted(EXERCISES.keys() - NO_TENSORS - MAKES_ITS_OWN))
def test_nothing_is_made_on_the_default_device(name):
    found = found_by(made_on_the_default_device, name)
    assert found and not any(found)


@pytest.mark.parametrize("name", sorted(EXERCISES.keys() - NO_TENSORS - MAKES_ITS_OWN - NOT_ON_META))
def test_nothing_is_made_off_meta(name):
    found = found_by(made_off_meta, name)
    assert found and not any(found)


@pytest.mark.parametrize(
    ("wrong", "examine"),
    [
        (lambda x: (x, torch.arange(3)), made_on_the_default_device),
        (lambda x: (x, torch.ones(3)), made_off_meta),
        (lambda x: torch.empty_like(x, device="cpu"), made_off_meta),
    ],
)
def test_what_is_made_elsewhere_is_noticed(wrong, examine):
    assert examine(wrong, ((torch.zeros(2, 3),), {}))
