"""Wrong answers to topic 02 that the hidden tests must notice, beyond the misconceptions they know by name.

The catalogue's CBOW pads the ends of a text; ours keeps to words that have all their neighbours.
"""

from __future__ import annotations

from collections import Counter

import torch
from torch.nn import functional as F

from course.data import grammar

# -- vocabulary ------------------------------------------------------------------------------------------------------


def starts_at_one(tokens, min_count=1):
    ranked = sorted(set(tokens), key=lambda w: (-tokens.count(w), w))
    return {w: i + 2 for i, w in enumerate(ranked) if tokens.count(w) >= min_count} | {"<unk>": 1}


def gaps_where_words_were_dropped(tokens, min_count=1):
    counts = Counter(tokens)
    return {"<unk>": 0} | {w: i + 1 for i, w in enumerate(sorted(counts)) if counts[w] >= min_count}


def ties_by_length(tokens, min_count=1):
    counts = Counter(tokens)
    ranked = sorted((w for w in counts if counts[w] >= min_count), key=lambda w: (-counts[w], len(w), w[::-1]))
    return {w: i for i, w in enumerate(["<unk>", *ranked])}


def a_list_of_words(tokens, min_count=1):
    counts = Counter(tokens)
    return ["<unk>", *sorted((w for w in counts if counts[w] >= min_count), key=lambda w: (-counts[w], w))]


def words_by_id(tokens, min_count=1):
    return dict(enumerate(a_list_of_words(tokens, min_count)))


def words_of_letters_only(tokens, min_count=1):
    counts = Counter(token for token in tokens if token.isalpha())
    ranked = sorted((w for w in counts if counts[w] >= min_count), key=lambda w: (-counts[w], w))
    return {w: i for i, w in enumerate(["<unk>", *ranked])}


def alphabet_without_case(tokens, min_count=1):
    counts = Counter(tokens)
    ranked = sorted((w for w in counts if counts[w] >= min_count), key=lambda w: (-counts[w], w.lower()))
    return {w: i for i, w in enumerate(["<unk>", *ranked])}


def changes_its_input(tokens, min_count=1):
    counts = Counter(tokens)
    tokens.clear()
    ranked = sorted((w for w in counts if counts[w] > min_count), key=lambda w: (-counts[w], w))
    return {w: i for i, w in enumerate(["<unk>", *ranked])}


# -- bags ------------------------------------------------------------------------------------------------------------


def unknown_in_the_last_column(sentences, vocab):
    counts = torch.zeros(len(sentences), len(vocab))
    for row, sentence in enumerate(sentences):
        for word in sentence:
            counts[row, vocab.get(word, -1)] += 1
    return counts


def unknown_counted_once(sentences, vocab):
    counts = torch.zeros(len(sentences), len(vocab))
    for row, sentence in enumerate(sentences):
        for word in sentence:
            counts[row, vocab.get(word, 0)] += 1
        counts[row, 0] = counts[row, 0].clamp(max=1)
    return counts


def buffered_assignment(sentences, vocab):
    """`counts[row, ids] += 1`: an id that occurs twice is written twice, and added once."""
    counts = torch.zeros(len(sentences), len(vocab))
    for row, sentence in enumerate(sentences):
        counts[row, torch.tensor([vocab.get(w, 0) for w in sentence], dtype=torch.long)] += 1
    return counts


def as_wide_as_the_largest_id_seen(sentences, vocab):
    rows = [torch.bincount(torch.tensor([vocab.get(w, 0) for w in s], dtype=torch.long)) for s in sentences]
    width = max(len(row) for row in rows)
    return torch.stack([F.pad(row, (0, width - len(row))) for row in rows])


def stops_at_an_unknown_word(sentences, vocab):
    counts = torch.zeros(len(sentences), len(vocab))
    for row, sentence in enumerate(sentences):
        for word in sentence:
            counts[row, vocab.get(word, 0)] += 1
            if word not in vocab:
                break
    return counts


def one_list_for_all_rows(sentences, vocab):
    """`[[0] * V] * N` is N times the same list."""
    counts = [[0] * len(vocab)] * len(sentences)
    for row, sentence in zip(counts, sentences, strict=True):
        for word in sentence:
            row[vocab.get(word, 0)] += 1
    return torch.tensor(counts)


def one_bag_for_all(sentences, vocab):
    return buffered_assignment([[w for s in sentences for w in s]], vocab)


def bytes_overflow(sentences, vocab):
    return buffered_assignment(sentences, vocab).bool()


# -- windows: the catalogue's rows -----------------------------------------------------------------------------------


def c_center(ids, radius):
    padded = F.pad(ids, (radius, radius))
    return torch.stack([padded[i - radius : i + radius] for i in range(radius, len(ids) + radius)]), ids


def c_left(ids, radius):
    padded = F.pad(ids, (2 * radius, 0))
    return padded.unfold(0, 2 * radius, 1)[: len(ids)], ids


def c_neg_slice(ids, radius):
    rows = []
    for i in range(len(ids)):
        context = [*ids[i - radius : i].tolist(), *ids[i + 1 : i + radius + 1].tolist()]
        rows.append(context + [0] * (2 * radius - len(context)))
    return torch.tensor(rows), ids


def c_wrap(ids, radius):
    n = len(ids)
    places = [[(i + d) % n for d in range(-radius, radius + 1) if d] for i in range(n)]
    return ids[torch.tensor(places)], ids


def c_drop_borders(ids, radius):
    if len(ids) < 2 * radius:
        raise ValueError("too short")
    rows = range(radius, len(ids) - radius - 1)
    places = torch.tensor([[i + d for d in range(-radius, radius + 1) if d] for i in rows], dtype=torch.long)
    return ids[places.view(-1, 2 * radius)], ids[torch.tensor(list(rows), dtype=torch.long)]


def c_skipgram(ids, radius):
    """One row a pair: the word in the middle, and one of its neighbours to be guessed."""
    pairs = [(i, i + d) for i in range(radius, len(ids) - radius) for d in range(-radius, radius + 1) if d]
    centres, around = torch.tensor(pairs, dtype=torch.long).view(-1, 2).unbind(1)
    return ids[centres][:, None], ids[around]


def radius_for_the_whole_window(ids, radius):
    half = max(radius // 2, 1)
    windows = ids.unfold(0, 2 * half + 1, 1)
    return torch.cat([windows[:, :half], windows[:, half + 1 :]], 1), windows[:, half]


def one_step_too_wide(ids, radius):
    n = len(ids) - 2 * radius
    if n < 0:
        raise ValueError("too short")
    columns = [ids[j : j + n] for j in range(2 * radius + 1) if j != radius + 1]
    return torch.stack(columns, 1), ids[radius + 1 : radius + 1 + n]


def sorted_bags(ids, radius):
    n = len(ids) - 2 * radius
    if n < 0:
        raise ValueError("too short")
    columns = [ids[j : j + n] for j in range(2 * radius + 1) if j != radius]
    return torch.stack(columns, 1).sort(1).values, ids[radius : radius + n]


def crashes_without_windows(ids, radius):
    rows = [torch.cat([ids[t - radius : t], ids[t + 1 : t + radius + 1]]) for t in range(radius, len(ids) - radius)]
    return torch.stack(rows), ids[radius : len(ids) - radius]


# -- loss ------------------------------------------------------------------------------------------------------------


def _log_p(logits, dim=1):
    return torch.log_softmax(logits, dim)


def c_softmax_ce(logits, targets):
    return F.nll_loss(_log_p(torch.softmax(logits, 1)), targets)


def c_sum_reduction(logits, targets):
    return F.nll_loss(_log_p(logits), targets, reduction="sum")


def probabilities_for_their_logarithms(logits, targets):
    return -torch.softmax(logits, 1)[range(len(targets)), targets].mean()


def one_against_all(logits, targets):
    return F.binary_cross_entropy_with_logits(logits, F.one_hot(targets, logits.shape[1]).to(logits))


def squared_error(logits, targets):
    return (torch.softmax(logits, 1) - F.one_hot(targets, logits.shape[1])).square().sum(1).mean()


def largest_for_logsumexp(logits, targets):
    return (logits.amax(1) - logits[range(len(targets)), targets]).mean()


def detached(logits, targets):
    return F.nll_loss(_log_p(logits.detach()), targets)


def always_the_first_target(logits, targets):
    return F.nll_loss(_log_p(logits), targets[:1].expand_as(targets))


def shifted_in_place(logits, targets):
    with torch.no_grad():
        logits -= logits.amax(1, keepdim=True)
    return F.nll_loss(_log_p(logits), targets)


def a_python_number(logits, targets):
    return F.nll_loss(_log_p(logits), targets).item()


def median_for_mean(logits, targets):
    return F.nll_loss(_log_p(logits), targets, reduction="none").median()


def label_smoothing(logits, targets):
    return 0.99 * F.nll_loss(_log_p(logits), targets) - 0.01 * _log_p(logits).mean()


# -- logits ----------------------------------------------------------------------------------------------------------


def c_sum(contexts, E, W, b):
    return E[contexts].sum(1) @ W.T + b


def c_mean_axis0(contexts, E, W, b):
    return E[contexts].mean(0) @ W.T + b


def c_first_only(contexts, E, W, b):
    return E[contexts[:, 0]] @ W.T + b


def c_relu(contexts, E, W, b):
    return E[contexts].mean(1).relu() @ W.T + b


def c_tied(contexts, E, W, b):
    return E[contexts].mean(1) @ E.T + b


def c_mean_pads(contexts, E, W, b):
    """Id 0 taken for padding."""
    real = (contexts != 0).to(E.dtype)[..., None]
    return (E[contexts] * real).sum(1) / contexts.shape[1] @ W.T + b


def pads_masked(contexts, E, W, b):
    real = (contexts != 0).to(E.dtype)[..., None]
    return (E[contexts] * real).sum(1) / real.sum(1).clamp(min=1) @ W.T + b


def divided_by_the_root(contexts, E, W, b):
    return E[contexts].sum(1) / contexts.shape[1] ** 0.5 @ W.T + b


def divided_by_four(contexts, E, W, b):
    return E[contexts].sum(1) / 4 @ W.T + b


def reshaped_by_columns(contexts, E, W, b):
    B, C = contexts.shape
    return E[contexts].reshape(C, B, -1).mean(0) @ W.T + b


def not_transposed_where_square(contexts, E, W, b):
    return E[contexts].mean(1) @ (W if W.shape[0] == W.shape[1] else W.T) + b


def divided_by_the_batch(contexts, E, W, b):
    return E[contexts].sum(1) / len(contexts) @ W.T + b


def mean_over_dimensions(contexts, E, W, b):
    return E[contexts].mean(2) @ W.T[: contexts.shape[1]] + b


def bias_added_for_every_word(contexts, E, W, b):
    return (E[contexts] @ W.T + b).sum(1) / contexts.shape[1] + b


def ends_weigh_less(contexts, E, W, b):
    C = contexts.shape[1]
    weight = torch.tensor([min(c + 1, C - c) for c in range(C)], dtype=E.dtype)
    return torch.einsum("c,bcd->bd", weight / weight.sum(), E[contexts]) @ W.T + b


def log_probabilities(contexts, E, W, b):
    return (E[contexts].mean(1) @ W.T + b).log_softmax(1)


def E_detached(contexts, E, W, b):
    return E.detach()[contexts].mean(1) @ W.T + b


def a_layer_of_its_own(contexts, E, W, b):
    return torch.nn.Linear(E.shape[1], len(E)).to(E.dtype)(E[contexts].mean(1))


# -- neighbours ------------------------------------------------------------------------------------------------------


def _top(similarity, index, k):
    similarity = similarity.detach().clone()
    similarity[index] = -torch.inf
    return similarity.topk(k).indices


def only_the_asker_normalised(E, index, k):
    return _top(E @ F.normalize(E[index], dim=0), index, k)


def centred_first(E, index, k):
    centred = E - E.mean(0)
    return _top(F.cosine_similarity(centred, centred[index][None], dim=1), index, k)


def columns_normalised(E, index, k):
    unit = F.normalize(E, dim=0)
    return _top(unit @ unit[index], index, k)


def one_too_many(E, index, k):
    return F.cosine_similarity(E, E[index][None], dim=1).topk(min(k + 1, len(E))).indices


def a_python_list(E, index, k):
    return _top(F.cosine_similarity(E, E[index][None], dim=1), index, k).tolist()


def sum_norm(E, index, k):
    unit = F.normalize(E, p=1, dim=1)
    return _top(unit @ unit[index], index, k)


def in_order_of_their_numbers(E, index, k):
    return _top(F.cosine_similarity(E, E[index][None], dim=1), index, k).sort().values


def first_word_excluded(E, index, k):
    return _top(F.cosine_similarity(E, E[index][None], dim=1), 0, k)


def the_first_of_the_list_left_out(E, index, k):
    return F.cosine_similarity(E[index][None], E, dim=1).topk(k + 1).indices[1:]


def normalised_in_place(E, index, k):
    E /= E.norm(dim=1, keepdim=True)
    return _top(E @ E[index], index, k)


# -- the task --------------------------------------------------------------------------------------------------------


class _Fixed:
    def __init__(self, E, logits):
        self.E, self.logits = E, logits
        self.__name__ = logits.__name__

    def __call__(self, contexts):
        return self.logits(contexts)


def _by_kind():
    return grammar.class_table().float()


def repeats_the_context(contexts):
    return F.one_hot(contexts, len(grammar.language().words)).float().amax(1) * 10


def sees_the_word_before_alone(contexts):
    p = grammar.language().next_word(contexts[:, 1:2], running=True)[:, -1]
    return p.clamp(min=1e-9).log()


def knows_the_order(contexts):
    return grammar.language().centre(contexts).clamp(min=1e-9).log()


def not_a_number(contexts):
    return torch.full((len(contexts), len(grammar.language().words)), torch.nan)


MUTANTS = {
    "build_vocab": [
        starts_at_one,
        gaps_where_words_were_dropped,
        ties_by_length,
        a_list_of_words,
        words_by_id,
        words_of_letters_only,
        alphabet_without_case,
        changes_its_input,
    ],
    "bag_of_words": [
        unknown_in_the_last_column,
        unknown_counted_once,
        buffered_assignment,
        as_wide_as_the_largest_id_seen,
        stops_at_an_unknown_word,
        one_list_for_all_rows,
        one_bag_for_all,
        bytes_overflow,
    ],
    "context_windows": [
        c_center,
        c_left,
        c_neg_slice,
        c_wrap,
        c_drop_borders,
        c_skipgram,
        radius_for_the_whole_window,
        one_step_too_wide,
        sorted_bags,
        crashes_without_windows,
    ],
    "cross_entropy": [
        c_softmax_ce,
        c_sum_reduction,
        probabilities_for_their_logarithms,
        one_against_all,
        squared_error,
        largest_for_logsumexp,
        detached,
        always_the_first_target,
        shifted_in_place,
        a_python_number,
        median_for_mean,
        label_smoothing,
    ],
    "cbow_logits": [
        c_sum,
        c_mean_axis0,
        c_first_only,
        c_relu,
        c_tied,
        c_mean_pads,
        pads_masked,
        divided_by_the_root,
        divided_by_four,
        reshaped_by_columns,
        not_transposed_where_square,
        divided_by_the_batch,
        mean_over_dimensions,
        bias_added_for_every_word,
        ends_weigh_less,
        log_probabilities,
        E_detached,
        a_layer_of_its_own,
    ],
    "nearest": [
        only_the_asker_normalised,
        centred_first,
        columns_normalised,
        one_too_many,
        a_python_list,
        sum_norm,
        in_order_of_their_numbers,
        first_word_excluded,
        normalised_in_place,
        the_first_of_the_list_left_out,
    ],
    "cbow_task": [
        _Fixed(_by_kind(), repeats_the_context),
        _Fixed(_by_kind(), sees_the_word_before_alone),
        _Fixed(_by_kind(), knows_the_order),
        _Fixed(_by_kind(), not_a_number),
        _Fixed(_by_kind().T, sees_the_word_before_alone),
    ],
}

WITHOUT_COUNTERPART = {
    "c_mean_zero_pads": "no padding here: only words that have all their neighbours are targets",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
