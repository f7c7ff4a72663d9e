"""Right answers to topic 08 that look nothing like the reference."""

from __future__ import annotations

import math

import einops
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.data import order


def _even(d):
    if d % 2 != 0:
        raise ValueError("odd")


# -- the table -------------------------------------------------------------------------------------------------------


def table_by_loops(n_positions, d_model):
    _even(d_model)

    def entry(t, column):
        angle = t / 10000 ** ((column - column % 2) / d_model)
        return math.cos(angle) if column % 2 else math.sin(angle)

    return torch.tensor([[entry(t, column) for column in range(d_model)] for t in range(n_positions)])


def table_as_everybody_writes_it(n_positions, d_model):
    """The float32 idiom of a hundred tutorials."""
    _even(d_model)
    pe = torch.zeros(n_positions, d_model)
    position = torch.arange(0, n_positions, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def table_of_complex_numbers(n_positions, d_model):
    _even(d_model)
    angles = torch.outer(torch.arange(n_positions).double(), 1e4 ** (-torch.arange(0, d_model, 2).double() / d_model))
    return torch.view_as_real(torch.polar(torch.ones_like(angles), angles)).flip(-1).flatten(1)


def table_by_phase(n_positions, d_model):
    """A cosine is a sine a quarter turn ahead."""
    _even(d_model)
    column = torch.arange(d_model)
    angles = torch.arange(n_positions)[:, None] / 10000.0 ** ((column - column % 2) / d_model)
    return torch.sin(angles + (column % 2) * math.pi / 2)


def table_by_recurrence(n_positions, d_model):
    """Each row from the one before, by the addition theorem."""
    _even(d_model)
    w = 1e4 ** (-torch.arange(0, d_model, 2).double() / d_model)
    sines, cosines = [torch.zeros_like(w)], [torch.ones_like(w)]
    for _ in range(n_positions - 1):
        sine, cosine = sines[-1], cosines[-1]
        sines.append(sine * w.cos() + cosine * w.sin())
        cosines.append(cosine * w.cos() - sine * w.sin())
    return torch.stack([torch.stack(sines), torch.stack(cosines)], -1).flatten(1)


def table_in_numpy(n_positions, d_model):
    _even(d_model)
    angles = np.arange(n_positions)[:, None] / np.power(10000, 2 * np.arange(d_model // 2) / d_model)
    table = np.empty((n_positions, d_model))
    table[:, ::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return torch.from_numpy(table)


# -- the shift -------------------------------------------------------------------------------------------------------


def table_in_a_borrowed_dtype(n_positions, d_model):
    """Another default dtype, for as long as it is needed."""
    if d_model % 2:
        raise ValueError
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        places, waves = torch.arange(n_positions), torch.arange(0, d_model, 2)
        angles = torch.outer(1.0 * places, torch.pow(10000.0, -waves / d_model))
        return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)
    finally:
        torch.set_default_dtype(before)


def shift_by_filling(offset, d_model):
    _even(d_model)
    M = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = offset / 10000 ** (i / d_model)
        M[i, i] = M[i + 1, i + 1] = math.cos(angle)
        M[i, i + 1], M[i + 1, i] = math.sin(angle), -math.sin(angle)
    return M


def shift_as_a_power(offset, d_model):
    """One step, multiplied by itself; backwards by the transpose."""
    _even(d_model)
    step = shift_by_filling(1, d_model).double()
    return torch.linalg.matrix_power(step if offset >= 0 else step.T, abs(offset))


def shift_by_matrix_exponential(offset, d_model):
    _even(d_model)
    w = 1e4 ** (-torch.arange(0, d_model, 2).double() / d_model)
    generator = torch.block_diag(*(torch.tensor([[0.0, float(a)], [-float(a), 0.0]]).double() for a in w))
    return torch.linalg.matrix_exp(offset * generator)


def shift_by_diagonals(offset, d_model):
    _even(d_model)
    angles = offset * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    sines = torch.stack([angles.sin(), torch.zeros_like(angles)], 1).flatten()[:-1]
    return torch.diag(angles.cos().repeat_interleave(2)) + torch.diag(sines, 1) - torch.diag(sines, -1)


# -- the requirements ------------------------------------------------------------------------------------------------


def properties_as_in_the_notebook(encode, n, d):
    rows, again = encode(n, d), encode(n, d)
    try:
        longer = encode(2 * n, d)
    except ValueError:
        longer = None
    best = torch.linalg.pinv(rows[:-1]) @ rows[1:]
    apart = torch.cdist(rows, rows) + torch.eye(n)
    return {
        "unique": (apart > 1e-3).all().item(),
        "bounded": (rows.abs() < 10).all().item(),
        "deterministic": torch.equal(rows, again),
        "any_length": longer is not None and torch.equal(longer[:n], rows),
        "relative": torch.allclose(rows[:-1] @ best, rows[1:], atol=1e-3),
    }


def properties_by_growth(encode, n, d):
    """Bounded: a run twice as long holds no larger values. Relative: lstsq, offsets one to three. Unique: a set."""
    rows = encode(n, d)
    try:
        longer = encode(2 * n, d)
        bounded = float(longer.abs().max()) < 1.5 * float(rows.abs().max()) + 0.1
        any_length = float((longer[:n] - rows).abs().max()) < 1e-5
    except ValueError:
        bounded, any_length = True, False
    relative = True
    for k in (1, 2, 3):
        solution = torch.linalg.lstsq(rows[:-k], rows[k:]).solution
        relative &= float((rows[:-k] @ solution - rows[k:]).norm()) < 1e-3
    unique = len({tuple(row) for row in rows.round(decimals=3).tolist()}) == n
    same = bool((encode(n, d) == rows).all())
    names = ("unique", "bounded", "deterministic", "any_length", "relative")
    return dict(zip(names, (unique, bounded, same, any_length, relative)))


def properties_as_tensors_and_numpy(encode, n, d):
    rows = encode(n, d).numpy()
    pairs = np.abs(rows[:, None] - rows[None]).max(-1) + np.eye(n)
    half = n - n // 3
    M, *_ = np.linalg.lstsq(rows[:-1][:half], rows[1:][:half], rcond=None)  # found on one part, tried on the rest
    try:
        longer = encode(3 * n, d).numpy()
    except ValueError:
        longer = None
    return {
        "relative": np.allclose(rows[:-1] @ M, rows[1:], atol=1e-3),
        "unique": np.bool_((pairs > 1e-4).all()),
        "bounded": torch.tensor(bool(np.abs(rows).max() <= 2)),
        "deterministic": np.array_equal(encode(n, d).numpy(), rows),
        "any_length": longer is not None and np.allclose(longer[:n], rows),
    }


def properties_to_the_last_bit(encode, n, d):
    """Equal is what torch.unique finds equal; the map from one half of the places must fit the other."""
    rows, half = encode(n, d), n // 2
    try:
        any_length = torch.allclose(encode(2 * n, d)[:n], rows)
    except ValueError:
        any_length = False
    M = torch.linalg.pinv(rows[:half]) @ rows[1 : half + 1]
    return {
        "unique": len(torch.unique(rows, dim=0)) == n,
        "bounded": bool(rows.abs().max() <= 1.01),
        "deterministic": torch.allclose(rows, encode(n, d)),
        "any_length": any_length,
        "relative": torch.allclose(rows[half:-1] @ M, rows[half + 1 :], atol=1e-2),
    }


def properties_by_rank(encode, n, d):
    """One map exists if the next places' vectors add no direction; two places are alike if sorting brings them
    together."""
    rows = encode(n, d)
    ordered = rows[np.lexsort(rows.numpy().T)]
    try:
        longer = encode(2 * n, d)
    except ValueError:
        longer = torch.zeros(0, d)
    both = torch.cat([rows[:-1], rows[1:]], 1)
    ranks = [torch.linalg.matrix_rank(part, rtol=1e-6) for part in (both, rows[:-1])]
    return {
        "relative": bool(ranks[0] == ranks[1]),
        "any_length": bool(len(longer)) and torch.allclose(longer[:n], rows),
        "unique": bool((ordered.diff(dim=0).abs().amax(1) > 1e-6).all()),
        "bounded": bool(rows.square().max() < 9),
        "deterministic": not bool((encode(n, d) - rows).any()),
    }


# -- learned positions -----------------------------------------------------------------------------------------------


class AsAnEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        if x.size(1) > self.table.num_embeddings:
            raise ValueError("too long")
        return x + self.table(torch.arange(x.size(1), device=x.device))


class IsAnEmbedding(nn.Embedding):
    def forward(self, x):
        if x.shape[1] > self.num_embeddings:
            raise ValueError(f"{x.shape[1]} words, {self.num_embeddings} marks")
        return x + super().forward(torch.arange(x.shape[1]))


class WithABatchAxis(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.pe = nn.Parameter(torch.rand(1, max_len, d_model))

    def forward(self, x):
        T = x.shape[1]
        if self.pe.shape[1] < T:
            raise ValueError(f"{T}")
        return x + self.pe[:, :T].expand(len(x), -1, -1)


class Transposed(nn.Module):
    """The table lies on its side."""

    def __init__(self, max_len, d_model):
        super().__init__()
        self.columns = nn.Parameter(torch.randn(d_model, max_len))

    def forward(self, x):
        if x.shape[1] > self.columns.shape[1]:
            raise ValueError("no place left")
        return x + self.columns.T[: x.shape[1]]


class OneByOne(nn.Module):
    """A parameter for each place, and one-hot vectors to choose."""

    def __init__(self, max_len, d_model):
        super().__init__()
        self.rows = nn.ParameterList([nn.Parameter(torch.randn(d_model)) for _ in range(max_len)])

    def forward(self, x):
        if x.shape[1] > len(self.rows):
            raise ValueError("no place left")
        one_hot = F.one_hot(torch.arange(x.shape[1]), len(self.rows)).to(x.dtype)
        return x + one_hot @ torch.stack(list(self.rows))


# -- RoPE ------------------------------------------------------------------------------------------------------------


def _places(x, positions):
    _even(x.shape[-1])
    return torch.arange(x.shape[-2]) if positions is None else positions


def rope_of_complex_numbers(x, positions=None, base=10000.0):
    """As in LLaMA's own code."""
    positions = _places(x, positions)
    D = x.shape[-1]
    angles = torch.outer(positions.double(), base ** (-torch.arange(0, D, 2).double() / D))
    numbers = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(numbers * torch.polar(torch.ones_like(angles), angles)).flatten(-2).to(x.dtype)


def rope_by_loops(x, positions=None, base=10000.0):
    positions = _places(x, positions)
    out = torch.empty_like(x)
    D = x.shape[-1]
    for t, place in enumerate(positions.tolist()):
        for i in range(0, D, 2):
            angle = place / base ** (i / D)
            out[..., t, i] = x[..., t, i] * math.cos(angle) - x[..., t, i + 1] * math.sin(angle)
            out[..., t, i + 1] = x[..., t, i] * math.sin(angle) + x[..., t, i + 1] * math.cos(angle)
    return out


def rope_by_matrices(x, positions=None, base=10000.0):
    """One orthogonal matrix a place: the transposed shift, for any base."""
    positions = _places(x, positions)
    D = x.shape[-1]
    turns = []
    for place in positions.tolist():
        a = [torch.tensor(place / base ** (2 * i / D), dtype=x.dtype) for i in range(D // 2)]
        turns.append(
            torch.block_diag(*(torch.tensor([[t.cos(), -t.sin()], [t.sin(), t.cos()]]) for t in a)).to(x.dtype)
        )
    return torch.einsum("tij,bhtj->bhti", torch.stack(turns), x)


def rope_by_rotating_pairs(x, positions=None, base=10000.0):
    """x cos + partner sin, with einops and float32 angles."""
    positions = _places(x, positions)
    D = x.shape[-1]
    frequencies = 1.0 / base ** (torch.arange(0, D, 2).float() / D)
    angles = einops.repeat(positions.float()[:, None] * frequencies, "t i -> t (i two)", two=2)
    pairs = einops.rearrange(x, "... (i two) -> ... i two", two=2)
    partner = torch.stack([-pairs[..., 1], pairs[..., 0]], dim=-1).flatten(-2)
    return x * angles.cos().to(x.dtype) + partner * angles.sin().to(x.dtype)


# -- ALiBi -----------------------------------------------------------------------------------------------------------


def rope_into_a_clone(x, positions=None, base=10000.0):
    """Column by column, in place on a tensor of its own."""
    D = x.shape[-1]
    if D % 2:
        raise ValueError
    places, out = torch.arange(x.shape[2]) if positions is None else positions, x.clone()
    for i in range(0, D, 2):
        angle = (places * base ** (-i / D)).to(x.dtype)
        out[..., i] = x[..., i] * angle.cos() - x[..., i + 1] * angle.sin()
        out[..., i + 1] = x[..., i] * angle.sin() + x[..., i + 1] * angle.cos()
    return out


def alibi_by_loops(n_heads, T):
    bias = torch.full((n_heads, T, T), float("-inf"))
    for head in range(n_heads):
        for q in range(T):
            for k in range(q + 1):
                bias[head, q, k] = (k - q) * 2 ** (-8 * (head + 1) / n_heads)
    return bias


def alibi_by_masks(n_heads, T):
    ratio = 2 ** (-8 / n_heads)
    slopes = torch.tensor([ratio ** (head + 1) for head in range(n_heads)])
    distance = torch.arange(T).view(1, 1, -1) - torch.arange(T).view(1, -1, 1)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return torch.where(future, -math.inf, slopes.view(-1, 1, 1) * distance)


def alibi_in_numpy(n_heads, T):
    slopes = np.exp2(-8 * np.arange(1, n_heads + 1) / n_heads)
    distance = np.subtract.outer(np.arange(T), np.arange(T)).astype(float)
    bias = -np.multiply.outer(slopes, distance)
    bias[:, distance < 0] = -np.inf
    return torch.from_numpy(bias)


# -- the task --------------------------------------------------------------------------------------------------------


def echoes(ids):
    """What the model learns, in one line."""
    return F.one_hot(ids.roll(order.DELAY, 1), len(order.LETTERS)).float()


def echoes_letter_by_letter(ids):
    logits = torch.zeros(*ids.shape, len(order.LETTERS), dtype=torch.float64) - 3.0
    for row, letters in zip(logits, ids.tolist(), strict=True):
        for t in range(order.DELAY, len(letters)):
            row[t, letters[t - order.DELAY]] = 2.0
    return logits


ALTERNATIVES = {
    "sinusoidal": [
        table_by_loops,
        table_as_everybody_writes_it,
        table_of_complex_numbers,
        table_by_phase,
        table_by_recurrence,
        table_in_numpy,
        table_in_a_borrowed_dtype,
    ],
    "shift_matrix": [shift_by_filling, shift_as_a_power, shift_by_matrix_exponential, shift_by_diagonals],
    "order_properties": [
        properties_as_in_the_notebook,
        properties_by_growth,
        properties_as_tensors_and_numpy,
        properties_to_the_last_bit,
        properties_by_rank,
    ],
    "LearnedPositions": [AsAnEmbedding, WithABatchAxis, Transposed, OneByOne, IsAnEmbedding],
    "rope": [rope_of_complex_numbers, rope_by_loops, rope_by_matrices, rope_by_rotating_pairs, rope_into_a_clone],
    "alibi_bias": [alibi_by_loops, alibi_by_masks, alibi_in_numpy],
    "positional_encoding_task": [echoes, echoes_letter_by_letter],
}
