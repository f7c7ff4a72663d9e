"""Cases and scripts: what is asked of an answer, step by step, as data that the runner executes.

`call`, `draws`, `build`, `given` and `given_model` begin a case; its methods add steps and laws. Nothing in a case is
code, so it can be stored in an answer key and sent to a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from torch import Tensor

from .compared_by import COMPARED_BY
from .nested import leaves, mapped
from .values import Ref, StandIn

Verb = Literal[
    "call", "fill", "load", "gradients", "map", "draws", "unroll", "read", "train", "make", "learning", "held"
]
TOLERANCE = 1e-6
"""rtol = atol in float64; float32 constants in a float64 computation stay within it."""
GRADIENTS_OF = "gradients of "
"""How the name of an output begins that holds gradients of the output it goes on with."""
FLOAT32_TOLERANCE = 1e-4
"""rtol = atol where an input is float32: a few hundred units in the last place, for any order of summation."""


@dataclass(frozen=True)
class Step:
    """One request. `on` names whose method is called, `into` the name under which the result is kept."""

    verb: Verb
    into: str
    on: str = "answer"
    method: str = ""
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def to_plain(self) -> dict[str, Any]:
        """A dict of values that `values.encode` carries; what is empty is left out."""
        values = {
            "verb": self.verb,
            "into": self.into,
            "on": self.on,
            "method": self.method,
            "args": tuple(self.args),
            "kwargs": dict(self.kwargs),
            "settings": dict(self.settings),
        }
        return {name: value for name, value in values.items() if value}

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> Step:
        """The inverse of `to_plain`."""
        return cls(**values)


def are_gradients(output: str) -> bool:
    """Return whether an output of that name holds gradients of another one."""
    return output.startswith(GRADIENTS_OF)


@dataclass(frozen=True, eq=False)
class Script:
    """The steps of one case, and the calls to watch for while they run. Equals itself only.

    `shown` are the places, among several results of a call, of those that are there to be looked at.
    """

    steps: tuple[Step, ...]
    watch: tuple[str, ...] = ()
    seed: int = 0
    shown: tuple[int, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """A dict of values that `values.encode` carries."""
        return {
            "steps": [step.to_plain() for step in self.steps],
            "watch": list(self.watch),
            "seed": self.seed,
            "shown": list(self.shown),
        }

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> Script:
        """The inverse of `to_plain`."""
        steps = tuple(Step.from_plain(step) for step in values["steps"])
        return cls(steps, tuple(values["watch"]), int(values["seed"]), tuple(values["shown"]))


@dataclass(frozen=True)
class LawUse:
    """A law by name, and what it is applied to: plain values only, so that a key can hold it."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def but(self, changed: Mapping[str, Any]) -> LawUse:
        """The same with other values for those of its parameters that `changed` names."""
        return replace(self, params={name: changed.get(name, value) for name, value in self.params.items()})


@dataclass(frozen=True)
class Case:
    """One examination of an answer: a script, and how its recorded outputs are judged.

    `values` compares them with the reference's, `by` a function of them that `compared_by` names; `laws` must hold
    besides. `raises` names the error a right answer raises. `tolerance` is rtol = atol; None takes the exercise's.
    `again` has the steps of the case before, and judges what came of them. Without `autograd`, the steps that are added
    run under `torch.no_grad()`. `needs` are the titles of cases without which this one earns nothing; `shown` is the
    exercise's.
    """

    title: str
    steps: tuple[Step, ...]
    public: bool = False
    weight: float = 1.0
    tolerance: float | None = None
    values: bool = True
    raises: str = ""
    laws: tuple[LawUse, ...] = ()
    seed: int = 0
    again: bool = False
    autograd: bool = True
    needs: tuple[str, ...] = ()
    shown: tuple[int, ...] = ()
    by: str = ""

    def script(self, watch: Sequence[str] = ()) -> Script:
        """What the runner is sent."""
        return Script(self.steps, tuple(watch), self.seed, self.shown)

    def examines(self, name: str) -> bool:
        """Whether a step asks something of what another one left under `name`, or hands it over."""
        if any(step.on == name != step.into for step in self.steps):
            return True
        handed = leaves([[step.args, step.kwargs] for step in self.steps])
        return any(leaf == Ref(name) for leaf in handed if isinstance(leaf, Ref))

    # -- further steps -------------------------------------------------------------------------------------------

    def call(
        self,
        *args: Any,
        on: str = "model",
        method: str | None = None,
        into: str = "out",
        carries: Sequence[str] = (),
        **kwargs: Any,
    ) -> Case:
        """Calls `on` (or its `method`) and keeps the result as `into`.

        Of several results, the first is kept so, and the others under the names that `carries` lists. Later steps hand
        them over as `Ref(name)`. They may be anything, a cache say: they are neither recorded nor compared.
        """
        settings = {"carries": list(carries)} if carries else {}
        return self._then(Step("call", into, on, method or "", args, kwargs, settings))

    def fill(self, seed: int | Any, on: str = "model", scale: float = 0.5) -> Case:
        """Overwrites every parameter of `on`, in order, with the judge's noise of standard deviation `scale`."""
        number = seed if isinstance(seed, int) else seed.seed()
        return self._then(Step("fill", f"fill of {on}", on, args=(number, scale)))

    def load(self, state: Mapping[str, Tensor], on: str = "model") -> Case:
        """Copies tensors into the parameters and buffers of `on` by their names in its `state_dict()`.

        They travel as one, because a hundred small ones take many times as long.
        """
        shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
        numbers = torch.cat([tensor.flatten() for tensor in state.values()])
        return self._then(Step("load", f"load of {on}", on, args=(shapes, numbers)))

    def gradients(
        self, of: str = "out", wrt: Literal["arguments", "parameters"] = "arguments", on: str = "model"
    ) -> Case:
        """Gradients of a fixed random projection of `of`: to its call's float tensors, or to `on`'s parameters."""
        return self._then(Step("gradients", f"{GRADIENTS_OF}{of}", on, args=(of, wrt)))

    def map(
        self, rows: Sequence[tuple[Any, ...]] | Tensor, on: str = "model", method: str | None = None, into: str = "out"
    ) -> Case:
        """Calls once for each tuple of arguments, in order; tensor results are stacked along a new first axis.

        A tensor's rows are one argument each: thousands cost little more than one.
        """
        return self._then(Step("map", into, on, method or "", args=(rows if isinstance(rows, Tensor) else list(rows),)))

    def draws(self, n: int, *args: Any, on: str = "answer", method: str | None = None, into: str = "out") -> Case:
        """Calls `n` times with the same arguments, a generator going on from call to call; results are stacked."""
        return self._then(Step("draws", into, on, method or "", args, settings={"n": n}))

    def unroll(self, *args: Any, steps: int, on: str = "model", into: str = "out") -> Case:
        """Lets a model continue: the likeliest last word of `on(*args)` is added to the last argument, `steps` times.

        The last argument is what has been said, ids (B, T); the model gives scores (B, T, V) for the word after each.
        Kept are the `steps` new words, (B, steps): nothing is known here of where a sentence ends.
        """
        return self._then(Step("unroll", into, on, "", args, settings={"steps": steps}))

    def read(self, attribute: str, on: str = "model", into: str | None = None) -> Case:
        """Records an attribute of `on`, or of what it holds: `"base.weight"`."""
        return self._then(Step("read", into or attribute, on, attribute))

    def train(self, on: str = "model") -> Case:
        """Puts a module into training mode (the runner otherwise evaluates)."""
        return self._then(Step("train", f"mode of {on}", on))

    def learn(self, *args: Any, method: str, on: str = "model", into: str = "out", **kwargs: Any) -> Case:
        """Calls a method that trains, with autograd even where the case does without; the result is kept as `into`."""
        return replace(self, steps=(*self.steps, Step("call", into, on, method, args, kwargs)))

    def make(self, described: StandIn, into: str = "model") -> Case:
        """Builds a stand-in and keeps it as `into`: later steps hand it over as `Ref(into)`, call it, and read it."""
        return self._then(Step("make", into, args=(described,)))

    def learning(self, on: str = "model", into: str = "what learns") -> Case:
        """Records what of a module asks for a gradient: the parameters' names, and how many numbers each holds."""
        return self._then(Step("learning", into, on))

    def held(self, on: str = "model", into: str = "bytes held") -> Case:
        """Records how many bytes of tensors an object holds, wherever it keeps them. Laws judge the number."""
        return self._then(Step("held", into, on))

    def counts_operations(self, into: str = "operations") -> Case:
        """Records beside the last call how many operations of torch it took: for a law, since right answers differ."""
        *before, last = self.steps
        return replace(self, steps=(*before, replace(last, settings={**last.settings, "operations": into})))

    # -- how it is judged ----------------------------------------------------------------------------------------

    def law(self, name: str, **params: Any) -> Case:
        """Adds a law of `exercise.laws` by name."""
        return replace(self, laws=(*self.laws, LawUse(name, params)))

    def shows(self, law: str, *, full: float, called: str) -> Case:
        """Has reports show what a law of this public case measured, its bar, and the bar of full marks, `full`.

        `called` says what is measured: "accuracy". `full` is a bar that the notebook tells: no secret is given away.

        Raises:
            ValueError: the case has no such law.
        """
        if all(use.name != law for use in self.laws):
            raise ValueError(f"the case {self.title!r} has no law {law!r} to show")
        shown = {"full": full, "called": called}
        laws = (replace(use, params={**use.params, **shown}) if use.name == law else use for use in self.laws)
        return replace(self, laws=tuple(laws))

    def laws_only(self) -> Case:
        """Right answers differ in value here: only the laws decide."""
        return replace(self, values=False)

    def compare_by(self, name: str) -> Case:
        """Compares a function of the result, as right results differ, by its name in `exercise.compared_by`.

        Raises:
            ValueError: there is no such function.
        """
        if name not in COMPARED_BY:
            raise ValueError(f"nothing is compared by {name!r}. There are {', '.join(sorted(COMPARED_BY))}")
        return replace(self, by=name)

    def counts_with(self, *titles: str) -> Case:
        """Earns only where the cases of these titles pass, too: for what an answer that computes nothing gets right."""
        return replace(self, needs=titles)

    def without_autograd(self) -> Case:
        """Runs every step under `torch.no_grad()`."""
        bare = replace(self, steps=(), autograd=False)
        for step in self.steps:
            bare = bare._then(step)
        return bare

    def judged_again(self, title: str, *, weight: float = 1.0, **changed: Any) -> Case:
        """A case for the same outputs, to be yielded right after this one: an answer is asked once for both.

        It has the laws that this one has by now; those with parameters named in `changed` get these instead.
        """
        return replace(self, title=title, weight=weight, laws=tuple(use.but(changed) for use in self.laws), again=True)

    def _then(self, step: Step) -> Case:
        if not self.autograd:
            step = replace(step, settings={**step.settings, "no_grad": True})
        return replace(self, steps=(*self.steps, step))


def call(
    title: str,
    *args: Any,
    public: bool = False,
    weight: float = 1.0,
    grad: bool | None = None,
    tolerance: float | None = None,
    raises: str = "",
    **kwargs: Any,
) -> Case:
    """A case that calls the answer once.

    Unless `grad` is False or the reference is not differentiable, the gradients with respect to every float tensor
    among the arguments are compared as well.
    """
    if tolerance is None and any(map(_is_float32, leaves([args, kwargs]))):
        tolerance = FLOAT32_TOLERANCE
    case = Case(title, (), public, weight, tolerance, raises=raises)
    if grad is False or raises or not any(map(_is_float, leaves([args, kwargs]))):
        return case.call(*args, on="answer", **kwargs)
    tracked = mapped(_tracked, args)
    named = {name: mapped(_tracked, value) for name, value in kwargs.items()}
    return case.call(*tracked, on="answer", **named).gradients()


def draws(
    title: str, n: int, *args: Any, public: bool = False, weight: float = 1.0, tolerance: float | None = None
) -> Case:
    """A case that calls the answer `n` times with one generator among `args`; only laws judge it."""
    return Case(title, (), public, weight, tolerance, values=False).draws(n, *args)


def build(
    title: str,
    *args: Any,
    public: bool = False,
    weight: float = 1.0,
    tolerance: float | None = None,
    raises: str = "",
    **kwargs: Any,
) -> Case:
    """A case that makes an object from the student's class (or function) and calls it "model"."""
    case = Case(title, (), public, weight, tolerance, raises=raises)
    return case.call(*args, on="answer", into="model", **kwargs)


def given_model(title: str, *, public: bool = False, weight: float = 1.0, tolerance: float | None = None) -> Case:
    """A case whose answer is itself the "model", built and trained by the student, and evaluated without autograd."""
    return Case(title, (), public, weight, tolerance, autograd=False)


def given(
    title: str,
    *,
    public: bool = False,
    weight: float = 1.0,
    tolerance: float | None = None,
    raises: str = "",
    **things: StandIn,
) -> Case:
    """A case that begins with stand-ins, kept under their names: a layer or a model that the answer is to work on."""
    case = Case(title, (), public, weight, tolerance, raises=raises)
    for name, described in things.items():
        case = case.make(described, into=name)
    return case


def noncontiguous(tensor: Tensor) -> Tensor:
    """The same values in memory that is not contiguous: the first axis runs fastest; of a vector, every second place.

    So no two axes can be seen as one.
    """
    if tensor.dim() < 2:
        return torch.stack([tensor, tensor], -1)[:, 0]
    return tensor.movedim(0, -1).contiguous().movedim(-1, 0)


def tracks_gradients(case: Case) -> bool:
    """Whether the case compares gradients with respect to arguments."""
    return any(step.verb == "gradients" and step.args[1] == "arguments" for step in case.steps)


def without_gradients(case: Case) -> Case:
    """The same case for a reference that is not differentiable: no input asks for a gradient."""
    steps = []
    for step in case.steps:
        if step.verb == "gradients" and step.args[1] == "arguments":
            continue
        kwargs = {name: mapped(_untracked, value) for name, value in step.kwargs.items()}
        steps.append(replace(step, args=mapped(_untracked, step.args), kwargs=kwargs))
    return replace(case, steps=tuple(steps))


def _is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def _is_float32(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype == torch.float32


def _tracked(value: Any) -> Any:
    return value.detach().requires_grad_() if _is_float(value) else value


def _untracked(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value


__all__ = [
    "Case",
    "LawUse",
    "Ref",
    "Script",
    "Step",
    "build",
    "call",
    "draws",
    "given",
    "given_model",
    "noncontiguous",
]
