"""A probabilistic grammar without left recursion, as an automaton whose probabilities are all known exactly.

Read from left to right, a sentence only needs to remember the symbols that are still to come. That list is the
automaton's *state*. Its first symbol is a word class, from which the next word is drawn. A rule whose last symbol is
the one it defines (`C -> ... that C`) makes no list longer, so there are finitely many states, and sums over all
derivations of a text are products of matrices (the forward algorithm).

    p(w_1 ... w_T)        =  first · E(w_1) · A · E(w_2) · A  ...  E(w_T) · ends
    p(w | words around)   ∝  sum over states s of  left(s) · p(w | s) · right(s)

E(w) is the diagonal matrix of p(w | s), and A holds the transitions within a sentence or on into the next one.

Glossary: B texts, T words in each, S states, V words in the vocabulary, C words of context.

Source: L. Rabiner, "A tutorial on hidden Markov models", Proc. IEEE 77 (1989), section III.A, equations 19 to 25.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property

import torch
from torch import Tensor

Rules = Mapping[str, Sequence[tuple[float, str]]]
Lexicon = Mapping[str, Mapping[str, float]]
State = tuple[str, ...]

UNKNOWN = "<unk>"
MOST_STATES = 5_000
"""Limit of the number of states. Beyond it, the rules probably do not describe a finite automaton."""


class FiniteGrammar:
    """A language whose probabilities are known.

    Attributes:
        words: the vocabulary: `<unk>`, which no sentence holds, then by falling probability, ties alphabetical.
        states: the symbols that are still to come at each state, a word class first.
        first, ends: probabilities (S,) that a sentence begins with a state, or ends after its word.
        within, running: transitions (S, S) inside a sentence, and in a text in which the next one follows.
        emits: probabilities (S, V) of the word said at each state.
    """

    def __init__(self, rules: Rules, lexicon: Lexicon, start: str = "S") -> None:
        """Build it from `rules[symbol]`, (probability, symbols), and `lexicon[class]`, weights. The rest are words.

        Raises:
            ValueError: a rule's probabilities do not add up to one, a class is empty, or there are too many states.
        """
        _check(rules, lexicon)
        self._rules, self._lexicon = rules, lexicon
        self.states: list[State] = []
        self._number: dict[State, int] = {}
        begins = self._reachable((start,))
        arcs: list[tuple[int, int, float]] = []
        for source, state in enumerate(self.states):  # the list grows while it is read
            arcs += [(source, self._number[to], p) for to, p in self._reachable(state[1:]).items() if to]
        size = len(self.states)
        self.first = torch.zeros(size, dtype=torch.float64)
        for state, p in begins.items():
            self.first[self._number[state]] = p
        self.within = torch.zeros(size, size, dtype=torch.float64)
        for source, target, p in arcs:
            self.within[source, target] += p
        self.ends = (1 - self.within.sum(1)).clamp(min=0)
        self.running = self.within + self.ends[:, None] * self.first
        self.words, self.emits = self._vocabulary()
        self.ids = {word: index for index, word in enumerate(self.words)}

    # -- building ----------------------------------------------------------------------------------------------------

    def _reachable(self, pending: State) -> dict[State, float]:
        """Return the states in which `pending` can continue, with probabilities. () means that nothing is left."""
        found: dict[State, float] = {}
        todo = [(pending, 1.0)]
        while todo:
            symbols, p = todo.pop()
            if symbols and symbols[0] in self._rules:
                for share, expansion in self._rules[symbols[0]]:
                    todo.append(((*expansion.split(), *symbols[1:]), p * share))
                continue
            found[symbols] = found.get(symbols, 0.0) + p
            if symbols and symbols not in self._number:
                self._number[symbols] = len(self.states)
                self.states.append(symbols)
                if len(self.states) > MOST_STATES:
                    raise ValueError(f"these rules have no end of states: a rule for {symbols[0]!r} nests on the left")
        return found

    def _vocabulary(self) -> tuple[tuple[str, ...], Tensor]:
        """Return the words by falling probability in running text, and each state's word probabilities."""
        said = [_shares(self._lexicon.get(state[0], {state[0]: 1.0})) for state in self.states]
        weight: dict[str, float] = {}
        for share, p_state in zip(said, self.stationary.tolist(), strict=True):
            for word, p in share.items():
                weight[word] = weight.get(word, 0.0) + p * p_state
        words = (UNKNOWN, *sorted(weight, key=lambda word: (-round(weight[word], 12), word)))
        number = {word: index for index, word in enumerate(words)}
        emits = torch.zeros(len(said), len(words), dtype=torch.float64)
        for state, share in enumerate(said):
            for word, p in share.items():
                emits[state, number[word]] = p
        return words, emits

    @cached_property
    def stationary(self) -> Tensor:
        """Return the share of each state in running text, (S,): the row vector that `running` leaves unchanged."""
        size = len(self.states)
        system = torch.cat([self.running.T - torch.eye(size, dtype=torch.float64), torch.ones(1, size).double()])
        target = torch.zeros(size + 1, dtype=torch.float64)
        target[-1] = 1.0
        return torch.linalg.lstsq(system, target[:, None]).solution.squeeze(1).clamp(min=0)

    @cached_property
    def frequencies(self) -> Tensor:
        """Return the share of each word in running text, (V,)."""
        return self.stationary @ self.emits

    def together(self, distance: int) -> Tensor:
        """Return P(w, v), (V, V): that a word of running text is w, and the one `distance` places later is v."""
        later = self.emits  # (S, V): the word `distance` places after each state
        for _ in range(distance):
            later = self.running @ later
        return (self.stationary[:, None] * self.emits).T @ later

    # -- words and numbers -------------------------------------------------------------------------------------------

    def encode(self, words: Sequence[str]) -> Tensor:
        """Return the words' ids as a LongTensor (T,), with 0 for unknown words."""
        return torch.tensor([self.ids.get(word, 0) for word in words], dtype=torch.long)

    def decode(self, ids: Tensor) -> list[str]:
        """Return the words of a LongTensor (T,)."""
        return [self.words[index] for index in ids.tolist()]

    # -- drawing -----------------------------------------------------------------------------------------------------

    def draw_sentences(self, count: int, generator: torch.Generator) -> list[list[int]]:
        """Draw `count` independent sentences as lists of ids."""
        state = torch.multinomial(self.first, count, replacement=True, generator=generator)
        alive = torch.arange(count)
        sentences: list[list[int]] = [[] for _ in range(count)]
        while len(alive):
            for row, word in zip(alive.tolist(), self._spoken.draw(state, generator).tolist(), strict=True):
                sentences[row].append(word)
            state = self._onward_or_out.draw(state, generator)
            going = state < len(self.states)
            alive, state = alive[going], state[going]
        return sentences

    def draw_text(self, texts: int, length: int, generator: torch.Generator, *, anywhere: bool = False) -> Tensor:
        """Draw a LongTensor (texts, length) of consecutive sentences, from a first word or `anywhere` in a text."""
        start = self.stationary if anywhere else self.first
        state = torch.multinomial(start, texts, replacement=True, generator=generator)
        said = []
        for _ in range(length):
            said.append(self._spoken.draw(state, generator))
            state = self._onward.draw(state, generator)
        return torch.stack(said, dim=1)

    @cached_property
    def _spoken(self) -> _Choices:
        return _Choices(self.emits)

    @cached_property
    def _onward(self) -> _Choices:
        return _Choices(self.running)

    @cached_property
    def _onward_or_out(self) -> _Choices:
        return _Choices(torch.cat([self.within, self.ends[:, None]], dim=1))

    # -- probabilities -----------------------------------------------------------------------------------------------

    def log_probability(self, words: Sequence[str]) -> float:
        """Return log p of one whole sentence, over all its derivations, or -inf for anything else."""
        return float(self.log_probabilities([self.encode(words).tolist()])[0])

    def log_probabilities(self, sentences: Sequence[Sequence[int]]) -> Tensor:
        """Return log p of many sentences, given as ids: (B,)."""
        found = torch.full((len(sentences),), -torch.inf, dtype=torch.float64)
        by_length: dict[int, list[int]] = {}
        for row, sentence in enumerate(sentences):
            by_length.setdefault(len(sentence), []).append(row)
        for length, rows in by_length.items():
            ids = torch.tensor([list(sentences[row]) for row in rows]).view(len(rows), length)
            forward = self.first[:, None].expand(-1, len(rows)) * float(length > 0)  # (S, B)
            for t in range(length):
                forward = (forward if t == 0 else self._inside @ forward) * self.emits[:, ids[:, t]]
            found[torch.tensor(rows)] = (self.ends @ forward).log()
        return found

    def next_word(self, ids: Tensor, *, running: bool = False) -> Tensor:
        """Return p(w | words before) at every position of ids (B, T), and after the last: (B, T + 1, V).

        A row starts with a sentence, or with `running` anywhere in a text. Within a sentence, probabilities after
        its last word are zero, and so are all after a word that is impossible in the language.
        """
        forward = (self.stationary if running else self.first)[:, None].expand(-1, len(ids))  # (S, B)
        onward = self._across if running else self._inside
        found = [forward.T @ self.emits]
        for t in range(ids.shape[1]):
            forward = forward * self.emits[:, ids[:, t]]
            forward = onward @ (forward / forward.sum(0).clamp(min=1e-300))
            found.append(forward.T @ self.emits)
        return torch.stack(found, dim=1)

    def each_word(self, ids: Tensor) -> Tensor:
        """Return p(word | words before) of every word of ids (B, T), whose rows start with a sentence: (B, T).

        These are the entries of `next_word` for the given words only.
        """
        forward, found = self.first[:, None].expand(-1, len(ids)), []
        for t in range(ids.shape[1]):
            forward = forward * self.emits[:, ids[:, t]]
            found.append(forward.sum(0))
            forward = self._inside @ (forward / found[-1].clamp(min=1e-300))
        return torch.stack(found, dim=1)

    def centre(self, contexts: Tensor, *, ordered: bool = True) -> Tensor:
        """Return p(w | the words around it) in running text, (B, V), for contexts (B, C): C/2 words before, C/2 after.

        Without `ordered`, the words of the context are known but not their order. The probabilities of all orders
        are added, which is the best possible prediction from a bag of words.
        """
        C = contexts.shape[1]
        half, said = C // 2, self._alike[contexts]
        lefts = [tuple(range(half))] if ordered else list(itertools.combinations(range(C), half))
        rights = [tuple(place for place in range(C) if place not in left) for left in lefts]
        orders = [tuple(range(half))] if ordered else list(itertools.permutations(range(half)))
        halves = said[:, torch.tensor([*lefts, *rights], dtype=torch.long)]  # (B, halves, C/2)
        once, which = _distinct(halves if ordered else halves.sort(-1).values, len(self.words))
        before = torch.stack([self._before(once[:, order]) for order in orders]).sum(0)  # (distinct, S)
        after = torch.stack([self._after(once[:, order]) for order in orders]).sum(0)
        around = torch.zeros(len(contexts), len(self.states), dtype=torch.float64)
        for left, right in zip(*(part.unbind(1) for part in which.split(len(lefts), 1)), strict=True):
            around += before[left] * after[right]
        joint = around @ self.emits
        return joint / joint.sum(1, keepdim=True)

    @cached_property
    def _inside(self) -> Tensor:
        """Return the transpose of `within` as a sparse matrix: `_inside @ x` moves one word on in x (S, B)."""
        return self.within.T.to_sparse()

    @cached_property
    def _across(self) -> Tensor:
        """Return the transpose of `running` as a sparse matrix."""
        return self.running.T.to_sparse()

    @cached_property
    def _back_across(self) -> Tensor:
        return self.running.to_sparse()

    @cached_property
    def _alike(self) -> Tensor:
        """Return, for each word (V,), the first one with the same probabilities, which predicts the same context."""
        use = self.emits / self.emits.amax(0).clamp(min=1e-300)
        first: dict[bytes, int] = {}
        return torch.tensor([first.setdefault(u.numpy().round(9).tobytes(), i) for i, u in enumerate(use.T)])

    def _before(self, words: Tensor) -> Tensor:
        """Return p(words, then the state), (B, S)."""
        forward = self.stationary[:, None].expand(-1, len(words))
        for word in words.unbind(1):
            forward = self._across @ (forward * self.emits[:, word])
        return forward.T.contiguous()

    def _after(self, words: Tensor) -> Tensor:
        """Return p(words | after the state), (B, S)."""
        backward = torch.ones(len(self.states), len(words), dtype=torch.float64)
        for word in reversed(words.unbind(1)):
            backward = self._back_across @ (backward * self.emits[:, word])
        return backward.T.contiguous()


class _Choices:
    """Rows of probabilities (R, K), mostly zeros, for drawing columns. Only nonzero entries are stored."""

    def __init__(self, probabilities: Tensor) -> None:
        most = int((probabilities > 0).sum(1).max())
        ranked, order = probabilities.sort(dim=1, descending=True, stable=True)
        self.columns, self.cumulative = order[:, :most].contiguous(), ranked[:, :most].cumsum(1)

    def draw(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """Draw a column for each of `rows` (B,), with that row's probabilities."""
        cumulative = self.cumulative[rows]
        coin = torch.rand(len(rows), 1, generator=generator, dtype=torch.float64) * cumulative[:, -1:]
        place = torch.searchsorted(cumulative, coin, right=True).clamp(max=cumulative.shape[1] - 1)
        return self.columns[rows].gather(1, place).squeeze(1)


def _distinct(rows: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Return the distinct ones of rows (..., K) of numbers below `size`, (distinct, K), and each row's index (...)."""
    digits = size ** torch.arange(rows.shape[-1])
    once, which = (rows * digits).sum(-1).unique(return_inverse=True)
    return once[:, None] // digits % size, which


def _shares(weights: Mapping[str, float]) -> dict[str, float]:
    total = sum(weights.values())
    return {word: weight / total for word, weight in weights.items()}


def _check(rules: Rules, lexicon: Lexicon) -> None:
    for symbol, expansions in rules.items():
        total = sum(p for p, _ in expansions)
        if abs(total - 1) > 1e-9 or any(p < 0 for p, _ in expansions):
            raise ValueError(f"the probabilities of {symbol!r} add up to {total:g}")
    for name, weights in lexicon.items():
        if not weights or any(weight <= 0 for weight in weights.values()):
            raise ValueError(f"the class {name!r} is empty, or holds a word of no weight")
