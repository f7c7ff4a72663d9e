"""A probabilistic grammar without nesting on the left, as an automaton whose probabilities are all known exactly.

Read from left to right, a sentence needs to remember only what is still to be said. That list of symbols is the
automaton's *state*. Its first symbol is a class of words, from which the next word is drawn. A rule whose last symbol
is the one it defines (`C -> ... that C`) makes no list longer, so there are finitely many states, and sums over all
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
"""With more states than this, the rules hardly describe a finite automaton."""


class FiniteGrammar:
    """A language whose probabilities are known.

    Attributes:
        words: the vocabulary: `<unk>`, which no sentence holds, then by falling probability, ties alphabetical.
        states: what is still to be said at each state, a class of words first.
        first, ends: probabilities (S,) that a sentence begins with a state, or is over after its word.
        within, running: transitions (S, S) inside a sentence, and of a text that goes on with the next one.
        emits: probabilities (S, V) of the word said at each state.
    """

    def __init__(self, rules: Rules, lexicon: Lexicon, start: str = "S") -> None:
        """`rules[symbol]` lists (probability, symbols), `lexicon[class]` weighs words; any other symbol is a word.

        Raises:
            ValueError: probabilities of a rule do not add up to one, a class is empty, or the states never end.
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
        """The states in which `pending` can continue, with their probabilities; () when nothing is left to say."""
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
        """The words by falling probability in running text, and what each state says."""
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
        """How often running text is in each state, (S,): the row vector that `running` leaves as it is."""
        size = len(self.states)
        system = torch.cat([self.running.T - torch.eye(size, dtype=torch.float64), torch.ones(1, size).double()])
        target = torch.zeros(size + 1, dtype=torch.float64)
        target[-1] = 1.0
        return torch.linalg.lstsq(system, target[:, None]).solution.squeeze(1).clamp(min=0)

    @cached_property
    def frequencies(self) -> Tensor:
        """How often running text holds each word, (V,)."""
        return self.stationary @ self.emits

    def together(self, distance: int) -> Tensor:
        """P(w, v), (V, V): that a word of running text is w, and the one `distance` places later is v."""
        later = self.emits  # (S, V): what is said `distance` places after each state
        for _ in range(distance):
            later = self.running @ later
        return (self.stationary[:, None] * self.emits).T @ later

    # -- words and numbers -------------------------------------------------------------------------------------------

    def encode(self, words: Sequence[str]) -> Tensor:
        """LongTensor (T,) of the words' ids; 0 for words that the language does not have."""
        return torch.tensor([self.ids.get(word, 0) for word in words], dtype=torch.long)

    def decode(self, ids: Tensor) -> list[str]:
        """The words of a LongTensor (T,)."""
        return [self.words[index] for index in ids.tolist()]

    # -- drawing -----------------------------------------------------------------------------------------------------

    def draw_sentences(self, count: int, generator: torch.Generator) -> list[list[int]]:
        """`count` independent sentences as lists of ids; all chance comes from `generator`."""
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
        """LongTensor (texts, length): sentence after sentence, from a first word on, or from `anywhere` in a text."""
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
        """log p of one whole sentence, over all its derivations. It is -inf for what is no sentence."""
        return float(self.log_probabilities([self.encode(words).tolist()])[0])

    def log_probabilities(self, sentences: Sequence[Sequence[int]]) -> Tensor:
        """log p of many sentences, given as ids: (B,)."""
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
        """p(w | words before) at every position of ids (B, T), and after the last: (B, T + 1, V).

        A row starts with a sentence, or with `running` anywhere in a text. Within a sentence, probabilities after
        its last word are zeros, and so are all after something that the language cannot say.
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
        """p(word | words before) of every word of ids (B, T), whose rows start with a sentence: (B, T).

        These are the entries of `next_word` for the words that came, without those for all others.
        """
        forward, found = self.first[:, None].expand(-1, len(ids)), []
        for t in range(ids.shape[1]):
            forward = forward * self.emits[:, ids[:, t]]
            found.append(forward.sum(0))
            forward = self._inside @ (forward / found[-1].clamp(min=1e-300))
        return torch.stack(found, dim=1)

    def centre(self, contexts: Tensor, *, ordered: bool = True) -> Tensor:
        """p(w | the words around it) in running text, (B, V), for contexts (B, C): C/2 words before, C/2 after.

        Without `ordered`, it knows the words of the context but not which stood where. It adds up the probabilities
        of all their orders, which is the best that any reader of the bag can do.
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
        """The transpose of `within`, sparse: `_inside @ x` goes one word further in x (S, B)."""
        return self.within.T.to_sparse()

    @cached_property
    def _across(self) -> Tensor:
        """The same of `running`."""
        return self.running.T.to_sparse()

    @cached_property
    def _back_across(self) -> Tensor:
        return self.running.to_sparse()

    @cached_property
    def _alike(self) -> Tensor:
        """For each word (V,) the first one that is used exactly alike, so that both say the same of their context."""
        use = self.emits / self.emits.amax(0).clamp(min=1e-300)
        first: dict[bytes, int] = {}
        return torch.tensor([first.setdefault(u.numpy().round(9).tobytes(), i) for i, u in enumerate(use.T)])

    def _before(self, words: Tensor) -> Tensor:
        """(B, S): p(words, then the state)."""
        forward = self.stationary[:, None].expand(-1, len(words))
        for word in words.unbind(1):
            forward = self._across @ (forward * self.emits[:, word])
        return forward.T.contiguous()

    def _after(self, words: Tensor) -> Tensor:
        """(B, S): p(words | after the state)."""
        backward = torch.ones(len(self.states), len(words), dtype=torch.float64)
        for word in reversed(words.unbind(1)):
            backward = self._back_across @ (backward * self.emits[:, word])
        return backward.T.contiguous()


class _Choices:
    """Rows of probabilities (R, K), mostly zeros, to draw columns from: only what is possible is kept."""

    def __init__(self, probabilities: Tensor) -> None:
        most = int((probabilities > 0).sum(1).max())
        ranked, order = probabilities.sort(dim=1, descending=True, stable=True)
        self.columns, self.cumulative = order[:, :most].contiguous(), ranked[:, :most].cumsum(1)

    def draw(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """A column for each of `rows` (B,), with that row's probabilities."""
        cumulative = self.cumulative[rows]
        coin = torch.rand(len(rows), 1, generator=generator, dtype=torch.float64) * cumulative[:, -1:]
        place = torch.searchsorted(cumulative, coin, right=True).clamp(max=cumulative.shape[1] - 1)
        return self.columns[rows].gather(1, place).squeeze(1)


def _distinct(rows: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """The distinct rows of numbers below `size` in rows (..., K), (distinct, K), and which one each row is (...)."""
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
