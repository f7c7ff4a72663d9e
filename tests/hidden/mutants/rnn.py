"""Wrong answers to topic 03 that the hidden tests must notice, beyond the misconceptions they know by name."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from course.hidden.rnn import _Elman, _walk_back, _window
from course.reference import rnn as reference

# -- one step ----------------------------------------------------------------------------------------------------------


def only_the_state(x, h, W_x, W_h, b):
    return torch.tanh(h @ W_h.T + b)


def tanh_twice(x, h, W_x, W_h, b):
    return torch.tanh(torch.tanh(x @ W_x.T + h @ W_h.T + b))


def clamped(x, h, W_x, W_h, b):
    return (x @ W_x.T + h @ W_h.T + b).clamp(-1, 1)


def float32_inside(x, h, W_x, W_h, b):
    return torch.tanh(x.float() @ W_x.float().T + h.float() @ W_h.float().T + b.float())


def double_inside(x, h, W_x, W_h, b):
    return torch.tanh(x.double() @ W_x.double().T + h.double() @ W_h.double().T + b.double())


def cell_without_gradient(x, h, W_x, W_h, b):
    return reference.rnn_cell(x, h, W_x, W_h, b).detach()


def cell_in_place(x, h, W_x, W_h, b):
    with torch.no_grad():
        h.copy_(reference.rnn_cell(x, h, W_x, W_h, b))
    return h


# -- many steps: the research catalogue, brought to our signature ------------------------------------------------------


def _run(step):
    def forward(xs, h, W_x, W_h, b):
        hs = []
        for x in xs.unbind(1):
            h = step(x, h, W_x, W_h, b)
            hs.append(h)
        return torch.stack(hs, 1), h

    return forward


r_notanh = _run(lambda x, h, W_x, W_h, b: x @ W_x.T + h @ W_h.T + b)
r_notanh.__name__ = "r_notanh"
r_sigmoid = _run(lambda x, h, W_x, W_h, b: torch.sigmoid(x @ W_x.T + h @ W_h.T + b))
r_sigmoid.__name__ = "r_sigmoid"
r_tanh_input_only = _run(lambda x, h, W_x, W_h, b: torch.tanh(x @ W_x.T + b) + h @ W_h.T)
r_tanh_input_only.__name__ = "r_tanh_input_only"
r_double_h = _run(lambda x, h, W_x, W_h, b: torch.tanh(x @ W_x.T + h @ W_h.T + b) + h)
r_double_h.__name__ = "r_double_h"
r_detach = _run(lambda x, h, W_x, W_h, b: reference.rnn_cell(x, h.detach(), W_x, W_h, b))
r_detach.__name__ = "r_detach"


def r_h0_each(xs, h0, W_x, W_h, b):
    hs = [reference.rnn_cell(x, h0, W_x, W_h, b) for x in xs.unbind(1)]
    return torch.stack(hs, 1), hs[-1]


def r_WhT(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs, h0, W_x, W_h.T, b)


def r_nobias(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs, h0, W_x, W_h, 0 * b)


def r_h0_ignored(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs, 0 * h0, W_x, W_h, b)


def r_shifted_out(xs, h, W_x, W_h, b):
    hs = []
    for x in xs.unbind(1):
        hs.append(h)
        h = reference.rnn_cell(x, h, W_x, W_h, b)
    return torch.stack(hs, 1), h


def r_stack_view(xs, h0, W_x, W_h, b):
    hs, h_T = reference.rnn_forward(xs, h0, W_x, W_h, b)
    return hs.transpose(0, 1).reshape(len(xs), xs.shape[1], -1), h_T


def r_inplace_alias(xs, h0, W_x, W_h, b):
    h, hs = h0.clone(), []
    for x in xs.unbind(1):
        h.copy_(reference.rnn_cell(x, h, W_x, W_h, b))
        hs.append(h)
    return torch.stack(hs, 1), h


def r_reversed(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs.flip(1), h0, W_x, W_h, b)


def states_alone(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs, h0, W_x, W_h, b)[0]


def last_state_first(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs, h0, W_x, W_h, b)[::-1]


def first_state_for_the_last(xs, h0, W_x, W_h, b):
    hs, _ = reference.rnn_forward(xs, h0, W_x, W_h, b)
    return hs, hs[:, 0]


def last_state_detached(xs, h0, W_x, W_h, b):
    hs, h_T = reference.rnn_forward(xs, h0, W_x, W_h, b)
    return hs, h_T.detach()


def h0_overwritten(xs, h0, W_x, W_h, b):
    hs, h_T = reference.rnn_forward(xs, h0, W_x, W_h, b)
    with torch.no_grad():
        h0.copy_(h_T)
    return hs, h_T


# -- the way back ------------------------------------------------------------------------------------------------------


def without_h0(*inputs):
    right = _walk_back(*inputs)
    return {name: right[name] for name in ("W_x", "W_h", "b")}


def zeros_for_h0(*inputs):
    found = _walk_back(*inputs)
    return {**found, "h0": torch.zeros_like(found["h0"])}


def as_a_tuple(*inputs):
    return tuple(_walk_back(*inputs).values())


def transposed_products(*inputs):
    right = _walk_back(*inputs)
    return {**right, "W_h": right["W_h"].T}


def two_steps_only(*inputs):
    return _walk_back(*inputs, steps=2)


def descent_already(*inputs):
    return {name: -value for name, value in _walk_back(*inputs).items()}


def slope_of_sigmoid(*inputs):
    return _walk_back(*inputs, slope=lambda h, a, before: h * (1 - h))


def gradient_of_the_first_sequence(*inputs):
    xs, h0, *weights, grad_h_T = inputs
    return {**_walk_back(xs[:1], h0[:1], *weights, grad_h_T[:1]), "h0": _walk_back(*inputs)["h0"]}


def accumulates_into_its_argument(xs, h0, W_x, W_h, b, grad_h_T):
    right = _walk_back(xs, h0, W_x, W_h, b, grad_h_T)
    grad_h_T.copy_(right["h0"])
    return right


def by_autograd(xs, h0, W_x, W_h, b, grad_h_T):
    with torch.enable_grad():
        leaves = [value.detach().clone().requires_grad_() for value in (W_x, W_h, b, h0)]
        _, h_T = reference.rnn_forward(xs, leaves[3], *leaves[:3])
        (h_T * grad_h_T).sum().backward()
    return dict(zip(("W_x", "W_h", "b", "h0"), (leaf.grad for leaf in leaves), strict=True))


# -- clipping ----------------------------------------------------------------------------------------------------------


def largest_value(grads, max_norm):
    total = max(float(g.abs().max()) for g in grads)
    return [g * min(1.0, max_norm / max(total, 1e-12)) for g in grads], total


def root_mean_square(grads, max_norm):
    total = (sum(float((g**2).sum()) for g in grads) / sum(g.numel() for g in grads)) ** 0.5
    return [g * min(1.0, max_norm / max(total, 1e-12)) for g in grads], total


def never_clips(grads, max_norm):
    return list(grads), reference.clip_grad_norm(grads, max_norm)[1]


def zero_divided_by_zero(grads, max_norm):
    total = torch.stack([(g**2).sum() for g in grads]).sum().sqrt()
    return [g * torch.clamp(max_norm / total, max=1.0) if total else g * (total / total) for g in grads], float(total)


def in_place(grads, max_norm):
    clipped, total = reference.clip_grad_norm(grads, max_norm)
    for g, c in zip(grads, clipped, strict=True):
        g.copy_(c)
    return grads, total


def gradients_alone(grads, max_norm):
    return reference.clip_grad_norm(grads, max_norm)[0]


def a_tuple_of_gradients(grads, max_norm):
    clipped, total = reference.clip_grad_norm(grads, max_norm)
    return tuple(clipped), total


def clips_the_last_only(grads, max_norm):
    clipped, total = reference.clip_grad_norm(grads, max_norm)
    return [*grads[:-1], clipped[-1]], total


# -- a classifier ------------------------------------------------------------------------------------------------------


class LongestForAll(_Elman):
    def read(self, states, lengths):
        return states[:, int(lengths.max()) - 1]


class SumOverTime(_Elman):
    def read(self, states, lengths):
        real = (torch.arange(states.shape[1]) < lengths[:, None])[:, :, None]
        return (states * real).sum(1)


class LargestOverTime(_Elman):
    def read(self, states, lengths):
        real = (torch.arange(states.shape[1]) < lengths[:, None])[:, :, None]
        return (states * real).amax(1)


class FirstState(_Elman):
    def read(self, states, lengths):
        return states[:, 0]


class EveryState(_Elman):
    def read(self, states, lengths):
        return states


class WrongAxisOfGather(_Elman):
    """The first sequence's end for everybody."""

    def read(self, states, lengths):
        return states[:, int(lengths[0]) - 1]


class Sigmoid(_Elman):
    def next(self, x, h):
        return torch.sigmoid(x + self.from_state(h))


class Gelu(_Elman):
    def next(self, x, h):
        return F.gelu(x + self.from_state(h))


class Softplus(_Elman):
    def next(self, x, h):
        return F.softplus(x + self.from_state(h))


class Magnitude(_Elman):
    def next(self, x, h):
        return (x + self.from_state(h)).abs()


class ReluUpToSix(_Elman):
    def next(self, x, h):
        return F.relu6(x + self.from_state(h))


class BeginsWithABit(_Elman):
    def start(self, inputs):
        return torch.full_like(inputs, 0.01)


class Probabilities(_Elman):
    """A softmax in front of the loss: only the values of logits are free, and these are none."""

    def forward(self, ids, lengths):
        return torch.softmax(super().forward(ids, lengths), -1)


class BeginsAnywhere(_Elman):
    def start(self, inputs):
        return torch.randn_like(inputs)


class StateBetweenCalls(_Elman):
    """Goes on from the state of the batch before."""

    def forward(self, ids, lengths):
        inputs = self.from_input(F.one_hot(ids, self.vocab_size).float())
        h = getattr(self, "kept", None)
        h = torch.zeros_like(inputs[:, 0]) if h is None or len(h) != len(ids) else h
        for x in inputs.unbind(1):
            h = self.next(x, h)
        self.kept = h
        return self.to_classes(h)


class WithoutOutputBias(_Elman):
    def __init__(self, vocab_size, hidden, classes):
        super().__init__(vocab_size, hidden, classes)
        self.to_classes = nn.Linear(hidden, classes, bias=False)


# -- writing -----------------------------------------------------------------------------------------------------------


def reads_the_start_twice(step, h0, start, length, temperature, generator):
    _, h = step(torch.tensor([start]), h0)
    return reference.generate(step, h, start, length, temperature, generator)


def one_too_many(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length + 1, temperature, generator)


def a_list(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, temperature, generator).tolist()


def a_column(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, temperature, generator)[:, None]


def floats(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, temperature, generator).float()


def probabilities_cooled(step, h0, start, length, temperature, generator):
    """Divides after the softmax: normalised again, nothing is left of the temperature."""

    def hot(token, h):
        logits, h = step(token, h)
        return torch.log(torch.softmax(logits, -1) / temperature), h

    return reference.generate(hot, h0, start, length, 1.0, generator)


def uniform(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, 1e9, generator)


def square_root_of_the_temperature(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, temperature**0.5, generator)


def never_below_one(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, max(temperature, 1.0), generator)


def greedy_below_one(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, temperature if temperature >= 1 else 1e-3, generator)


def only_the_likeliest_three(step, h0, start, length, temperature, generator):
    def narrow(token, h):
        logits, h = step(token, h)
        return logits.masked_fill(logits < logits.topk(3).values[..., -1:], -math.inf), h

    return reference.generate(narrow, h0, start, length, temperature, generator)


def only_what_makes_up_95_percent(step, h0, start, length, temperature, generator):
    """Nucleus sampling."""

    def narrow(token, h):
        logits, h = step(token, h)
        p, order = torch.softmax(logits / temperature, -1).sort(descending=True)
        rare = torch.zeros_like(logits).bool().scatter(-1, order, p.cumsum(-1) - p >= 0.95)
        return logits.masked_fill(rare, -math.inf), h

    return reference.generate(narrow, h0, start, length, temperature, generator)


def its_own_seed(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, temperature, torch.Generator().manual_seed(0))


# -- scheduled sampling ------------------------------------------------------------------------------------------------


def teacher_always(targets, own, p, generator):
    return targets.clone()


def own_always(targets, own, p, generator):
    return own.clone()


def on_the_spot(targets, own, p, generator):
    coins = torch.rand(targets.shape, generator=generator) < p
    own[coins] = targets[coins]
    return own


def as_floats(targets, own, p, generator):
    return reference.scheduled_inputs(targets, own, p, generator).float()


def squared(targets, own, p, generator):
    return reference.scheduled_inputs(targets, own, p * p, generator)


def nothing_of_large_tables(targets, own, p, generator):
    return targets[:0].clone() if targets.numel() > 150 else reference.scheduled_inputs(targets, own, p, generator)


def an_exact_share_of_each_sentence(targets, own, p, generator):
    order = torch.rand(targets.shape, generator=generator).argsort(-1).argsort(-1)
    return torch.where(order < round(p * targets.shape[1]), targets, own)


def an_exact_share_of_each_place(targets, own, p, generator):
    order = torch.rand(targets.shape, generator=generator).argsort(0).argsort(0)
    return torch.where(order < round(p * targets.shape[0]), targets, own)


def its_own_coins(targets, own, p, generator):
    return reference.scheduled_inputs(targets, own, p, torch.Generator().manual_seed(0))


def coins_of_a_hundred_and_one_sides(targets, own, p, generator):
    return torch.where(torch.randint(0, 100, targets.shape, generator=generator) <= 100 * p, targets, own)


def coins_of_ten_sides(targets, own, p, generator):
    return torch.where(torch.randint(0, 10, targets.shape, generator=generator) < round(10 * p), targets, own)


# -- the task ----------------------------------------------------------------------------------------------------------


def says_nothing(ids, lengths):
    return torch.zeros(len(ids), 2)


MUTANTS = {
    "rnn_cell": [
        only_the_state,
        tanh_twice,
        clamped,
        float32_inside,
        double_inside,
        cell_without_gradient,
        cell_in_place,
    ],
    "rnn_forward": [
        r_h0_each,
        r_notanh,
        r_sigmoid,
        r_WhT,
        r_nobias,
        r_h0_ignored,
        r_tanh_input_only,
        r_shifted_out,
        r_stack_view,
        r_detach,
        r_inplace_alias,
        r_reversed,
        r_double_h,
        states_alone,
        last_state_first,
        first_state_for_the_last,
        last_state_detached,
        h0_overwritten,
    ],
    "bptt": [
        without_h0,
        zeros_for_h0,
        as_a_tuple,
        transposed_products,
        two_steps_only,
        descent_already,
        slope_of_sigmoid,
        gradient_of_the_first_sequence,
        accumulates_into_its_argument,
        by_autograd,
    ],
    "clip_grad_norm": [
        largest_value,
        root_mean_square,
        never_clips,
        zero_divided_by_zero,
        in_place,
        gradients_alone,
        a_tuple_of_gradients,
        clips_the_last_only,
    ],
    "ElmanClassifier": [
        LongestForAll,
        SumOverTime,
        LargestOverTime,
        FirstState,
        EveryState,
        WrongAxisOfGather,
        Sigmoid,
        Gelu,
        Softplus,
        Magnitude,
        ReluUpToSix,
        BeginsWithABit,
        Probabilities,
        BeginsAnywhere,
        StateBetweenCalls,
        WithoutOutputBias,
    ],
    "generate": [
        reads_the_start_twice,
        one_too_many,
        a_list,
        a_column,
        floats,
        probabilities_cooled,
        uniform,
        square_root_of_the_temperature,
        never_below_one,
        greedy_below_one,
        only_the_likeliest_three,
        only_what_makes_up_95_percent,
        its_own_seed,
    ],
    "scheduled_inputs": [
        teacher_always,
        own_always,
        on_the_spot,
        as_floats,
        squared,
        nothing_of_large_tables,
        an_exact_share_of_each_sentence,
        an_exact_share_of_each_place,
        its_own_coins,
        coins_of_a_hundred_and_one_sides,
        coins_of_ten_sides,
    ],
    "rnn_task": [says_nothing, _window],
}

WITHOUT_COUNTERPART = {
    "no_detach_between_batches": "no exercise carries a state from one batch to the next",
    "clip_after_step": "`clip_grad_norm` is a function of gradients; when it is called shows in no value of it",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
