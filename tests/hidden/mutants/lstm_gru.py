"""Wrong answers to topic 04 that the hidden tests must notice, beyond the misconceptions they know by name."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.data import parentheses
from course.hidden.lstm_gru import _Gated
from course.reference.lstm_gru import GatedClassifier as Right
from course.reference.lstm_gru import gated_cell, gru_cell, lstm_cell, peephole_lstm_cell, run_bidirectional
from course.reference.rnn import rnn_cell

sigmoid, tanh = torch.sigmoid, torch.tanh

# -- one gate ----------------------------------------------------------------------------------------------------------


def _gate_and_candidate(x, h, W_x, W_h, b, V_x, V_h, c):
    return sigmoid(x @ V_x.T + h @ V_h.T + c), torch.relu(x @ W_x.T + h @ W_h.T + b)


def the_candidate_alone(x, h, *weights):
    return _gate_and_candidate(x, h, *weights)[1]


def half_and_half(x, h, *weights):
    z, new = _gate_and_candidate(x, h, *weights)
    return (h + new) / 2 + 0 * z


def one_gate_for_all_units(x, h, *weights):
    z, new = _gate_and_candidate(x, h, *weights)
    z = z.mean(1, keepdim=True)
    return z * h + (1 - z) * new


def softmax_for_the_gate(x, h, W_x, W_h, b, V_x, V_h, c):
    z = torch.softmax(x @ V_x.T + h @ V_h.T + c, dim=1)
    return z * h + (1 - z) * torch.relu(x @ W_x.T + h @ W_h.T + b)


def hard_gate(x, h, *weights):
    z, new = _gate_and_candidate(x, h, *weights)
    return torch.where(z > 0.5, h, new)


def gate_cut_from_the_graph(x, h, *weights):
    z, new = _gate_and_candidate(x, h, *weights)
    return z.detach() * h + (1 - z.detach()) * new


def gate_of_the_candidate(x, h, W_x, W_h, b, V_x, V_h, c):
    new = torch.relu(x @ W_x.T + h @ W_h.T + b)
    z = sigmoid(x @ V_x.T + new @ V_h.T + c)
    return z * h + (1 - z) * new


def state_changed_in_place(x, h, *weights):
    z, new = _gate_and_candidate(x, h, *weights)
    with torch.no_grad():
        h.mul_(z).add_((1 - z) * new)
    return h * 1


def always_float32(x, h, *weights):
    return gated_cell(x.float(), h.float(), *(weight.float() for weight in weights))


# -- LSTM: the catalogue's, then more ----------------------------------------------------------------------------------


def _gates(x, h, W, U, b):
    return (x @ W.T + h @ U.T + b).chunk(4, -1)


def l_ifog(x, h, c, *w):
    i, f, o, g = _gates(x, h, *w)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def l_swap_if(x, h, c, *w):
    f, i, g, o = _gates(x, h, *w)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def l_no_tanh_c(x, h, c, *w):
    i, f, g, o = _gates(x, h, *w)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c, c


def l_cand_sig(x, h, c, *w):
    i, f, g, o = _gates(x, h, *w)
    c = f.sigmoid() * c + i.sigmoid() * g.sigmoid()
    return o.sigmoid() * c.tanh(), c


def l_tanh_oc(x, h, c, *w):
    i, f, g, o = _gates(x, h, *w)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return (o.sigmoid() * c).tanh(), c


def l_c_from_h(x, h, c, *w):
    i, f, g, o = _gates(x, h, *w)
    c = f.sigmoid() * h + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def l_cifg(x, h, c, *w):
    _, f, g, o = _gates(x, h, *w)
    c = f.sigmoid() * c + (1 - f.sigmoid()) * g.tanh()
    return o.sigmoid() * c.tanh(), c


def l_swapped_ret(x, h, c, *w):
    return lstm_cell(x, h, c, *w)[::-1]


def l_old_c_out(x, h, c, *w):
    i, f, g, o = _gates(x, h, *w)
    return o.sigmoid() * c.tanh(), f.sigmoid() * c + i.sigmoid() * g.tanh()


def l_forget_comp(x, h, c, *w):
    i, f, g, o = _gates(x, h, *w)
    c = (1 - f.sigmoid()) * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def l_no_cand_gate(x, h, c, *w):
    _, f, g, o = _gates(x, h, *w)
    c = f.sigmoid() * c + g.tanh()
    return o.sigmoid() * c.tanh(), c


def l_detach_c(x, h, c, *w):
    return lstm_cell(x, h, c.detach(), *w)


def state_detached(x, h, c, *w):
    return lstm_cell(x, h.detach(), c, *w)


def h_and_c_exchanged(x, h, c, *w):
    return lstm_cell(x, c, h, *w)


def without_W(x, h, c, W, U, b):
    return lstm_cell(x, h, c, 0 * W, U, b)


def forget_bias_built_in(x, h, c, W, U, b):
    H = h.shape[1]
    return lstm_cell(x, h, c, W, U, torch.cat([b[:H], b[H : 2 * H] + 1, b[2 * H :]]))


def bias_for_the_candidate_only(x, h, c, W, U, b):
    H = h.shape[1]
    return lstm_cell(x, h, c, W, U, torch.cat([0 * b[: 2 * H], b[2 * H : 3 * H], 0 * b[3 * H :]]))


def one_bias_for_all_gates(x, h, c, W, U, b):
    return lstm_cell(x, h, c, W, U, b.chunk(4)[0].repeat(4))


def relu_for_the_candidate(x, h, c, *w):
    i, f, g, o = _gates(x, h, *w)
    c = f.sigmoid() * c + i.sigmoid() * g.relu()
    return o.sigmoid() * c.tanh(), c


def hard_sigmoid(x, h, c, *w):
    i, f, g, o = _gates(x, h, *w)
    c = F.hardsigmoid(f) * c + F.hardsigmoid(i) * g.tanh()
    return F.hardsigmoid(o) * c.tanh(), c


def candidate_squashed_twice(x, h, c, *w):
    i, f, g, o = _gates(x, h, *w)
    c = f.sigmoid() * c + (i.sigmoid() * g.tanh()).tanh()
    return o.sigmoid() * c.tanh(), c


def cell_squashed(x, h, c, *w):
    i, f, g, o = _gates(x, h, *w)
    c = (f.sigmoid() * c + i.sigmoid() * g.tanh()).tanh()
    return o.sigmoid() * c, c


def cell_gated_on_the_way_out(x, h, c, *w):
    new_h, new_c = lstm_cell(x, h, c, *w)
    return new_h, new_c * _gates(x, h, *w)[3].sigmoid()


def output_gate_forgotten(x, h, c, *w):
    new_c = lstm_cell(x, h, c, *w)[1]
    return new_c.tanh(), new_c


def only_the_output(x, h, c, *w):
    return lstm_cell(x, h, c, *w)[0]


def squares_of_U_as_one(x, h, c, W, U, b):
    H = h.shape[1]
    return lstm_cell(x, h, c, W, U.reshape(H, 4 * H).T.contiguous(), b)


# -- GRU: the catalogue's, then more -----------------------------------------------------------------------------------


def _parts(x, h, W, U, b):
    return (*(x @ W.T + b).chunk(3, -1), *U.chunk(3))


def _gru(x, h, w, candidate, mix=lambda z, n, h: (1 - z) * n + z * h, n_is=torch.tanh, order=(0, 1)):
    """A GRU with one of its pieces replaced."""
    x_g, U_g = (x @ w[0].T + w[2]).chunk(3, -1), w[1].chunk(3)
    r, z = (sigmoid(x_g[k] + h @ U_g[k].T) for k in order)
    return mix(z, n_is(candidate(x_g[2], U_g[2], r, h)), h)


def _cho(x_n, U_n, r, h):
    return x_n + (r * h) @ U_n.T


def g_z_swapped(x, h, *w):
    return _gru(x, h, w, _cho, mix=lambda z, n, h: z * n + (1 - z) * h)


def g_zrn(x, h, *w):
    return _gru(x, h, w, _cho, order=(1, 0))


def g_reset_after(x, h, *w):
    return _gru(x, h, w, lambda x_n, U_n, r, h: x_n + r * (h @ U_n.T))


def g_no_reset(x, h, *w):
    return _gru(x, h, w, lambda x_n, U_n, r, h: x_n + h @ U_n.T)


def g_reset_no_U(x, h, *w):
    return _gru(x, h, w, lambda x_n, U_n, r, h: x_n + r * h)


def g_n_sig(x, h, *w):
    return _gru(x, h, w, _cho, n_is=torch.sigmoid)


def g_reset_all(x, h, *w):
    return _gru(x, h, w, lambda x_n, U_n, r, h: r * (x_n + h @ U_n.T))


def g_no_1mz(x, h, *w):
    return _gru(x, h, w, _cho, mix=lambda z, n, h: n + z * h)


def g_extra_tanh(x, h, *w):
    return gru_cell(x, h, *w).tanh()


def g_bias_inside_r(x, h, W, U, b):
    b_n = b.chunk(3)[2]
    return _gru(x, h, (W, U, b), lambda x_n, U_n, r, h: x_n - b_n + r * (h @ U_n.T + b_n))


def reset_from_the_update_gate(x, h, *w):
    return _gru(x, h, w, _cho, order=(1, 1))


def update_from_the_reset_gate(x, h, *w):
    return _gru(x, h, w, _cho, order=(0, 0))


def relu_for_n(x, h, *w):
    return _gru(x, h, w, _cho, n_is=torch.relu)


def order_n_r_z(x, h, *w):
    return gru_cell(x, h, *(torch.cat([part.chunk(3)[k] for k in (1, 2, 0)]) for part in w))


def order_r_n_z(x, h, *w):
    return gru_cell(x, h, *(torch.cat([part.chunk(3)[k] for k in (0, 2, 1)]) for part in w))


def candidate_without_x(x, h, W, U, b):
    W = torch.cat([*W.chunk(3)[:2], 0 * W.chunk(3)[2]])
    return gru_cell(x, h, W, U, b)


def gates_without_x(x, h, W, U, b):
    W = torch.cat([0 * W.chunk(3)[0], 0 * W.chunk(3)[1], W.chunk(3)[2]])
    return gru_cell(x, h, W, U, b)


def old_state_detached(x, h, *w):
    return gru_cell(x, h.detach(), *w)


def kept_state_detached(x, h, *w):
    return _gru(x, h, w, _cho, mix=lambda z, n, h: (1 - z) * n + z * h.detach())


def a_tuple_of_one(x, h, *w):
    return (gru_cell(x, h, *w),)


# -- peepholes ---------------------------------------------------------------------------------------------------------


def _full(p):
    """A whole matrix where a diagonal belongs, filled from the same numbers."""
    return torch.outer(p, p)


def full_matrices(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = _gates(x, h, W, U, b)
    new = sigmoid(f + c @ _full(p_f)) * c + sigmoid(i + c @ _full(p_i)) * tanh(g)
    return sigmoid(o + new @ _full(p_o)) * tanh(new), new


def o_peeks_at_the_old_c(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = _gates(x, h, W, U, b)
    new = sigmoid(f + p_f * c) * c + sigmoid(i + p_i * c) * tanh(g)
    return sigmoid(o + p_o * c) * tanh(new), new


def all_of_them_p_i(x, h, c, W, U, b, p_i, p_f, p_o):
    return peephole_lstm_cell(x, h, c, W, U, b, p_i, p_i, p_i)


def i_sees_nothing(x, h, c, W, U, b, p_i, p_f, p_o):
    return peephole_lstm_cell(x, h, c, W, U, b, 0 * p_i, p_f, p_o)


def f_sees_nothing(x, h, c, W, U, b, p_i, p_f, p_o):
    return peephole_lstm_cell(x, h, c, W, U, b, p_i, 0 * p_f, p_o)


def multiplied_in(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = _gates(x, h, W, U, b)
    new = sigmoid(f * p_f * c) * c + sigmoid(i * p_i * c) * tanh(g)
    return sigmoid(o * p_o * new) * tanh(new), new


def without_c(x, h, c, W, U, b, p_i, p_f, p_o):
    """The peepholes are just more biases."""
    return lstm_cell(x, h, c, W, U, b + torch.cat([p_i, p_f, 0 * p_o, p_o]))


def peeps_without_a_gradient(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = _gates(x, h, W, U, b)
    new = sigmoid(f + p_f * c.detach()) * c + sigmoid(i + p_i * c.detach()) * tanh(g)
    return sigmoid(o + p_o * new.detach()) * tanh(new), new


def o_sees_the_new_c_and_the_old(x, h, c, W, U, b, p_i, p_f, p_o):
    return peephole_lstm_cell(x, h, c, W, U, b + torch.cat([0 * p_i, 0 * p_f, 0 * p_o, p_o * c.mean(0)]), p_i, p_f, p_o)


def peephole_cell_first(x, h, c, *w):
    return peephole_lstm_cell(x, h, c, *w)[::-1]


# -- both directions ---------------------------------------------------------------------------------------------------


def backward_not_reflipped(cell_f, cell_b, xs, h0_f, h0_b):
    H = h0_f.shape[1]
    right = run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b)
    return torch.cat([right[..., :H], right[..., H:].flip(1)], -1)


def averaged(cell_f, cell_b, xs, h0_f, h0_b):
    return sum(run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b).chunk(2, -1)) / 2


def only_the_ends(cell_f, cell_b, xs, h0_f, h0_b):
    right = run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b)
    H = h0_f.shape[1]
    return torch.cat([right[:, -1, :H], right[:, 0, H:]], -1)


def backward_reads_what_forward_wrote(cell_f, cell_b, xs, h0_f, h0_b):
    right = run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b)
    half = right[..., : h0_f.shape[1]]
    return torch.cat([half, half.flip(1)], -1)


def time_first(cell_f, cell_b, xs, h0_f, h0_b):
    return run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b).transpose(0, 1)


def concatenated_in_time(cell_f, cell_b, xs, h0_f, h0_b):
    return torch.cat(run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b).chunk(2, -1), 1)


def units_interleaved(cell_f, cell_b, xs, h0_f, h0_b):
    right = run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b)
    return torch.stack(right.chunk(2, -1), -1).flatten(-2)


def forward_one_step_behind(cell_f, cell_b, xs, h0_f, h0_b):
    right = run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b)
    H = h0_f.shape[1]
    behind = torch.cat([h0_f[:, None], right[:, :-1, :H]], 1)
    return torch.cat([behind, right[..., H:]], -1)


def words_cut_from_the_graph(cell_f, cell_b, xs, h0_f, h0_b):
    return run_bidirectional(cell_f, cell_b, xs.detach(), h0_f, h0_b)


def turned_round_in_place(cell_f, cell_b, xs, h0_f, h0_b):
    right = run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b)
    with torch.no_grad():
        xs.copy_(xs.flip(1).clone())
    return right


# -- counting ----------------------------------------------------------------------------------------------------------


def _count(D, H, layers, d, *, gates=4, extra=0, first=None):
    widths = [D] + [d * H] * (layers - 1)
    return sum((first or d) * gates * H * (width + H + 1) + extra for width in widths)


def with_peepholes(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size, hidden_size, layers, 1 + bidirectional, extra=3 * hidden_size * (1 + bidirectional))


def layers_all_alike(input_size, hidden_size, layers=1, bidirectional=False):
    return layers * _count(input_size, hidden_size, 1, 1 + bidirectional)


def twice_everything(input_size, hidden_size, layers=1, bidirectional=False):
    return (1 + bidirectional) * _count(input_size, hidden_size, layers, 1)


def with_a_readout(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size, hidden_size, layers, 1 + bidirectional) + hidden_size


def with_the_start(input_size, hidden_size, layers=1, bidirectional=False):
    d = 1 + bidirectional
    return _count(input_size, hidden_size, layers, d, extra=2 * d * hidden_size)


def divided_with_a_dot(input_size, hidden_size, layers=1, bidirectional=False):
    return str(_count(input_size, hidden_size, layers, 1 + bidirectional))


# -- a classifier ------------------------------------------------------------------------------------------------------


class ReadsTheFirstState(Right):
    def forward(self, ids, lengths):
        return self.to_classes(self.states(ids)[:, 0])


class LargestOverTime(Right):
    """Max pooling over the real states."""

    def forward(self, ids, lengths):
        real = (torch.arange(ids.shape[1]) < lengths[:, None])[:, :, None]
        return self.to_classes(self.states(ids).masked_fill(~real, -1e9).amax(1))


class MeanOfRealStates(nn.Module):
    """An LSTM behind an embedding, two sets of weights that weak noise makes weaker still; the mean of its states."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.embed, self.hidden = nn.Embedding(vocab_size, hidden), hidden
        self.gates = nn.Linear(2 * hidden, 4 * hidden)
        self.to_classes = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        h, c = torch.zeros(2, len(ids), self.hidden)
        total = torch.zeros(len(ids), self.hidden)
        for t, x in enumerate(self.embed(ids).unbind(1)):
            i, f, g, o = self.gates(torch.cat([x, h], 1)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            total = total + h * (t < lengths)[:, None]
        return self.to_classes(total / lengths[:, None])


class LastStateOfTheBatch(Right):
    """Every sequence is read at the longest one's end."""

    def forward(self, ids, lengths):
        return self.to_classes(self.states(ids)[:, int(lengths.max()) - 1])


class BatchForTime(Right):
    """Goes along the batch, as a layer that wants time first does."""

    def states(self, ids):
        return super().states(ids.T).transpose(0, 1)


class ProbabilitiesOfNothing(Right):
    def forward(self, ids, lengths):
        return super().forward(ids, lengths).argmax(1)


class BackwardOnly(Right):
    """Reads from the right end of the row, padding first."""

    def forward(self, ids, lengths):
        return self.to_classes(self.states(ids.flip(1))[:, -1])


class OneLogit(Right):
    def forward(self, ids, lengths):
        return super().forward(ids, lengths)[:, 0]


class FrozenGates(Right):
    def __init__(self, vocab_size, hidden, classes):
        super().__init__(vocab_size, hidden, classes)
        self.W.requires_grad_(False)
        self.U.requires_grad_(False)


class WindowOfThree(Right):
    """A state that is begun anew for the last three tokens."""

    def forward(self, ids, lengths):
        columns = (lengths[:, None] - 3 + torch.arange(3)).clamp(min=0)
        return self.to_classes(self.states(ids.gather(1, columns))[:, -1])


class BeginsAnywhere(_Gated):
    def start(self, ids):
        return tuple(torch.randn_like(zero) for zero in super().start(ids))


class TanhElman(nn.Module):
    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.W_x = nn.Parameter(torch.randn(hidden, vocab_size))
        self.W_h = nn.Parameter(torch.randn(hidden, hidden))
        self.b = nn.Parameter(torch.zeros(hidden))
        self.read = nn.Linear(hidden, classes)
        self.vocab_size = vocab_size

    def forward(self, ids, lengths):
        h, states = self.b.new_zeros(len(ids), len(self.b)), []
        for x in F.one_hot(ids, self.vocab_size).float().unbind(1):
            h = rnn_cell(x, h, self.W_x, self.W_h, self.b)
            states.append(h)
        return self.read(torch.stack(states, 1)[torch.arange(len(ids)), lengths - 1])


class LogitsBent(Right):
    def forward(self, ids, lengths):
        return super().forward(ids, lengths).relu()


class LogitsSquashed(Right):
    def forward(self, ids, lengths):
        return super().forward(ids, lengths).sigmoid()


# -- the task ----------------------------------------------------------------------------------------------------------


def _answers(balanced):
    return F.one_hot(balanced.long(), 2).double()


def always_corrupted(ids, lengths):
    return _answers(torch.zeros(len(ids)))


def the_other_class(ids, lengths):
    return _answers(~parentheses.is_balanced(ids, lengths))


def counts_tokens(ids, lengths):
    """Every colour opened as often as it is closed."""
    real = (torch.arange(ids.shape[1]) < lengths[:, None])[:, :, None]
    counts = (F.one_hot(ids, parentheses.TOKENS) * real).sum(1)
    return _answers((counts[:, :5] == counts[:, 5:].flip(1)).all(1))


def right_three_times_in_four(ids, lengths):
    real = torch.arange(ids.shape[1]) < lengths[:, None]
    wrong = ((ids * real * torch.arange(1, ids.shape[1] + 1)).sum(1) % 4) == 0
    return _answers(parentheses.is_balanced(ids, lengths) ^ wrong)


MUTANTS = {
    "gated_cell": [
        the_candidate_alone,
        half_and_half,
        one_gate_for_all_units,
        softmax_for_the_gate,
        hard_gate,
        gate_cut_from_the_graph,
        gate_of_the_candidate,
        state_changed_in_place,
        always_float32,
    ],
    "lstm_cell": [
        l_ifog,
        l_swap_if,
        l_no_tanh_c,
        l_cand_sig,
        l_tanh_oc,
        l_c_from_h,
        l_cifg,
        l_swapped_ret,
        l_old_c_out,
        l_forget_comp,
        l_no_cand_gate,
        l_detach_c,
        state_detached,
        h_and_c_exchanged,
        without_W,
        forget_bias_built_in,
        bias_for_the_candidate_only,
        one_bias_for_all_gates,
        relu_for_the_candidate,
        hard_sigmoid,
        candidate_squashed_twice,
        cell_squashed,
        cell_gated_on_the_way_out,
        output_gate_forgotten,
        only_the_output,
        squares_of_U_as_one,
    ],
    "gru_cell": [
        g_z_swapped,
        g_zrn,
        g_reset_after,
        g_no_reset,
        g_reset_no_U,
        g_n_sig,
        g_reset_all,
        g_no_1mz,
        g_extra_tanh,
        g_bias_inside_r,
        reset_from_the_update_gate,
        update_from_the_reset_gate,
        relu_for_n,
        order_n_r_z,
        order_r_n_z,
        candidate_without_x,
        gates_without_x,
        old_state_detached,
        kept_state_detached,
        a_tuple_of_one,
    ],
    "peephole_lstm_cell": [
        full_matrices,
        o_peeks_at_the_old_c,
        all_of_them_p_i,
        i_sees_nothing,
        f_sees_nothing,
        multiplied_in,
        without_c,
        peeps_without_a_gradient,
        o_sees_the_new_c_and_the_old,
        peephole_cell_first,
    ],
    "run_bidirectional": [
        backward_not_reflipped,
        averaged,
        only_the_ends,
        backward_reads_what_forward_wrote,
        time_first,
        concatenated_in_time,
        units_interleaved,
        forward_one_step_behind,
        words_cut_from_the_graph,
        turned_round_in_place,
    ],
    "lstm_parameters": [
        with_peepholes,
        layers_all_alike,
        twice_everything,
        with_a_readout,
        with_the_start,
        divided_with_a_dot,
    ],
    "GatedClassifier": [
        ReadsTheFirstState,
        LargestOverTime,
        MeanOfRealStates,
        LastStateOfTheBatch,
        BatchForTime,
        ProbabilitiesOfNothing,
        BackwardOnly,
        OneLogit,
        FrozenGates,
        WindowOfThree,
        BeginsAnywhere,
        TanhElman,
        LogitsBent,
        LogitsSquashed,
    ],
    "lstm_gru_task": [
        always_corrupted,
        the_other_class,
        counts_tokens,
        right_three_times_in_four,
    ],
}

WITHOUT_COUNTERPART = {
    "l_no_bh": "PyTorch has two biases, we have one: a lost one is the misconception without_the_bias",
    "g_reset_before": "the catalogue's mutant is our reference (Cho 2014), and its reference our mutant g_reset_after",
    "g_bias_outside_r": "it needs PyTorch's second bias; with one bias it is g_reset_after, inside it g_bias_inside_r",
    "bi-LSTM: flip over padding": "run_bidirectional has no lengths: every sequence is as long as the tensor",
    "layer 2 given layer 1's h0": "one layer a call; lstm_parameters asks what upper layers read",
    "forget bias written to both biases": "one bias a gate; forget_bias_built_in adds it where nobody asked",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
