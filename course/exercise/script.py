"""Cases and scripts: requests to an answer, step by step, as data that the runner executes.

`call`, `draws`, `build`, `given` and `given_model` begin a case. Its methods add steps and laws. A case contains no
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
"""rtol = atol in float64. float32 constants in a float64 computation stay within it."""
GRADIENTS_OF = "gradients of "
"""Prefix of an output's name that holds gradients of the output named after it."""
FLOAT32_TOLERANCE = 1e-4
"""rtol = atol where an input is float32: a few hundred units in the last place, for any order of summation."""


@dataclass(frozen=True)
class Step:
    """One request. `on` names the object that is called, `into` the name under which the result is stored."""

    verb: Verb
    into: str
    on: str = "answer"
    method: str = ""
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def to_plain(self) -> dict[str, Any]:
        """Return a dict of values that `values.encode` accepts, without empty fields."""
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
        """Return the step from the output of `to_plain`."""
        return cls(**values)


def are_gradients(output: str) -> bool:
    """Return whether an output of that name holds gradients of another one."""
    return output.startswith(GRADIENTS_OF)


@dataclass(frozen=True, eq=False)
class Script:
    """The steps of one case, and the calls to watch for while they run. Compared by identity.

    `shown` are the positions, among several results of a call, of those that are only for display.
    """

    steps: tuple[Step, ...]
    watch: tuple[str, ...] = ()
    seed: int = 0
    shown: tuple[int, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """Return a dict of values that `values.encode` accepts."""
        return {
            "steps": [step.to_plain() for step in self.steps],
            "watch": list(self.watch),
            "seed": self.seed,
            "shown": list(self.shown),
        }

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> Script:
        """Return the script from the output of `to_plain`."""
        steps = tuple(Step.from_plain(step) for step in values["steps"])
        return cls(steps, tuple(values["watch"]), int(values["seed"]), tuple(values["shown"]))


@dataclass(frozen=True)
class LawUse:
    """A law by name with its parameters, which are plain values so that a key can hold them."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def but(self, changed: Mapping[str, Any]) -> LawUse:
        """Return a copy in which those parameters that are named in `changed` have these values."""
        return replace(self, params={name: changed.get(name, value) for name, value in self.params.items()})


@dataclass(frozen=True)
class Case:
    """One test of an answer: a script, and how its recorded outputs are judged.

    With `values`, the outputs are compared with the reference's, or a function `by` of them from `compared_by`. All
    `laws` must hold as well. `raises` names the error that a right answer raises. `tolerance` is rtol = atol, and None
    stands for the exercise's. `again` means that the case judges the outputs of the case before. Without `autograd`,
    steps added later run under `torch.no_grad()`. The case earns nothing unless the cases with the titles in `needs`
    pass. `shown` is the exercise's.
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
        """Return the script that is sent to the runner."""
        return Script(self.steps, tuple(watch), self.seed, self.shown)

    def examines(self, name: str) -> bool:
        """Return whether a step uses the result stored under `name`, as its target or as an argument."""
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
        """Call `on` (or its `method`) and store the result as `into`.

        Of several results, the first is stored so, and the others under the names in `carries`. Later steps pass them
        on as `Ref(name)`. They may be anything, such as a cache, and are neither recorded nor compared.
        """
        settings = {"carries": list(carries)} if carries else {}
        return self._then(Step("call", into, on, method or "", args, kwargs, settings))

    def fill(self, seed: int | Any, on: str = "model", scale: float = 0.5) -> Case:
        """Overwrite every parameter of `on`, in order, with noise of standard deviation `scale` from `seed`."""
        number = seed if isinstance(seed, int) else seed.seed()
        return self._then(Step("fill", f"fill of {on}", on, args=(number, scale)))

    def load(self, state: Mapping[str, Tensor], on: str = "model") -> Case:
        """Copy tensors into the parameters and buffers of `on` by their names in its `state_dict()`.

        They are sent as one tensor, because sending a hundred small ones takes many times as long.
        """
        shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
        numbers = torch.cat([tensor.flatten() for tensor in state.values()])
        return self._then(Step("load", f"load of {on}", on, args=(shapes, numbers)))

    def gradients(
        self, of: str = "out", wrt: Literal["arguments", "parameters"] = "arguments", on: str = "model"
    ) -> Case:
        """Compute gradients of a random projection of `of`, for its call's float tensors or for `on`'s parameters."""
        return self._then(Step("gradients", f"{GRADIENTS_OF}{of}", on, args=(of, wrt)))

    def map(
        self, rows: Sequence[tuple[Any, ...]] | Tensor, on: str = "model", method: str | None = None, into: str = "out"
    ) -> Case:
        """Call once for each tuple of arguments, in order. Tensor results are stacked along a new first axis.

        A tensor's rows are one argument each. Thousands of rows cost little more than one.
        """
        return self._then(Step("map", into, on, method or "", args=(rows if isinstance(rows, Tensor) else list(rows),)))

    def draws(self, n: int, *args: Any, on: str = "answer", method: str | None = None, into: str = "out") -> Case:
        """Call `n` times with the same arguments, which include a generator that advances. Results are stacked."""
        return self._then(Step("draws", into, on, method or "", args, settings={"n": n}))

    def unroll(self, *args: Any, steps: int, on: str = "model", into: str = "out") -> Case:
        """Generate greedily: append the likeliest next token of `on(*args)` to the last argument, `steps` times.

        The last argument is the ids so far (B, T), and the model returns scores (B, T, V) for the token after each. The
        `steps` new tokens are stored, (B, steps), without stopping at the end of a sentence.
        """
        return self._then(Step("unroll", into, on, "", args, settings={"steps": steps}))

    def read(self, attribute: str, on: str = "model", into: str | None = None) -> Case:
        """Record an attribute of `on`, which may be nested, as in `"base.weight"`."""
        return self._then(Step("read", into or attribute, on, attribute))

    def train(self, on: str = "model") -> Case:
        """Put a module into training mode (by default the runner puts it into evaluation mode)."""
        return self._then(Step("train", f"mode of {on}", on))

    def learn(self, *args: Any, method: str, on: str = "model", into: str = "out", **kwargs: Any) -> Case:
        """Call a method that trains, with autograd even if the case disables it, and store the result as `into`."""
        return replace(self, steps=(*self.steps, Step("call", into, on, method, args, kwargs)))

    def make(self, described: StandIn, into: str = "model") -> Case:
        """Build a stand-in and store it as `into`. Later steps may pass it on as `Ref(into)`, call it and read it."""
        return self._then(Step("make", into, args=(described,)))

    def learning(self, on: str = "model", into: str = "what learns") -> Case:
        """Record which parameters of a module require a gradient: their names, and the size of each."""
        return self._then(Step("learning", into, on))

    def held(self, on: str = "model", into: str = "bytes held") -> Case:
        """Record how many bytes of tensors an object holds, in any attribute. Laws judge the number."""
        return self._then(Step("held", into, on))

    def counts_operations(self, into: str = "operations") -> Case:
        """Record the number of torch operations in the last call, for a law, because right answers differ in it."""
        *before, last = self.steps
        return replace(self, steps=(*before, replace(last, settings={**last.settings, "operations": into})))

    def counts_memory(self, largest: str = "largest tensor", at_once: str = "numbers at once") -> Case:
        """Record how many numbers the last call's largest tensor had, and all that existed at once, for laws.

        Hand over no float that requires a gradient (`grad=False`), because a graph keeps what the call has made.
        """
        *before, last = self.steps
        return replace(self, steps=(*before, replace(last, settings={**last.settings, "memory": [largest, at_once]})))

    # -- how it is judged ----------------------------------------------------------------------------------------

    def law(self, name: str, **params: Any) -> Case:
        """Add a law of `exercise.laws` by name."""
        return replace(self, laws=(*self.laws, LawUse(name, params)))

    def shows(self, law: str, *, full: float, called: str) -> Case:
        """Report what a law of this public case measured, its bar, and the bar of full marks, `full`.

        `called` names the quantity, such as "accuracy". The notebook states the bar `full`, so reports may show it.

        Raises:
            ValueError: the case has no such law.
        """
        if all(use.name != law for use in self.laws):
            raise ValueError(f"the case {self.title!r} has no law {law!r} to show")
        shown = {"full": full, "called": called}
        laws = (replace(use, params={**use.params, **shown}) if use.name == law else use for use in self.laws)
        return replace(self, laws=tuple(laws))

    def laws_only(self) -> Case:
        """Let only laws decide, because right answers differ in value."""
        return replace(self, values=False)

    def compare_by(self, name: str) -> Case:
        """Compare a function of the result, because right results differ. `name` is its name in `exercise.compared_by`.

        Raises:
            ValueError: there is no such function.
        """
        if name not in COMPARED_BY:
            raise ValueError(f"nothing is compared by {name!r}. There are {', '.join(sorted(COMPARED_BY))}")
        return replace(self, by=name)

    def counts_with(self, *titles: str) -> Case:
        """Earn points only if the cases with these titles pass. For cases that an answer passes by doing nothing."""
        return replace(self, needs=titles)

    def without_autograd(self) -> Case:
        """Run every step under `torch.no_grad()`."""
        bare = replace(self, steps=(), autograd=False)
        for step in self.steps:
            bare = bare._then(step)
        return bare

    def judged_again(self, title: str, *, weight: float = 1.0, **changed: Any) -> Case:
        """Return another case for the same outputs. Yield it right after this one, so that the answer runs once.

        It has the laws that this case has so far, with the parameters in `changed` replaced where a law has them.
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
    """Make a case that calls the answer once.

    The gradients with respect to every float tensor among the arguments are compared as well, unless `grad` is False or
    the reference is not differentiable.
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
    """Make a case that calls the answer `n` times with one generator among `args`. Only laws judge it."""
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
    """Make a case that creates an object from the student's class (or function) and names it "model"."""
    case = Case(title, (), public, weight, tolerance, raises=raises)
    return case.call(*args, on="answer", into="model", **kwargs)


def given_model(title: str, *, public: bool = False, weight: float = 1.0, tolerance: float | None = None) -> Case:
    """Make a case whose answer itself is the "model", trained by the student and evaluated without autograd."""
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
    """Make a case that begins with stand-ins, stored under their names: a layer or a model for the answer to use."""
    case = Case(title, (), public, weight, tolerance, raises=raises)
    for name, described in things.items():
        case = case.make(described, into=name)
    return case


def noncontiguous(tensor: Tensor) -> Tensor:
    """Copy the values into noncontiguous memory: the first axis runs fastest, and a vector has a stride of two.

    Then no two axes can be merged by a view.
    """
    if tensor.dim() < 2:
        return torch.stack([tensor, tensor], -1)[:, 0]
    return tensor.movedim(0, -1).contiguous().movedim(-1, 0)


def tracks_gradients(case: Case) -> bool:
    """Return whether the case compares gradients with respect to arguments."""
    return any(step.verb == "gradients" and step.args[1] == "arguments" for step in case.steps)


def without_gradients(case: Case) -> Case:
    """Return the case for a reference that is not differentiable: no input requires a gradient."""
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
