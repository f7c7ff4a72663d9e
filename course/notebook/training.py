"""`fit`: run a student's training loop within a budget, save the weights, and record the training."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ..blocks.threads import one_thread
from ..exercise.compiled import without_compiling
from ..exercise.settings import on_a_device_that_is_there
from ..surroundings import on_colab, variable
from ..syllabus import Budget, Unknown
from .checkpoint import Unfit, load_into, read_record, save
from .colab import keep
from .curve import Curve
from .display import in_notebook, say
from .find_key import called
from .folder import folder_number
from .hide_traceback import hide_traceback
from .ingredients import ingredients
from .machine import device, seed
from .provenance import code_of
from .stopwatch import Stopwatch
from .unfinished import StoppedBy, remember

Train = Callable[[nn.Module, "Batches"], Any]
N = TypeVar("N", int, float)


class TrainFirst(RuntimeError):
    """There is no checkpoint, and training is not allowed here."""


@dataclass(frozen=True)
class Record:
    """The record of a model's training: `source` is "trained" or "checkpoint". `examples` of `asked` took `seconds`.

    `stopped_by` names the limit that ended the training. It is empty if none did.
    """

    name: str
    model: nn.Module
    losses: list[float]
    examples: int
    seconds: float
    device: str
    source: str
    asked: int = 0
    stopped_by: StoppedBy = ""

    def facts(self) -> dict[str, Any]:
        """Return all fields except the model, as plain values."""
        return {field: value for field, value in vars(self).items() if field not in ("model", "source")}

    def in_words(self, called: str = "") -> str:
        """Describe the training in a line. `called` replaces the task's name."""
        last = f", last loss {self.losses[-1]:.4g}" if self.losses else ""
        of = f" of {self.asked:,}" if self.examples < self.asked else ""
        seen = f"{self.examples:,}{of} examples in {self.seconds:.1f} s on {self.device}"
        return f"{called or self.name}: {self.source}, {seen}{last}"

    def __repr__(self) -> str:
        return f"<{self.in_words()}>"


class Batches:
    """The training batches of one `fit`: iterate over them, and `log` the loss of each. `len` is their number.

    Each batch is a tuple of tensors on the device in use. Iteration ends when the budget of examples or the time on
    `watch` is used up. In the latter case `stopped_by` names the limit.
    """

    def __init__(self, stream: Iterator[tuple[Tensor, ...]], examples: int, watch: Stopwatch, curve: Curve) -> None:
        self._watch, self._curve, self.budget_of = watch, curve, examples
        self._first = next(stream)
        self._stream = itertools.chain([self._first], stream)
        self.examples = 0
        self.stopped_by: StoppedBy = ""
        self.losses: list[float] = []
        self._unread: list[Tensor] = []

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        place = device()
        while self.examples < self.budget_of:
            if stopped_by := self._watch.stopped_by():
                self.stopped_by = stopped_by
                return
            batch = tuple(tensor.to(place) for tensor in next(self._stream))
            self.examples += len(batch[0])
            yield batch
            self._show()

    def __len__(self) -> int:
        """Return the number of batches, for learning rate schedules: the budget over the size of the first batch."""
        return math.ceil(self.budget_of / len(self._first[0]))

    def log(self, loss: Tensor | float) -> None:
        """Add a loss to the curve."""
        value = loss.detach() if isinstance(loss, Tensor) else torch.tensor(float(loss))
        self._unread.append(value)
        if len(self._unread) >= 50:  # reading waits for a GPU, so not at every step
            self.read()

    def read(self) -> None:
        """Move the logged losses to `losses`."""
        self.losses += [float(value) for value in self._unread]
        self._unread.clear()

    def _show(self) -> None:
        if self._curve.due():
            self.read()
            self._curve.draw(self.examples / self.budget_of, self.losses)


def fit(
    name: str, model: nn.Module | Callable[[], nn.Module], train: Train, variant: str = "", again: bool = False
) -> Record:
    """Train a model for the task `name` and save its weights in `checkpoints/<name>.safetensors`.

    A model for comparison is a `variant`: same batches and budget, `<name>.<variant>.safetensors`.

    `model` is a function (or class) that builds the module when called without arguments, after the seed is set, so a
    rerun gives the same model. A module is trained as it is. `train(model, batches)` is your loop.

    In your own notebook, weights from an earlier training with the same code are loaded. `again=True` trains anew.

    While a notebook is graded the checkpoint is loaded instead, unless there is none that fits the model or the
    policy is to retrain. While nbgrader validates, it is loaded or an error asks for it.

    Raises:
        KeyError: no training task has that name.
        TypeError: `name` is no string, `model` gives no `nn.Module`, or `train` is not callable.
        ValueError: `variant` cannot be part of a file's name.
        TrainFirst: under nbgrader's Validate, if there is no checkpoint that fits.
    """
    __tracebackhide__ = True  # IPython then shows only the student's lines
    with on_a_device_that_is_there() as differs, without_compiling() if _is_graded() else nullcontext():
        if differs:
            say("This machine lacks the default device that the notebook sets, so `fit` uses the CPU.")
        budget, path = budget_of(name), _checkpoint(name, variant)
        if not callable(train):
            got = type(train).__name__
            raise hide_traceback(TypeError(f"fit needs your loop, a function train(model, batches), but got a {got}"))
        seed(folder_number())
        built = _built(model).to(device())
        if _loads_checkpoint():
            try:
                return _from_checkpoint(name, built, path)
            except Unfit as unfit:
                if variable("NBGRADER_EXECUTION") == "validate":
                    first = f"First run the cell that calls fit({name!r}, …)"
                    raise hide_traceback(
                        TrainFirst(f"the model is not trained yet, because {unfit}. {first}")
                    ) from None
                say(f"{name}: {unfit}, so the model is trained again within the CPU budget")
        title = f"{name}, {variant}" if variant else name
        made_of = ingredients([model, train]) if _is_at_home() and model is not built else ""
        if made_of and not again and (record := _trained_before(name, built, path, made_of)):
            _show_again(record, title, path)
            return record
        record = _train(name, built, train, budget, title)
        try:
            code = code_of([train, model, *map(type, built.modules())])
            ended = record.examples > 0 and not record.stopped_by
            save(path, built, {**record.facts(), "code": code, "made_of": made_of if ended else ""})
            if on_colab() and not variant:
                say(keep(path))
        except OSError as error:
            say(f"{name}: the checkpoint could not be written ({error.strerror}), but the model is trained")
        return record


def _is_at_home() -> bool:
    """Return whether this is a student's own notebook, where a repeated training would cost minutes."""
    return in_notebook() and not variable("NBGRADER_EXECUTION")


def _trained_before(name: str, model: nn.Module, path: Path, made_of: str) -> Record | None:
    """Load the weights from an earlier training of the same model and loop, or return None."""
    try:
        return _from_checkpoint(name, model, path) if read_record(path).get("made_of") == made_of else None
    except Unfit:
        return None


def _show_again(record: Record, called: str, path: Path) -> None:
    Curve(called).finish(1.0, record.losses, record.in_words(called))
    say(
        f"The weights are loaded from {path.as_posix()}, because neither the model nor the loop has changed since they "
        "were trained. With `again=True`, `fit` trains anew."
    )


def _train(name: str, model: nn.Module, train: Train, budget: Budget, called: str) -> Record:
    from ..data import stream

    __tracebackhide__ = True
    place = device()
    examples = budget.cpu if place.type == "cpu" else budget.gpu
    curve = Curve(called)
    order = torch.Generator().manual_seed(folder_number())
    model.train()
    before = [parameter.detach().clone() for parameter in model.parameters() if not is_lazy(parameter)]
    watch = Stopwatch(budget, place)
    batches = Batches(stream(name, order), examples, watch, curve)
    try:
        with one_thread(place):
            train(model, batches)
    except KeyboardInterrupt as stopped:
        raise _interrupted(stopped, batches, examples)  # noqa: B904  # the same error with a new message
    batches.read()  # this waits for the GPU
    seconds = watch.seconds
    model.eval()
    how = (batches.losses, batches.examples, seconds, str(place), "trained", examples, batches.stopped_by)
    record = Record(name, model, *how)
    curve.finish(batches.examples / examples, batches.losses, record.in_words(called))
    advice = _unlogged(record) if called == name else ""  # variants use the same loop
    for worry in (remember(model, record.facts()), _worry(record, before) or advice):
        if worry:
            say(worry)
    return record


def _interrupted(stopped: KeyboardInterrupt, batches: Batches, examples: int) -> KeyboardInterrupt:
    """Return the interrupt with a message about the training, unless the grader caused it."""
    if variable("NBGRADER_EXECUTION"):
        return stopped
    stopped.args = (
        f"You interrupted the training, at this line of yours, after {batches.examples:,} of {examples:,} examples. "
        "These weights are not kept, and an earlier checkpoint stays as it was.",
    )
    return hide_traceback(stopped)


def _worry(record: Record, before: list[Tensor]) -> str:
    """Return what went wrong without an exception, or nothing. `before` are the parameters before the training."""
    after = [parameter for parameter in record.model.parameters() if not is_lazy(parameter)]
    if not record.examples:
        return "Nothing was trained, because `train` took no batch. Its second argument hands them out in a for loop."
    lost = next((k for k, loss in enumerate(record.losses, start=1) if not math.isfinite(loss)), None)
    if lost is not None:
        return (
            f"Loss {lost} of {len(record.losses)} is {record.losses[lost - 1]}. Look there or before for a division by "
            "zero, a logarithm of zero, a softmax over a row that is hidden as a whole, or steps that are too large."
        )
    if not all(bool(parameter.isfinite().all()) for parameter in after):
        return "Some of the model's parameters are no longer finite numbers. Were the steps too large?"
    if len(after) == len(before) and all(map(torch.equal, before, after)):
        return (
            "No parameter has moved. Were gradients computed, does the optimizer hold this model's parameters, and "
            "does it take its steps?"
        )
    return ""


def _unlogged(record: Record) -> str:
    """Return advice if no loss was logged, or nothing. Grading shows no curve and needs no advice."""
    if record.losses or variable("NBGRADER_EXECUTION"):
        return ""
    return "No loss was logged, so there is no curve. Call `batches.log(loss)` once for each batch."


def _from_checkpoint(name: str, model: nn.Module, path: Path) -> Record:
    facts = read_record(path)
    load_into(model, path)
    model.eval()
    losses = _numbers(facts.get("losses"), float)
    examples = sum(_numbers([facts.get("examples")], int))
    seconds = sum(_numbers([facts.get("seconds")], float))
    remember(model, facts)
    return Record(name, model, losses, examples, seconds, str(facts.get("device", "?")), "checkpoint")


def _numbers(written: Any, kind: Callable[[Any], N]) -> list[N]:
    """Return the numbers in a checkpoint's record, or none if it is damaged. The weights count all the same."""
    try:
        return [kind(number) for number in written] if isinstance(written, list) else []
    except (TypeError, ValueError, OverflowError):
        return []


def _loads_checkpoint() -> bool:
    if variable("NBGRADER_EXECUTION") == "validate":
        return True
    return _is_graded() and variable("COURSE_FIT_POLICY") in ("", "checkpoint")


def _is_graded() -> bool:
    return variable("NBGRADER_EXECUTION") == "autograde"


def budget_of(name: str) -> Budget:
    """Return the budget of a training task, or raise `Unknown` for an exercise that has none."""
    budget = called(name)[1].budget
    if budget is None:
        raise hide_traceback(Unknown(f"fit cannot train {name!r}, because it has no training budget"))
    return budget


def _checkpoint(name: str, variant: str) -> Path:
    if not isinstance(variant, str) or (variant and Path(variant).name != variant):
        raise hide_traceback(
            ValueError(f"a variant is a part of a file's name, such as 'one_head', but {variant!r} cannot be one")
        )
    return Path("checkpoints", f"{name}.{variant}.safetensors" if variant else f"{name}.safetensors")


def _built(model: nn.Module | Callable[[], nn.Module]) -> nn.Module:
    __tracebackhide__ = True
    built = model() if callable(model) and not isinstance(model, nn.Module) else model
    if not isinstance(built, nn.Module):
        raise hide_traceback(TypeError(f"fit needs an nn.Module or a function that builds one, but got {built!r:.60}"))
    return built
