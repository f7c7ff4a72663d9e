"""Wrong answers to topic 05 that the hidden tests must notice, beyond the misconceptions they know by name."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.data import dates
from course.hidden.bahdanau_attention import ReadsByRule, _Open
from course.reference.bahdanau_attention import AttentionSeq2Seq as Right
from course.reference.bahdanau_attention import additive_scores, alignment_error_rate, attend, shift_right

tanh = torch.tanh

# -- scores ------------------------------------------------------------------------------------------------------------


def b_dot(query, keys, W_q, W_k, v):
    return torch.einsum("ba,bsa->bs", query @ W_q.T, keys @ W_k.T) + 0 * v.sum()


def one_score_for_all(query, keys, W_q, W_k, v):
    return additive_scores(query, keys, W_q, W_k, v).mean(1, keepdim=True).expand(-1, keys.shape[1])


def weights_cut_from_the_graph(query, keys, W_q, W_k, v):
    return additive_scores(query.detach(), keys, W_q.detach(), W_k, v)


def a_trailing_axis(query, keys, W_q, W_k, v):
    return additive_scores(query, keys, W_q, W_k, v).unsqueeze(-1)


def always_float32(query, keys, W_q, W_k, v):
    return additive_scores(query.float(), keys.float(), W_q.float(), W_k.float(), v.float())


def dot_of_the_first_query(query, keys):
    return keys @ query[0]


def dot_keys_reversed(query, keys):
    return torch.einsum("bd,bsd->bs", query, keys.flip(1))


def dot_divided_by_the_width(query, keys):
    return torch.einsum("bd,bsd->bs", query, keys) / query.shape[1]


def general_symmetric(query, keys, W):
    return torch.einsum("bq,qk,bsk->bs", query, (W + W.T) / 2 if W.shape[0] == W.shape[1] else W, keys)


def general_plus_dot(query, keys, W):
    scores = torch.einsum("bq,qk,bsk->bs", query, W, keys)
    return scores + torch.einsum("bd,bsd->bs", query, keys) if query.shape[1] == keys.shape[2] else scores


def general_w_frozen(query, keys, W):
    return torch.einsum("bq,qk,bsk->bs", query, W.detach(), keys)


# -- attending ---------------------------------------------------------------------------------------------------------


def b_last(scores, values, mask):
    return values[:, -1], attend(scores, values, mask)[1]


def b_no_mask_in_the_context(scores, values, mask):
    return attend(scores, values, torch.ones_like(mask))[0], attend(scores, values, mask)[1]


def scores_returned_for_weights(scores, values, mask):
    return attend(scores, values, mask)[0], scores


def log_weights_returned(scores, values, mask):
    context, weights = attend(scores, values, mask)
    return context, weights.clamp(min=1e-30).log()


def values_without_a_gradient(scores, values, mask):
    return attend(scores, values.detach(), mask)


def a_column_too_many(scores, values, mask):
    context, weights = attend(scores, values, mask)
    return context.unsqueeze(1), weights


def masked_in_place(scores, values, mask):
    with torch.no_grad():
        scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)
    return attend(scores * 1, values, mask)


def filled_with_minus_ten_thousand(scores, values, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -1e4), -1) * mask
    return torch.einsum("bs,bsd->bd", weights, values), weights


def replaced_in_the_context_alone(scores, values, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)
    return torch.einsum("bs,bsd->bd", weights, values).nan_to_num(), weights


def scaled_by_the_width_of_the_values(scores, values, mask):
    weights = torch.softmax((scores / values.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf), -1).nan_to_num()
    return torch.einsum("bs,bsd->bd", weights, values), weights


def shares_by_sigmoid(scores, values, mask):
    weights = torch.sigmoid(scores) * mask
    return torch.einsum("bs,bsd->bd", weights, values), weights


def uniform_where_allowed(scores, values, mask):
    return attend(0 * scores, values, mask)


def the_hottest(scores, values, mask):
    return attend(2 * scores, values, mask)


# -- teacher forcing ---------------------------------------------------------------------------------------------------


def shifts_by_two(targets, sos):
    return shift_right(shift_right(targets, sos), sos)


def sos_in_the_first_row_only(targets, sos):
    shifted = targets.roll(1, 1)
    shifted[0, 0] = sos
    return shifted


def in_place(targets, sos):
    targets[:, 1:] = targets[:, :-1].clone()
    targets[:, 0] = sos
    return targets


def eos_dropped_with_a_zero(targets, sos):
    shifted = shift_right(targets, sos)
    return shifted.masked_fill(shifted == 2, 0)


def another_integer_type(targets, sos):
    return shift_right(targets, sos).long() if targets.dtype != torch.int64 else shift_right(targets, sos).float()


def always_one_in_front(targets, sos):
    return shift_right(targets, 1)


# -- a translator ------------------------------------------------------------------------------------------------------


class MeanOfTheKeys(Right):
    """Every place gets the same weight: the scores are made and not used."""

    def step(self, token, state, keys, mask, last):
        if not self.attention:
            return super().step(token, state, keys, mask, last)
        context, weights = attend(0 * keys[:, :, 0], keys, mask)
        read = self.embed_tgt(token)
        state = self.decoder(torch.cat([read, context], 1), state)
        return self.to_tokens(torch.cat([state, context, read], 1)), state, weights


class NothingReadFromTheSource(Right):
    def encode(self, src, src_lengths):
        keys, mask, last = super().encode(src, src_lengths)
        return 0 * keys, mask, 0 * last


class ContextCutOff(Right):
    def step(self, token, state, keys, mask, last):
        return super().step(token, state, keys.detach(), mask, last.detach())


class LastColumnForTheLastState(Right):
    """Packs nothing: the last state has read all the padding."""

    def encode(self, src, src_lengths):
        keys, last = self.encoder(self.embed_src(src))
        mask = torch.arange(src.shape[1]) < src_lengths[:, None]
        return keys, mask, torch.cat([last[0], last[1]], 1)


class OneLogitFewer(Right):
    def forward(self, src, src_lengths, tgt):
        return super().forward(src, src_lengths, tgt)[:, :-1]


class SosKeptInTheIds(Right):
    def decode_greedy(self, src, src_lengths, max_len):
        ids, weights = super().decode_greedy(src, src_lengths, max_len)
        return torch.cat([torch.full_like(ids[:, :1], self.sos), ids[:, :-1]], 1), weights


class LosesItsEos(Right):
    def decode_greedy(self, src, src_lengths, max_len):
        ids, weights = super().decode_greedy(src, src_lengths, max_len)
        return ids.masked_fill(ids == self.eos, self.pad), weights


class IdsWithoutWeights(Right):
    def decode_greedy(self, src, src_lengths, max_len):
        return super().decode_greedy(src, src_lengths, max_len)[0]


class KeysDroppedInEvaluation(_Open):
    def encode(self, src, src_lengths):
        keys, mask, last = super().encode(src, src_lengths)
        return F.dropout(keys, 0.1), mask, last


class WeightsOfThePaddingToo(Right):
    def decode_greedy(self, src, src_lengths, max_len):
        ids, weights = super().decode_greedy(src, src_lengths, max_len)
        return ids, torch.full_like(weights, 1 / weights.shape[2])


class OnlyTheFirstSentence(Right):
    """The eos of the first sentence ends them all."""

    def decode_greedy(self, src, src_lengths, max_len):
        ids, weights = super().decode_greedy(src, src_lengths, max_len)
        end = (ids[0] == self.eos).nonzero()
        n = int(end[0]) + 1 if len(end) else ids.shape[1]
        return ids[:, :n], weights[:, :n]


class EosHardWired(Right):
    def __init__(self, src_vocab, tgt_vocab, embed, hidden, attention, pad=0, sos=1, eos=2):
        super().__init__(src_vocab, tgt_vocab, embed, hidden, attention, 0, sos, 2)


class DrawnNotGreedy(Right):
    def step(self, token, state, keys, mask, last):
        logits, state, weights = super().step(token, state, keys, mask, last)
        return (
            (logits if self.training or torch.is_grad_enabled() else logits + torch.randn_like(logits)),
            state,
            weights,
        )


class BagOfTokens(nn.Module):
    """No order in the target: the mean of what has been written."""

    def __init__(self, src_vocab, tgt_vocab, embed, hidden, attention, pad=0, sos=1, eos=2):
        super().__init__()
        self.inner = Right(src_vocab, tgt_vocab, embed, hidden, attention, pad, sos, eos)
        self.decode_greedy = self.inner.decode_greedy

    def forward(self, src, src_lengths, tgt):
        return self.inner(src, src_lengths, tgt).cummax(1).values


class ScoresBent(Right):
    def step(self, token, state, keys, mask, last):
        logits, state, weights = super().step(token, state, keys, mask, last)
        return logits.relu(), state, weights


# -- how well it aligns ------------------------------------------------------------------------------------------------


def as_a_percentage(weights, gold, lengths):
    return 100 * alignment_error_rate(weights, gold, lengths)


def smallest_weight(weights, gold, lengths):
    return alignment_error_rate(-weights, gold, lengths)


def lengths_of_the_source(weights, gold, lengths):
    real = torch.arange(weights.shape[2]) < lengths[:, None]
    return alignment_error_rate(weights * real[:, None], gold, torch.full_like(lengths, gold.shape[1]))


def off_by_one(weights, gold, lengths):
    return alignment_error_rate(weights, gold + 1, lengths)


def only_the_first_sentence(weights, gold, lengths):
    return alignment_error_rate(weights[:1], gold[:1], lengths[:1])


def neighbours_count(weights, gold, lengths):
    real = torch.arange(gold.shape[1]) < lengths[:, None]
    near = (weights.argmax(-1) - gold).abs() <= 1
    return 1 - float((near & real).sum()) / float(real.sum())


# -- the task ----------------------------------------------------------------------------------------------------------


def _known(src, src_lengths):
    """Whatever the text says, and where its words begin."""
    return ReadsByRule.decode_greedy(src, src_lengths, 16)


class EveryTwentiethWrong:
    @staticmethod
    def decode_greedy(src, src_lengths, max_len):
        ids, weights = _known(src, src_lengths)
        ids[::20, 9] = dates.FIRST + (ids[::20, 9] - dates.FIRST + 1) % 10
        return ids, weights


class LooksEverywhere:
    @staticmethod
    def decode_greedy(src, src_lengths, max_len):
        ids, weights = _known(src, src_lengths)
        real = torch.arange(src.shape[1]) < src_lengths[:, None]
        return ids, (real / src_lengths[:, None])[:, None].expand_as(weights)


class DaysOfTheMonthBefore:
    @staticmethod
    def decode_greedy(src, src_lengths, max_len):
        ids, weights = _known(src, src_lengths)
        return ids.roll(1, 0), weights


class DayForMonth(ReadsByRule):
    """Reads July 4 as the seventh of April wherever it can."""

    @classmethod
    def says(cls, date, text):
        swapped = text[0].isalpha() and date.day <= 12
        return dates.target_ids((date.replace(month=date.day, day=date.month) if swapped else date).isoformat())


MUTANTS = {
    "additive_scores": [
        b_dot,
        one_score_for_all,
        weights_cut_from_the_graph,
        a_trailing_axis,
        always_float32,
    ],
    "dot_scores": [dot_of_the_first_query, dot_keys_reversed, dot_divided_by_the_width],
    "general_scores": [general_symmetric, general_plus_dot, general_w_frozen],
    "attend": [
        b_last,
        b_no_mask_in_the_context,
        scores_returned_for_weights,
        log_weights_returned,
        values_without_a_gradient,
        a_column_too_many,
        masked_in_place,
        filled_with_minus_ten_thousand,
        replaced_in_the_context_alone,
        scaled_by_the_width_of_the_values,
        shares_by_sigmoid,
        uniform_where_allowed,
        the_hottest,
    ],
    "shift_right": [
        shifts_by_two,
        another_integer_type,
        sos_in_the_first_row_only,
        in_place,
        eos_dropped_with_a_zero,
        always_one_in_front,
    ],
    "AttentionSeq2Seq": [
        MeanOfTheKeys,
        NothingReadFromTheSource,
        ContextCutOff,
        LastColumnForTheLastState,
        OneLogitFewer,
        SosKeptInTheIds,
        LosesItsEos,
        IdsWithoutWeights,
        KeysDroppedInEvaluation,
        WeightsOfThePaddingToo,
        OnlyTheFirstSentence,
        EosHardWired,
        DrawnNotGreedy,
        BagOfTokens,
        ScoresBent,
    ],
    "alignment_error_rate": [
        as_a_percentage,
        smallest_weight,
        lengths_of_the_source,
        off_by_one,
        only_the_first_sentence,
        neighbours_count,
    ],
    "bahdanau_attention_task": [EveryTwentiethWrong, LooksEverywhere, DayForMonth, DaysOfTheMonthBefore],
}

WITHOUT_COUNTERPART = {
    "b_proj_values": "attend gets its values from outside; a translator may well keep projected ones",
    "s_t for s_{t-1}": "Luong's timing is a published convention, which AttentionSeq2Seq accepts (LuongsTiming)",
    "b_scaled, b_relu, b_sep_tanh, b_no_tanh, b_repeat_mix": "misconceptions of additive_scores, by other names",
    "b_dim0, b_mask_after, b_mask_zero, b_mask_inv, b_mean": "all are misconceptions of attend, by other names",
}
"""Catalogue rows of this topic that are no mutants here, and why."""
