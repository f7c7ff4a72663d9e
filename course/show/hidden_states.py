"""Pictures of topic 14: a call on the telephone, what a predictor and a reader make of it, a lattice, and a path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from course.data import telephone

from . import live
from .style import BLUE, COLOURS, GREEN, GREY, INK, ORANGE, SKY, WIDE, finished, for_words, styled

if TYPE_CHECKING:
    from IPython.display import Audio
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Search = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
Posterior = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]

LETTERS = "asd"
START = (0.5, 0.25, 0.25)
CHAIN = ((0.6, 0.0, 0.4), (0.0, 1.0, 0.0), (0.0, 0.2, 0.8))
"""The notebook's small example: what stands at the beginning, and what follows a letter."""
LONGEST = 12
"""Letters in the lattice, and frames of a path, for which there is room."""


# -- figures ---------------------------------------------------------------------------------------------------------


def tone_reader(decibels: Sequence[float], right: Sequence[float]) -> Figure:
    """How many digits of a hundred a linear predictor reads, against the strength of the tones over the noise."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        axes.plot(decibels, [100 * share for share in right], color=BLUE, marker="o")
        axes.axvspan(*telephone.NOISE, color=ORANGE, alpha=0.15)
        axes.annotate("the telephone's lines", (sum(telephone.NOISE) / 2, 98), color=for_words(ORANGE), ha="center")
        axes.axhline(10, color=GREY, linestyle=":", linewidth=1.5)
        axes.annotate("guessing", (max(decibels), 10), (0, 5), textcoords="offset points", color=INK, ha="right")
        axes.set(title="Digits read by a predictor of order 4", xlabel="tones over noise, decibels")
        axes.set(ylabel="read right, %", ylim=(0, 105))
        spoken = ", ".join(f"{share:.0%} at {level:g}" for level, share in zip(decibels, right))
        return finished(figure, f"Digits that the predictor reads, against decibels of tones over noise: {spoken}.")


def call(x: Tensor, labels: Sequence[int], starts: Tensor, ends: Tensor) -> Figure:
    """The spectrogram x (F, T) of one call, with each of its digits above the tone, from `starts` to `ends` (L,)."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        _draw_call(axes, x)
        _mark_digits(axes, labels, starts, ends)
        axes.set(xlabel="frames of 20 milliseconds", ylabel="Hz")
        number = telephone.number([*labels])
        return finished(figure, f"Spectrogram of the call {number}: two bright lines for each digit, in noise.")


def reading(x: Tensor, log_p: Tensor, labels: Sequence[int], starts: Tensor, ends: Tensor) -> Figure:
    """A call x (F, T), and below it what the reader says at each frame: log-probabilities (T, V) of labels."""
    import matplotlib.pyplot as plt

    with styled():
        figure, (above, below) = plt.subplots(2, 1, figsize=(7.2, 5.0), sharex=True)
        _draw_call(above, x)
        _mark_digits(above, labels, starts, ends)
        above.set_ylabel("Hz")
        p = log_p.exp().cpu()
        below.fill_between(range(len(p)), 100 * p[:, 0], color=GREY, alpha=0.2)
        below.annotate("blank", (0.5, 50), color=INK)
        for label in sorted({*labels}):
            below.plot(100 * p[:, label], color=COLOURS[label % 6])
        found = p.argmax(-1).tolist()
        for t, label in enumerate(found):
            if label and (t == 0 or found[t - 1] != label):
                ink = for_words(COLOURS[label % 6])
                below.annotate(telephone.number([label]), (t, 102), ha="center", color=ink)
        for start, end in zip(starts.tolist(), ends.tolist()):
            below.axvspan(start, end, color=SKY, alpha=0.15, zorder=0)
        below.set(title="What the reader says", xlabel="frames of 20 milliseconds", ylabel="probability, %")
        below.set_ylim(0, 118)
        said = telephone.number([label for label, _ in groupby(found) if label])
        number = telephone.number([*labels])
        alt = f"A call of {number}, and below it the reader's probabilities: labels that spell {said}, else blank."
        return finished(figure, alt)


def _draw_call(axes: Axes, x: Tensor) -> None:
    step = telephone.RATE / telephone.WINDOW
    low = telephone.FIRST_BIN * step
    extent = (-0.5, x.shape[1] - 0.5, low - step / 2, low + (x.shape[0] - 0.5) * step)
    axes.imshow(x.cpu().numpy(), origin="lower", aspect="auto", extent=extent)
    axes.grid(False)


def _mark_digits(axes: Axes, labels: Sequence[int], starts: Tensor, ends: Tensor) -> None:
    """Writes each digit above its tone; they take the title's place."""
    for label, start, end in zip(labels, starts.tolist(), ends.tolist()):
        middle = ((start + end) / 2, 1.02)
        digit = telephone.number([label])
        axes.annotate(digit, middle, xycoords=("data", "axes fraction"), ha="center", weight="bold")


def player(sound: Tensor, rate: int) -> Audio:
    """A player for a sound (N,) of `rate` samples a second."""
    from IPython.display import Audio

    return Audio(sound.numpy(), rate=rate)


# -- the widgets -----------------------------------------------------------------------------------------------------


def lattice(viterbi: Search, hmm_posterior: Posterior, typed: str = "sds") -> VBox:
    """The typist of three keys: the lattice of a text that you type, its best path, and the states at each position."""
    import ipywidgets as widgets

    text = widgets.Text(typed, description="seen", continuous_update=True)
    noise = widgets.FloatSlider(0.2, min=0.0, max=0.6, step=0.05, description="noise", continuous_update=False)
    picture, said = (
        live.picture("a lattice of three letters by position, its best path, the posterior of each"),
        live.spoken(2),
    )
    figure = live.stage((7.2, 3.0), left=0.07, right=0.98, bottom=0.16, top=0.88)

    def redraw(_: Any = None) -> None:
        letters = [letter for letter in text.value.lower() if letter in LETTERS][:LONGEST]
        found = _searched(letters, noise.value, viterbi, hmm_posterior) if letters else None
        _draw_lattice(figure, letters, found)
        picture.value = live.drawn(figure)
        said.value = _lattice_in_words(letters, found)

    for control in (text, noise):
        control.observe(redraw, "value")
    redraw()
    return live.panel([widgets.HBox([text, noise], layout=widgets.Layout(flex_flow="row wrap")), picture, said])


def _slips(noise: float) -> Tensor:
    """What is hit when each of the three letters is meant; the neighbours of s share its noise."""
    return torch.tensor([[1 - noise, noise, 0], [noise / 2, 1 - noise, noise / 2], [0, noise, 1 - noise]])


def _searched(
    letters: Sequence[str], noise: float, viterbi: Search, hmm_posterior: Posterior
) -> tuple[list[int], float, Tensor] | None:
    """The best path, its log-probability with the text, and the posterior (T, S); None if all is impossible."""
    seen = torch.tensor([[LETTERS.index(letter) for letter in letters]])
    start, chain, slips = torch.tensor(START).log(), torch.tensor(CHAIN).log(), _slips(noise).log()
    path, score = viterbi(start, chain, slips, seen)
    if not bool(score[0].isfinite()):
        return None
    return path[0].tolist(), float(score[0]), hmm_posterior(start, chain, slips, seen)[0]


def _draw_lattice(figure: Figure, letters: Sequence[str], found: tuple[list[int], float, Tensor] | None) -> None:
    T = max(len(letters), 1)
    with styled():
        (axes,) = live.wiped(figure)
        axes.set(xlim=(-0.6, max(T, 5) - 0.4), ylim=(2.6, -0.6), ylabel="meant")
        axes.set_yticks(range(3), list(LETTERS))
        axes.set_xticks(range(T), list(letters) or [""])
        axes.set_title("Circles: posterior in %. Line: the best path.")
        axes.set_xlabel("seen")
        axes.grid(False)
        for t in range(T - 1):
            for i in range(3):
                for j in range(3):
                    if CHAIN[i][j]:
                        axes.plot([t, t + 1], [i, j], color=GREY, linewidth=0.4 + 1.6 * CHAIN[i][j], alpha=0.4)
        if found is None:
            return
        path, _, posterior = found
        axes.plot(range(T), path, color=ORANGE, linewidth=4, alpha=0.8)
        for t in range(T):
            for i in range(3):
                share = float(posterior[t, i])
                axes.plot(t, i, "o", color=BLUE, markersize=4 + 22 * share**0.5, zorder=3)
                if share > 0.15:
                    axes.text(t, i, f"{100 * share:.0f}", color="white", ha="center", va="center", fontsize=8, zorder=4)


def _lattice_in_words(letters: Sequence[str], found: tuple[list[int], float, Tensor] | None) -> str:
    if not letters:
        return "Type some of the letters a, s and d."
    if found is None:
        return f"No path can make “{''.join(letters)}” with this noise. Its probability is zero."
    path, score, posterior = found
    best = "".join(LETTERS[i] for i in path)
    states = posterior.argmax(-1).tolist()
    steps = [START[states[0]], *(CHAIN[i][j] for i, j in pairwise(states))]
    verdict = "the same" if states == path else "possible, but less likely" if all(steps) else "an impossible path"
    spelt = "".join(LETTERS[i] for i in states)
    return (
        f"Best path: {best}. Path and text together have probability {torch.tensor(score).exp():.2g}. "
        f"The most probable state at each position: {spelt}, {verdict}."
    )


def speller(ctc_collapse: Callable[[list[int]], list[int]], typed: str = "__55_5577_") -> VBox:
    """A path of digits and blanks that you type, frame by frame, and what it collapses to."""
    import ipywidgets as widgets

    text = widgets.Text(typed, description="path", continuous_update=True)
    picture, said = live.picture("a path frame by frame, its repeats joined, its blanks gone"), live.spoken()
    figure = live.stage((7.2, 2.4), left=0.2, right=0.98, bottom=0.04, top=0.88)

    def redraw(_: Any = None) -> None:
        path = [_label(sign) for sign in text.value if sign in telephone.KEYS + "_"][:LONGEST]
        spelt = telephone.number(list(ctc_collapse([*path])))
        _draw_path(figure, path)
        picture.value = live.drawn(figure)
        kept = [label for label, _ in groupby(label for label in path if label)]
        said.value = f"The path spells “{spelt}”. With blanks out first it would spell “{telephone.number(kept)}”."

    text.observe(redraw, "value")
    redraw()
    return live.panel([text, picture, said])


def _label(sign: str) -> int:
    return 0 if sign == "_" else telephone.KEYS.index(sign) + 1


def _draw_path(figure: Figure, path: Sequence[int]) -> None:
    """Three rows: the path, one box for each run of it, and the runs that are no blank."""
    runs, t = [], 0
    for label, run in groupby(path):
        length = len(list(run))
        runs.append((t, length, label))
        t += length
    with styled():
        (axes,) = live.wiped(figure)
        axes.set(xlim=(-0.1, LONGEST + 0.1), ylim=(3.0, -0.1), xticks=[])
        axes.set_yticks([0.4, 1.4, 2.4], ["path", "repeats joined", "blanks gone"])
        axes.grid(False)
        axes.set_title("From frames to digits")
        for start, length, label in runs:
            for frame in range(start, start + length):
                _box(axes, frame, 1, 0, label)
            _box(axes, start, length, 1, label)
            if label:
                _box(axes, start, length, 2, label)


def _box(axes: Axes, x: float, width: float, row: int, label: int) -> None:
    from matplotlib.patches import Rectangle

    colour = GREY if label == 0 else COLOURS[label % 6]
    axes.add_patch(Rectangle((x + 0.04, row + 0.04), width - 0.08, 0.72, facecolor=f"{colour}1A", edgecolor=colour))
    sign = telephone.number([label]) if label else "_"
    axes.text(x + width / 2, row + 0.42, sign, ha="center", va="center", color=INK)


def words_right(shares: Mapping[str, float], noise: float) -> Figure:
    """Bars: the share of words without an error, of what was typed and of what became of it."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=(7.2, 2.2))
        names = list(shares)[::-1]
        bars = axes.barh(names, [100 * shares[name] for name in names], color=(GREEN, BLUE, ORANGE), height=0.6)
        axes.bar_label(bars, [f"{100 * shares[name]:.0f} %" for name in names], padding=3)
        axes.set(title=f"Words without an error, one key in {1 / noise:.0f} missed", xlim=(0, 108), xlabel="%")
        axes.grid(axis="y", visible=False)
        spoken = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
        return finished(figure, f"Share of words without an error: {spoken}.")
