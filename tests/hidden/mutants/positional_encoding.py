"""Wrong answers to topic 08 that the hidden tests must notice, beyond the misconceptions they know by name."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from course.data import order
from course.reference import positional_encoding as reference

# -- the table: the catalogue, brought to our signature ----------------------------------------------------------------


def _table(n, d, w, first=0, half=False, swap=False):
    if d % 2:
        raise ValueError("odd")
    angles = (torch.arange(n).double() + first)[:, None] * w
    s, c = (angles.cos(), angles.sin()) if swap else (angles.sin(), angles.cos())
    return torch.cat([s, c], 1) if half else torch.stack([s, c], -1).flatten(1)


def _w(d):
    return 1e4 ** (-torch.arange(0, d, 2).double() / d)


def p_swap(n_positions, d_model):
    return _table(n_positions, d_model, _w(d_model), swap=True)


def p_start1(n_positions, d_model):
    return _table(n_positions, d_model, _w(d_model), first=1)


def p_half(n_positions, d_model):
    return _table(n_positions, d_model, _w(d_model), half=True)


def p_expi(n_positions, d_model):
    return _table(n_positions, d_model, 1e4 ** (-torch.arange(d_model // 2).double() / d_model))


def p_double2i(n_positions, d_model):
    return _table(n_positions, d_model, 1e4 ** (-2 * torch.arange(0, d_model, 2).double() / d_model))


def p_exp_halfd(n_positions, d_model):
    return _table(n_positions, d_model, 1e4 ** (-torch.arange(d_model // 2).double() / max(d_model // 2 - 1, 1)))


def p_odd_i(n_positions, d_model):
    angles = torch.arange(n_positions)[:, None].double() * 1e4 ** (-torch.arange(d_model).double() / d_model)
    table = torch.zeros(n_positions, d_model)
    table[:, 0::2], table[:, 1::2] = angles[:, 0::2].sin(), angles[:, 1::2].cos()
    return table


def p_sign(n_positions, d_model):
    return _table(n_positions, d_model, 1 / _w(d_model))


def p_base1000(n_positions, d_model):
    return _table(n_positions, d_model, 1e3 ** (-torch.arange(0, d_model, 2).double() / d_model))


def p_2pi(n_positions, d_model):
    return _table(n_positions, d_model, 2 * math.pi * _w(d_model))


def p_norm(n_positions, d_model):
    return _table(n_positions, d_model, _w(d_model) / n_positions)


def p_intdiv(n_positions, d_model):
    return _table(n_positions, d_model, torch.tensor([1 / 1e4 ** ((2 * i) // d_model) for i in range(d_model // 2)]))


def p_sinonly(n_positions, d_model):
    angles = torch.arange(n_positions).double()[:, None] * _w(d_model)
    return torch.stack([angles.sin(), angles.sin()], -1).flatten(1)


def p_transposed(n_positions, d_model):
    return reference.sinusoidal(d_model, n_positions + n_positions % 2)[:, :n_positions].T


def p_log10(n_positions, d_model):
    w = torch.exp(torch.arange(0, d_model, 2).double() * (-math.log10(1e4) / d_model))
    return _table(n_positions, d_model, w)


def with_a_batch_axis(n_positions, d_model):
    return reference.sinusoidal(n_positions, d_model)[None]


def scaled_by_the_root_of_the_width(n_positions, d_model):
    return reference.sinusoidal(n_positions, d_model) * d_model**0.5


def angles_returned(n_positions, d_model):
    return (torch.arange(n_positions).double()[:, None] * _w(d_model)).repeat_interleave(2, 1)


def cosine_of_minus_sine(n_positions, d_model):
    return reference.sinusoidal(n_positions, d_model) * torch.tensor([1.0, -1.0]).repeat(d_model // 2)


# -- the shift -------------------------------------------------------------------------------------------------------


def shift_as_outer_product(offset, d_model):
    row = reference.sinusoidal(abs(offset) + 1, d_model)[abs(offset)]
    return torch.outer(row, row)


def shift_identity(offset, d_model):
    if d_model % 2:
        raise ValueError("odd")
    return torch.eye(d_model)


def shift_only_the_first_pair(offset, d_model):
    M = torch.eye(d_model)
    M[:2, :2] = reference.shift_matrix(offset, 2)
    return reference.shift_matrix(offset, d_model) * 0 + M


def shift_in_degrees(offset, d_model):
    return reference.shift_matrix(offset * math.pi / 180, d_model)


def shift_as_blocks(offset, d_model):
    return torch.stack([reference.shift_matrix(offset, d_model)[i : i + 2, i : i + 2] for i in range(0, d_model, 2)])


def shift_fitted(offset, d_model):
    """Fits as many rows as there are columns: one of many matrices for a narrow window of places."""
    table = reference.sinusoidal(abs(offset) + 2, d_model).double()
    k = abs(offset)
    return (torch.linalg.pinv(table[: len(table) - k]) @ table[k:]).T


# -- the requirements ------------------------------------------------------------------------------------------------


def _properties(**other):
    def wrong(encode, n, d):
        return reference.order_properties(encode, n, d) | other

    return wrong


all_is_well = _properties(unique=True, bounded=True, deterministic=True, any_length=True, relative=True)
all_is_unique = _properties(unique=True)
all_is_bounded = _properties(bounded=True)
nothing_is_bounded = _properties(bounded=False)
all_is_deterministic = _properties(deterministic=True)
all_has_any_length = _properties(any_length=True)
nothing_has_any_length = _properties(any_length=False)
all_is_relative = _properties(relative=True)
nothing_is_relative = _properties(relative=False)


def a_name_missing(encode, n, d):
    return {name: held for name, held in reference.order_properties(encode, n, d).items() if name != "relative"}


def numbers_for_answers(encode, n, d):
    rows = encode(n, d)
    return reference.order_properties(encode, n, d) | {"bounded": float(rows.abs().max())}


def unique_in_a_run_twice_as_long(encode, n, d):
    found = reference.order_properties(encode, n, d)
    if found["any_length"]:
        found["unique"] = len(torch.unique(encode(2 * n, d), dim=0)) == 2 * n
    return found


def bounded_at_the_last_place(encode, n, d):
    return reference.order_properties(encode, n, d) | {"bounded": bool(encode(n, d)[-1].abs().max() < 3)}


def bounded_by_its_length(encode, n, d):
    return reference.order_properties(encode, n, d) | {"bounded": bool(encode(n, d).abs().max() < n - 1)}


def some_number_is_deterministic(encode, n, d):
    right = reference.order_properties(encode, n, d)
    return right | {"deterministic": bool((encode(n, d) == encode(n, d)).any())}


def relative_in_the_first_half(encode, n, d):
    rows, half = encode(n, d), n // 2
    M = torch.linalg.pinv(rows[:half]) @ rows[1 : half + 1]
    fits = torch.allclose(rows[:half] @ M, rows[1 : half + 1], atol=1e-4)
    return reference.order_properties(encode, n, d) | {"relative": fits}


def relative_in_the_first_column(encode, n, d):
    rows = encode(n, d)
    found = rows[:-1] @ torch.linalg.pinv(rows[:-1]) @ rows[1:]
    fits = torch.allclose(found[:, 0], rows[1:, 0], atol=1e-4)
    return reference.order_properties(encode, n, d) | {"relative": fits}


def any_length_by_one_place(encode, n, d):
    """Only one place more is asked for, and not all of them are there."""
    try:
        more = torch.allclose(encode(n + 1, d)[:n], encode(n, d))
    except ValueError:
        more = False
    return reference.order_properties(encode, n, d) | {"any_length": more}


def map_on_the_wrong_side(encode, n, d):
    rows = encode(n, d)
    best = torch.linalg.pinv(rows[:-1]) @ rows[1:]
    return reference.order_properties(encode, n, d) | {
        "relative": torch.allclose(rows[:-1] @ best.T, rows[1:], atol=1e-4)
    }


def relative_means_equal_dot_products(encode, n, d):
    rows = encode(n, d)
    dots = (rows[1:] * rows[:-1]).sum(-1)
    return reference.order_properties(encode, n, d) | {"relative": torch.allclose(dots, dots[:1], atol=1e-4)}


def no_answer_for_a_table_that_ends(encode, n, d):
    encode(2 * n, d)
    return reference.order_properties(encode, n, d)


# -- learned positions -----------------------------------------------------------------------------------------------


class _Table(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.positions = nn.Parameter(0.02 * torch.randn(max_len, d_model))

    def forward(self, x):
        if x.shape[1] > len(self.positions):
            raise ValueError("too long")
        return x + self.positions[: x.shape[1]]


class WordsAsNumbers(_Table):
    """The words leave the graph, and come back as numbers."""

    def forward(self, x):
        return super().forward(torch.tensor(x.tolist(), dtype=x.dtype))


class Detached(_Table):
    def forward(self, x):
        super().forward(x)
        return x + self.positions[: x.shape[1]].detach()


class Doubled(_Table):
    def forward(self, x):
        return 2 * super().forward(x)


class BatchSlice(_Table):
    """pe[:x.size(0)] on batch-first words: right only where B = T."""

    def forward(self, x):
        super().forward(x)
        return x + self.positions[: x.shape[0]].unsqueeze(1)


class Clamped(_Table):
    def forward(self, x):
        places = torch.arange(x.shape[1]).clamp(max=len(self.positions) - 1)
        return x + self.positions[places]


class CutOff(_Table):
    def forward(self, x):
        return x[:, : len(self.positions)] + self.positions[: x.shape[1]]


class Concatenated(_Table):
    def forward(self, x):
        marks = super().forward(torch.zeros_like(x))
        return torch.cat([x, marks], dim=-1)


class Frozen(_Table):
    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)
        self.positions.requires_grad_(False)


class StartsFromOnes(_Table):
    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)
        nn.init.ones_(self.positions)


class RefusesItsLastPlace(_Table):
    """A table of seven that takes six words."""

    def forward(self, x):
        if x.shape[1] >= len(self.positions):
            raise ValueError("too long")
        return super().forward(x)


class WordsChanged(_Table):
    def forward(self, x):
        if x.shape[1] > len(self.positions):
            raise ValueError("too long")
        x += self.positions[: x.shape[1]]
        return x


class OtherError(_Table):
    def forward(self, x):
        if x.shape[1] > len(self.positions):
            raise IndexError("too long")
        return super().forward(x)


class PlaceNoughtTakenForPadding(nn.Module):
    """An embedding whose row 0 stays as it is, as if it stood for padding."""

    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model, padding_idx=0)

    def forward(self, x):
        if x.shape[1] > self.table.num_embeddings:
            raise ValueError("too long")
        return x + self.table(torch.arange(x.shape[1]))


class OneNumberForEachPlace(_Table):
    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)
        self.positions = nn.Parameter(torch.randn(max_len, 1))


class ALineOfPlaces(_Table):
    """The number of the place, through a linear layer."""

    def __init__(self, max_len, d_model):
        nn.Module.__init__(self)
        self.max_len, self.line = max_len, nn.Linear(1, d_model)

    def forward(self, x):
        if x.shape[1] > self.max_len:
            raise ValueError("too long")
        return x + self.line(torch.arange(x.shape[1], dtype=x.dtype)[:, None])


class DropsInTraining(_Table):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.1, self.training)


class LayerNormOverAll(_Table):
    def forward(self, x):
        return nn.functional.layer_norm(super().forward(x), x.shape[-1:])


class WordsMadeLoud(_Table):
    """Words times the root of the width, as the Transformer of topic 10 has it."""

    def forward(self, x):
        return super().forward(x * math.sqrt(x.shape[-1]))


# -- RoPE ------------------------------------------------------------------------------------------------------------


def rope_whole_places_only(x, positions=None, base=10000.0):
    return reference.rope(x, None if positions is None else positions.long(), base)


def rope_in_place(x, positions=None, base=10000.0):
    x.copy_(reference.rope(x, positions, base))
    return x


def rope_without_gradient(x, positions=None, base=10000.0):
    return reference.rope(x.detach(), positions, base)


def rope_always_double(x, positions=None, base=10000.0):
    return reference.rope(x.double(), positions, base)


def rope_over_batch(x, positions=None, base=10000.0):
    return reference.rope(x.movedim(0, 2), torch.arange(len(x)), base).movedim(2, 0)


def rope_places_sorted(x, positions=None, base=10000.0):
    return reference.rope(x, None if positions is None else positions.sort().values, base)


def rope_places_from_zero(x, positions=None, base=10000.0):
    return reference.rope(x, None if positions is None else positions - positions.min(), base)


def rope_first_half_of_the_pairs(x, positions=None, base=10000.0):
    D = x.shape[-1]
    return torch.cat([reference.rope(x, positions, base)[..., : D // 2], x[..., D // 2 :]], -1)


def rope_with_swapped_functions(x, positions=None, base=10000.0):
    a, b = x[..., 0::2], x[..., 1::2]
    places = torch.arange(x.shape[-2]) if positions is None else positions
    D = x.shape[-1]
    angles = places.double()[:, None] * base ** (-torch.arange(0, D, 2).double() / D)
    cos, sin = angles.sin().to(x.dtype), angles.cos().to(x.dtype)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


def rope_slowest_first(x, positions=None, base=10000.0):
    return reference.rope(x.flip(-1), positions, base).flip(-1)


def rope_denominator_of_the_pairs(x, positions=None, base=10000.0):
    return reference.rope(x, positions, base**2)


def rope_odd_width_cut(x, positions=None, base=10000.0):
    D = x.shape[-1] // 2 * 2
    return torch.cat([reference.rope(x[..., :D], positions, base), x[..., D:]], -1)


def rope_scaled(x, positions=None, base=10000.0):
    return reference.rope(x, positions, base) / x.shape[-1] ** 0.5


# -- ALiBi -----------------------------------------------------------------------------------------------------------


def alibi_after_softmax(n_heads, T):
    return reference.alibi_bias(n_heads, T).softmax(-1)


def alibi_diagonal_hidden(n_heads, T):
    return reference.alibi_bias(n_heads, T).masked_fill(torch.eye(T, dtype=torch.bool), -math.inf)


def alibi_distance_from_one(n_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    return reference.alibi_bias(n_heads, T) - slopes[:, None, None]


def alibi_by_the_key_alone(n_heads, T):
    """What the paper's code adds: the same after softmax, and not the bias of the docstring."""
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return (slopes[:, None, None] * torch.arange(T)).expand(-1, T, -1).masked_fill(future, -math.inf)


def alibi_with_a_batch_axis(n_heads, T):
    return reference.alibi_bias(n_heads, T)[None]


def alibi_slope_squared(n_heads, T):
    return reference.alibi_bias(n_heads, T) * 2.0 ** (-8 / n_heads)


def alibi_squared_distance(n_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = (torch.arange(T)[:, None] - torch.arange(T)).double()
    return (-slopes[:, None, None] * distance**2).masked_fill(distance < 0, -math.inf)


def alibi_head_axis_last(n_heads, T):
    return reference.alibi_bias(n_heads, T).movedim(0, -1)


def alibi_one_too_few(n_heads, T):
    return reference.alibi_bias(n_heads + 1, T)[:n_heads]


# -- the task --------------------------------------------------------------------------------------------------------


def _one_hot(ids):
    return F.one_hot(ids, len(order.LETTERS)).float()


def two_places_late(ids):
    return _one_hot(ids.roll(2, 1))


def four_places_late(ids):
    return _one_hot(ids.roll(4, 1))


def says_the_list_backwards(ids):
    return _one_hot(ids.flip(1))


def right_half_of_the_time(ids):
    late = _one_hot(ids.roll(3, 1))
    late[:, ::2] = _one_hot(ids)[:, ::2]
    return late


def one_answer_a_list(ids):
    return _one_hot(ids[:, :1].expand_as(ids))


def places_wrapped_at_sixteen(ids):
    places = torch.arange(ids.shape[1])
    return _one_hot(ids[:, (places % 16 - 3) % ids.shape[1]])


MUTANTS = {
    "sinusoidal": [
        p_swap,
        p_start1,
        p_half,
        p_expi,
        p_double2i,
        p_exp_halfd,
        p_odd_i,
        p_sign,
        p_base1000,
        p_2pi,
        p_norm,
        p_intdiv,
        p_sinonly,
        p_transposed,
        p_log10,
        with_a_batch_axis,
        scaled_by_the_root_of_the_width,
        angles_returned,
        cosine_of_minus_sine,
    ],
    "shift_matrix": [
        shift_as_outer_product,
        shift_identity,
        shift_only_the_first_pair,
        shift_in_degrees,
        shift_as_blocks,
        shift_fitted,
    ],
    "order_properties": [
        unique_in_a_run_twice_as_long,
        all_is_well,
        all_is_unique,
        all_is_bounded,
        nothing_is_bounded,
        all_is_deterministic,
        all_has_any_length,
        nothing_has_any_length,
        all_is_relative,
        nothing_is_relative,
        a_name_missing,
        numbers_for_answers,
        bounded_at_the_last_place,
        bounded_by_its_length,
        some_number_is_deterministic,
        relative_in_the_first_half,
        relative_in_the_first_column,
        any_length_by_one_place,
        map_on_the_wrong_side,
        relative_means_equal_dot_products,
        no_answer_for_a_table_that_ends,
    ],
    "LearnedPositions": [
        WordsAsNumbers,
        Detached,
        Doubled,
        BatchSlice,
        Clamped,
        CutOff,
        Concatenated,
        Frozen,
        StartsFromOnes,
        RefusesItsLastPlace,
        WordsChanged,
        OtherError,
        PlaceNoughtTakenForPadding,
        OneNumberForEachPlace,
        ALineOfPlaces,
        DropsInTraining,
        LayerNormOverAll,
        WordsMadeLoud,
    ],
    "rope": [
        rope_whole_places_only,
        rope_in_place,
        rope_without_gradient,
        rope_always_double,
        rope_over_batch,
        rope_places_sorted,
        rope_places_from_zero,
        rope_first_half_of_the_pairs,
        rope_with_swapped_functions,
        rope_slowest_first,
        rope_denominator_of_the_pairs,
        rope_odd_width_cut,
        rope_scaled,
    ],
    "alibi_bias": [
        alibi_after_softmax,
        alibi_diagonal_hidden,
        alibi_distance_from_one,
        alibi_by_the_key_alone,
        alibi_with_a_batch_axis,
        alibi_slope_squared,
        alibi_squared_distance,
        alibi_head_axis_last,
        alibi_one_too_few,
    ],
    "positional_encoding_task": [
        two_places_late,
        four_places_late,
        says_the_list_backwards,
        right_half_of_the_time,
        one_answer_a_list,
        places_wrapped_at_sixteen,
    ],
}

WITHOUT_COUNTERPART: dict[str, str] = {}
"""Catalogue rows of this topic that our signatures cannot express, and why: none."""
