"""The reference against torch's own layers, values and gradients, and against laws of its own."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from course.reference.lstm_gru import (
    GatedClassifier,
    gated_cell,
    gru_cell,
    lstm_cell,
    lstm_parameters,
    peephole_lstm_cell,
    run_bidirectional,
)
from course.reference.rnn import rnn_cell
from tests.reference.numbers import close, close_gradients, noise

SIZES = [(2, 3, 5, 7), (1, 1, 1, 1), (5, 1, 2, 3), (3, 13, 1, 2), (2, 5, 7, 1)]
"""B, T, D, H: distinct primes, and the corners where a dimension is one."""

DTYPES = [torch.float32, torch.float64]
sizes = st.integers(1, 6)
seeds = st.integers(0, 10_000)
few = settings(max_examples=40)


def weights(gates: int, D: int, H: int, dtype: torch.dtype = torch.float64, seed: int = 1) -> list[Tensor]:
    shapes = [(gates * H, D), (gates * H, H), (gates * H,)]
    return [noise(*shape, seed=seed + k, dtype=dtype) for k, shape in enumerate(shapes)]


def copied(layer: nn.Module, W, U, b, suffix: str = "") -> nn.Module:
    """The layer with our weights; torch has two biases that are added, we have one."""
    values = {"weight_ih": W, "weight_hh": U, "bias_ih": b, "bias_hh": torch.zeros_like(b)}
    with torch.no_grad():
        for name, value in values.items():
            getattr(layer, name + suffix).copy_(value)
    return layer


def leaves_of(layer: nn.Module, suffix: str = "") -> list[Tensor]:
    return [getattr(layer, name + suffix) for name in ("weight_ih", "weight_hh", "bias_ih")]


def flat(outputs) -> Tensor:
    """All outputs in a row."""
    return torch.cat([output.flatten() for output in outputs])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "T", "D", "H"), SIZES)
def test_lstm_is_torchs_cell(B, T, D, H, dtype):
    x, h, c = noise(B, D, dtype=dtype), noise(B, H, seed=5, dtype=dtype), noise(B, H, seed=6, dtype=dtype)
    W = weights(4, D, H, dtype)
    cell = copied(nn.LSTMCell(D, H, dtype=dtype), *W)
    ours, theirs = lstm_cell(x, h, c, *W), cell(x, (h, c))
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == dtype
        close(a, b)
    close_gradients(flat(ours), flat(theirs), [x, h, c, *W], [x, h, c, *leaves_of(cell)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "T", "D", "H"), SIZES)
def test_lstm_along_a_sequence_is_torchs_layer(B, T, D, H, dtype):
    xs, h, c = noise(B, T, D, dtype=dtype), noise(B, H, seed=5, dtype=dtype), noise(B, H, seed=6, dtype=dtype)
    W = weights(4, D, H, dtype)
    layer = copied(nn.LSTM(D, H, batch_first=True, dtype=dtype), *W, suffix="_l0")
    h_t, c_t, outputs = h, c, []
    for x in xs.unbind(1):
        h_t, c_t = lstm_cell(x, h_t, c_t, *W)
        outputs.append(h_t)
    theirs, (h_n, c_n) = layer(xs, (h[None], c[None]))
    ours, theirs = flat((torch.stack(outputs, 1), h_t, c_t)), flat((theirs, h_n[0], c_n[0]))
    close(ours, theirs)
    close_gradients(ours, theirs, [xs, h, c, *W], [xs, h, c, *leaves_of(layer, "_l0")])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "T", "D", "H"), SIZES)
def test_gru_is_torchs_where_the_two_agree(B, T, D, H, dtype):
    """Reset before U (ours) and after it (torch's) are one where U_n is diagonal."""
    x, h = noise(B, D, dtype=dtype), noise(B, H, seed=5, dtype=dtype)
    W, U, b = (w.detach() for w in weights(3, D, H, dtype))
    U[2 * H :] = torch.diag(U[2 * H :].diagonal())
    W, U, b = (w.requires_grad_() for w in (W, U, b))
    cell = copied(nn.GRUCell(D, H, dtype=dtype), W, U, b)
    ours, theirs = gru_cell(x, h, W, U, b), cell(x, h)
    assert ours.dtype == dtype
    close(ours, theirs)
    direction = noise(B, H, seed=9, dtype=dtype).detach()
    mine = torch.autograd.grad((ours * direction).sum(), [x, h, W, U, b])
    other = torch.autograd.grad((theirs * direction).sum(), [x, h, *leaves_of(cell)])
    kept = torch.cat([torch.ones(2 * H, H), torch.eye(H)]).to(dtype)  # beside the diagonal the two differ
    for k, (one, two) in enumerate(zip(mine, other, strict=True)):
        close(one * kept if k == 3 else one, two * kept if k == 3 else two)


@pytest.mark.parametrize(("B", "T", "D", "H"), SIZES)
def test_gru_along_a_sequence_is_torchs_layer_where_the_two_agree(B, T, D, H):
    xs, h = noise(B, T, D), noise(B, H, seed=5)
    W, U, b = (w.detach() for w in weights(3, D, H))
    U[2 * H :] = torch.diag(U[2 * H :].diagonal())
    layer = copied(nn.GRU(D, H, batch_first=True).double(), W, U, b, suffix="_l0")
    found = []
    for x in xs.unbind(1):
        found.append(gru_cell(x, h if not found else found[-1], W, U, b))
    close(torch.stack(found, 1), layer(xs, h[None])[0])


@pytest.mark.parametrize(("B", "T", "D", "H"), SIZES)
def test_gru_is_chos_equations_for_each_number(B, T, D, H):
    x, h, (W, U, b) = noise(B, D), noise(B, H, seed=5), weights(3, D, H)

    def sigma(a):
        return 1 / (1 + torch.exp(-a))

    found = gru_cell(x, h, W, U, b)
    for row in range(B):
        r, z = (
            torch.stack([sigma(W[k * H + j] @ x[row] + U[k * H + j] @ h[row] + b[k * H + j]) for j in range(H)])
            for k in (0, 1)
        )
        for j in range(H):
            n = torch.tanh(W[2 * H + j] @ x[row] + U[2 * H + j] @ (r * h[row]) + b[2 * H + j])
            close(found[row, j], z[j] * h[row, j] + (1 - z[j]) * n)


@few
@given(sizes, sizes, sizes, seeds)
def test_peepholes_of_zero_are_none(B, D, H, seed):
    x, h, c, W = noise(B, D, seed=seed), noise(B, H, seed=seed), noise(B, H, seed=seed + 1), weights(4, D, H)
    zero = torch.zeros(H).double()
    for a, b in zip(peephole_lstm_cell(x, h, c, *W, zero, zero, zero), lstm_cell(x, h, c, *W), strict=True):
        close(a, b)


@few
@given(sizes, sizes, sizes, seeds)
def test_a_peephole_is_a_bias_that_depends_on_the_cell(B, D, H, seed):
    """Row by row, the plain cell with the peepholes' part in its bias; o's part needs the new cell state."""
    x, h, c, (W, U, b) = noise(B, D, seed=seed), noise(B, H, seed=seed), noise(B, H, seed=seed + 1), weights(4, D, H)
    p_i, p_f, p_o = (noise(H, seed=seed + k) for k in range(3))
    found_h, found_c = peephole_lstm_cell(x, h, c, W, U, b, p_i, p_f, p_o)
    for row in range(B):
        extra = torch.cat([p_i * c[row], p_f * c[row], 0 * p_o, p_o * found_c[row]])
        one_h, one_c = lstm_cell(x[row : row + 1], h[row : row + 1], c[row : row + 1], W, U, b + extra)
        close(found_h[row], one_h[0])
        close(found_c[row], one_c[0])


@few
@given(sizes, sizes, sizes, seeds)
def test_open_gates_keep_and_shut_gates_write(B, D, H, seed):
    x, h, c = noise(B, D, seed=seed), noise(B, H, seed=seed + 1), noise(B, H, seed=seed + 2)
    W, V = weights(1, D, H), weights(1, D, H, seed=4)
    close(gated_cell(x, h, *W, V[0], V[1], V[2] + 1e4), h)
    close(gated_cell(x, h, *W, V[0], V[1], V[2] - 1e4), torch.relu(x @ W[0].T + h @ W[1].T + W[2]))
    big = torch.full((H,), 1e4).double()
    W4, U4, b4 = weights(4, D, H)
    close(lstm_cell(x, h, c, W4, U4, b4 + torch.cat([-big, big, 0 * big, 0 * big]))[1], c)
    W3, U3, b3 = weights(3, D, H)
    close(gru_cell(x, h, W3, U3, b3 + torch.cat([0 * big, big, 0 * big])), h)
    plain = rnn_cell(x, h, W3[2 * H :], U3[2 * H :], b3[2 * H :])
    close(gru_cell(x, h, W3, U3, b3 + torch.cat([big, -big, 0 * big])), plain)


@few
@given(sizes, sizes, sizes, seeds)
def test_a_gru_stays_between_its_state_and_its_candidate(B, D, H, seed):
    h = torch.tanh(noise(B, H, seed=seed))
    assert gru_cell(5 * noise(B, D, seed=seed), h, *weights(3, D, H)).abs().max() <= 1
    out, _ = lstm_cell(5 * noise(B, D, seed=seed), h, 9 * h, *weights(4, D, H))
    assert out.abs().max() <= 1


def test_the_gradient_along_the_cell_is_the_product_of_the_forget_gates():
    D, H = 3, 5
    W, U, b = weights(4, D, H)
    U = torch.zeros_like(U)  # no way back but along c
    c = c0 = noise(1, H, seed=6)
    h, kept = torch.zeros(1, H).double(), torch.ones(1, H).double()
    for t in range(7):
        x = noise(1, D, seed=t)
        kept = kept * torch.sigmoid(x @ W[H : 2 * H].T + b[H : 2 * H])
        h, c = lstm_cell(x, h, c, W, U, b)
    close(torch.autograd.grad(c.sum(), c0)[0], kept)


@pytest.mark.parametrize(("B", "T", "D", "H"), SIZES)
def test_bidirectional_is_torchs(B, T, D, H):
    xs, h0 = noise(B, T, D), noise(2, B, H, seed=5)
    ahead, back = weights(1, D, H), weights(1, D, H, seed=7)
    layer = nn.RNN(D, H, batch_first=True, bidirectional=True).double()
    copied(layer, *ahead, suffix="_l0")
    copied(layer, *back, suffix="_l0_reverse")
    ours = run_bidirectional(lambda x, h: rnn_cell(x, h, *ahead), lambda x, h: rnn_cell(x, h, *back), xs, h0[0], h0[1])
    theirs, _ = layer(xs, h0)
    close(ours, theirs)
    their_leaves = [xs, h0, *leaves_of(layer, "_l0"), *leaves_of(layer, "_l0_reverse")]
    close_gradients(ours, theirs, [xs, h0, *ahead, *back], their_leaves)


@few
@given(sizes, sizes, sizes, sizes, seeds)
def test_bidirectional_turned_round(B, T, D, H, seed):
    """The reversed sequence read by exchanged cells is the result reversed, its halves exchanged."""
    xs, one, two = noise(B, T, D, seed=seed), weights(1, D, H), weights(1, D, H, seed=4)
    h_f, h_b = noise(B, H, seed=seed), noise(B, H, seed=seed + 1)

    def first(x, h):
        return rnn_cell(x, h, *one)

    def second(x, h):
        return rnn_cell(x, h, *two)

    found = run_bidirectional(first, second, xs, h_f, h_b)
    mirrored = run_bidirectional(second, first, xs.flip(1), h_b, h_f).flip(1)
    close(found, torch.cat([mirrored[..., H:], mirrored[..., :H]], dim=-1))


@few
@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 4), st.booleans())
def test_parameters_are_torchs_without_the_second_bias(D, H, layers, bidirectional):
    layer = nn.LSTM(D, H, num_layers=layers, bidirectional=bidirectional)
    theirs = sum(p.numel() for name, p in layer.named_parameters() if not name.startswith("bias_hh"))
    assert lstm_parameters(D, H, layers, bidirectional) == theirs


@pytest.mark.parametrize(("V", "H", "C"), [(7, 5, 3), (10, 1, 2), (2, 11, 13)])
def test_classifier_is_torchs_lstm(V, H, C):
    model = GatedClassifier(V, H, C).double()
    ids = torch.randint(V, (6, 9), generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([9, 1, 4, 8, 2, 5])
    layer = copied(nn.LSTM(V, H, batch_first=True).double(), model.W, model.U, model.b, suffix="_l0")
    packed = nn.utils.rnn.pack_padded_sequence(
        nn.functional.one_hot(ids, V).double(), lengths, batch_first=True, enforce_sorted=False
    )
    _, (last, _) = layer(packed)
    close(model(ids, lengths), model.to_classes(last[0]))
    assert sum(p.numel() for p in model.parameters()) == lstm_parameters(V, H) + C * (H + 1)


def test_classifier_ignores_padding():
    model, lengths = GatedClassifier(10, 6, 2), torch.tensor([3, 7])
    ids = torch.randint(10, (2, 7), generator=torch.Generator().manual_seed(0))
    other = ids.clone()
    other[0, 3:] = (other[0, 3:] + 1) % 10
    assert torch.equal(model(ids, lengths), model(other, lengths))
    torch.testing.assert_close(model(ids[:1, :3], lengths[:1]), model(ids, lengths)[:1])


def test_nothing_is_changed_in_place():
    x, h, c = noise(2, 3).detach(), noise(2, 5).detach(), noise(2, 5, seed=1).detach()
    W4, W3, p = weights(4, 3, 5), weights(3, 3, 5), [noise(5, seed=k) for k in range(3)]
    inputs = [x, h, c, *W4, *W3, *p]
    before = [value.detach().clone() for value in inputs]
    lstm_cell(x, h, c, *W4)
    peephole_lstm_cell(x, h, c, *W4, *p)
    gru_cell(x, h, *W3)
    run_bidirectional(lambda x, h: h + 1, lambda x, h: h - 1, noise(2, 4, 3), h, h)
    for value, old in zip(inputs, before, strict=True):
        assert torch.equal(value, old)


def zeros(*shapes: tuple[int, ...]) -> list[Tensor]:
    return [torch.zeros(shape) for shape in shapes]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: gated_cell(*zeros((2, 3), (2, 5), (5, 3), (5, 5), (5,), (5, 3), (5, 5), (3,))), r"\(3,\)"),
        (lambda: lstm_cell(*zeros((2, 3), (2, 5), (2, 4), (20, 3), (20, 5), (20,))), r"\(2, 5\) and \(2, 4\)"),
        (lambda: lstm_cell(*zeros((2, 3), (2, 5), (2, 5), (15, 3), (15, 5), (15,))), r"\(15, 3\)"),
        (lambda: gru_cell(*zeros((2, 3), (2, 5), (20, 3), (20, 5), (20,))), r"\(20, 3\)"),
        (lambda: gru_cell(*zeros((2, 3), (3, 5), (15, 3), (15, 5), (15,))), r"\(2, 3\) and \(3, 5\)"),
        (lambda: peephole_lstm_cell(*zeros((2, 3), (2, 5), (2, 5), (20, 3), (20, 5), (20,), (5,), (5, 5), (5,))),
         r"\(5, 5\)"),
        (lambda: run_bidirectional(None, None, *zeros((2, 0, 3), (2, 5), (2, 5))), r"\(2, 0, 3\)"),
        (lambda: lstm_parameters(3, 5, 0), "0 layers"),
        (lambda: GatedClassifier(3, 2, 2)(torch.zeros(1, 4, dtype=torch.long), torch.tensor([5])), r"\[5\]"),
    ],
)  # fmt: skip
def test_impossible_shapes_say_so(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()
