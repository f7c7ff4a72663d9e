"""Pictures and the widget of topic 02: bags as tables, losses as bars, and words on a map."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ..blocks.threads import one_thread
from ..data import grammar
from . import live, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Nearest = Callable[[Tensor, int, int], Tensor]

FAMILIES = {
    "people": (style.BLUE, ("person sg", "person pl", "name")),
    "animals": (style.ORANGE, ("animal sg", "animal pl")),
    "food and places": (style.GREEN, ("food", "place")),
    "singular verbs": (style.PINK, tuple(f"verb {kind} sg" for kind in grammar.VERBS)),
    "plural verbs": ("#A8508A", tuple(f"verb {kind} pl" for kind in grammar.VERBS)),
    "adjectives": (style.AMBER, ("mood", "taste")),
    "adverbs": (style.SKY, ("frequency", "closing")),
    "small words": (style.GREY, ("position", "direction", "determiner sg", "determiner pl", "determiner of food")),
}
"""How classes are coloured on the map. Related classes have similar colours."""
TWO_KINDS = (
    ("food", "animal sg"),
    ("person sg", "verb about food pl"),
    ("person sg", "verb about somebody pl"),
    ("person pl", "verb about food sg"),
    ("person pl", "verb about somebody sg"),
)
"""Classes that share words. A lamb eats or is eaten, and a cook may cook."""


# -- figures ---------------------------------------------------------------------------------------------------------


def counts(table: Tensor, words: Sequence[str]) -> Figure:
    """The lecture's table, with a row for each word and a column for each sentence; `table` is (N, V)."""
    values = table.detach().cpu().double().T
    labels = [f"$x_{{{n}}}$" for n in range(1, values.shape[1] + 1)]
    return _table(values, words, labels, "How often does it occur?", "{:.0f}")


def similarities(bags: Tensor, sentences: Sequence[str]) -> Figure:
    """Cosines between the rows of `bags` (N, V), as a table of all pairs."""
    unit = torch.nn.functional.normalize(bags.detach().cpu().double(), dim=1)
    numbers = [f"{n}" for n in range(1, len(sentences) + 1)]
    return _table(
        unit @ unit.T, [f"{n}  {s}" for n, s in zip(numbers, sentences)], numbers, "Cosine of two bags", "{:z.2f}"
    )


def ladder(losses: Mapping[str, float], yours: Mapping[str, float] | None = None) -> Figure:
    """Bars of losses in nats: the best possible readers who know this or that, and `yours`."""
    import matplotlib.pyplot as plt

    rows = sorted([*losses.items(), *(yours or {}).items()], key=lambda row: -row[1])
    with style.styled():
        figure, axes = plt.subplots(figsize=(7.2, 0.9 + 0.42 * len(rows)))
        colours = [style.ORANGE if name in (yours or {}) else style.BLUE for name, _ in rows]
        bars = axes.barh([name for name, _ in rows], [loss for _, loss in rows], color=colours, height=0.65)
        axes.bar_label(bars, [f"{loss:.2f}" for _, loss in rows], padding=4)
        axes.invert_yaxis()
        axes.set(xlabel="loss per word, in nats", xlim=(0, 1.12 * max(loss for _, loss in rows)))
        axes.set_title("What is it worth to know …")
        axes.grid(axis="y", visible=False)
        said = ", ".join(f"{name} {loss:.2f}" for name, loss in rows)
        return style.finished(figure, f"Bars of losses: {said}.")


def word_map(E: Tensor, chosen: str = "", neighbours: Sequence[str] = ()) -> Figure:
    """All words of the grammar in the plane, close together where their vectors in E (V, D) point the same way.

    Classes give the colours, and the model was never told them. A `chosen` word is named, and so are its `neighbours`.
    """
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=(8.4, 6.2))
        places = neighbour_map(E)
        _draw_map(axes, places, chosen, neighbours)
        if not chosen:
            figure.draw_without_rendering()  # from here on it is known where everything stands
            _name_classes(axes, places)
        alt = "Map of word vectors. Words of one class lie together, though the model was never told the classes."
        return style.finished(figure, alt)


def between_two(E: Tensor, words: Sequence[str], kinds: Sequence[str]) -> Figure:
    """How far each word points towards each class, as the cosine with the mean vector of the class's other words."""
    unit = torch.nn.functional.normalize(E.detach().cpu().double(), dim=1)
    ids = grammar.language().ids
    listed = grammar.classes()
    table = torch.zeros(len(words), len(kinds), dtype=torch.float64)
    for column, kind in enumerate(kinds):
        for row, word in enumerate(words):
            others = [ids[other] for other in listed[kind] if other not in words]
            middle = unit[others].mean(0)
            table[row, column] = unit[ids[word]] @ middle / middle.norm()
    return _table(table, words, list(kinds), "Cosine with the mean vector of a class", "{:z.2f}")


def _table(values: Tensor, rows: Sequence[str], columns: Sequence[str], title: str, form: str) -> Figure:
    """Numbers on a grid, darker where they are larger."""
    import matplotlib.pyplot as plt

    with style.styled():
        width = 0.8 + 0.085 * max(map(len, rows)) + max(0.62, 0.085 * max(map(len, columns))) * len(columns)
        figure, axes = plt.subplots(figsize=(width, 0.8 + 0.32 * len(rows)))
        top = max(float(values.max()), 1e-12)
        shades = plt.get_cmap("Blues")(0.3 + 0.35 * values.clamp(min=0).numpy() / top)
        shades[values.numpy() <= 0] = 0  # clear
        axes.imshow(shades, aspect="auto")
        axes.set_yticks(range(len(rows)), list(rows))
        axes.set_xticks(range(len(columns)), list(columns))
        axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False)
        style.plain_axes(axes)
        for i, row in enumerate(values.tolist()):
            for j, value in enumerate(row):
                text = form.format(value).replace("-", "−")
                axes.text(j, i, text, ha="center", va="center", color="black" if value > 0 else style.INK, fontsize=9)
        axes.set_title(title, pad=10)
        return style.finished(figure, f"Table with {len(rows)} rows and {len(columns)} columns: {title}")


def _draw_map(axes: Axes, places: Tensor, chosen: str = "", neighbours: Sequence[str] = ()) -> None:
    listed, ids = grammar.classes(), grammar.language().ids
    faint = 0.35 if chosen else 0.9
    for (family, (colour, kinds)), marker in zip(FAMILIES.items(), (*style.MARKERS, "*")):
        rows = [ids[word] for kind in kinds for word in listed[kind]]
        x, y = places[rows].unbind(1)
        axes.scatter(x, y, s=26, color=colour, marker=marker, alpha=faint, label=family, linewidths=0)
    if chosen:
        _point_out(axes, [chosen, *neighbours], places[[ids[word] for word in (chosen, *neighbours)]])
    axes.set(xticks=[], yticks=[])
    axes.set_title("Words by the company they keep")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9, handletextpad=0.2)
    style.plain_axes(axes)


def _point_out(axes: Axes, words: Sequence[str], places: Tensor) -> None:
    """Ring the words, the first one most boldly, and draw lines to their names, which do not cover each other."""
    import numpy as np
    from matplotlib.collections import LineCollection

    inch, ring = 72 / axes.figure.dpi, 5.0
    points, room = axes.transData.transform(places.tolist()) * inch, (axes.bbox.x0 * inch, axes.bbox.x1 * inch)
    ways = np.array(_label_offsets(points.tolist(), words, room))
    edges = points + ring * ways / np.linalg.norm(ways, axis=1, keepdims=True)
    lines = axes.transData.inverted().transform(np.stack([edges, points + ways], 1).reshape(-1, 2) / inch)
    axes.add_collection(LineCollection(list(lines.reshape(-1, 2, 2)), colors=style.GREY, linewidths=0.6))
    widths = [2.2] + [1.1] * (len(words) - 1)
    axes.scatter(places[:, 0], places[:, 1], s=90, facecolors="none", edgecolors=style.INK, linewidths=widths, zorder=6)
    for word, place, way, width in zip(words, places.tolist(), ways, widths):
        axes.annotate(
            word,
            place,
            way,
            textcoords="offset points",
            ha="left" if way[0] > 0 else "right",
            va="center",
            weight="bold" if width > 2 else "normal",
            zorder=5,
        )


def _label_offsets(
    points: Sequence[Sequence[float]], words: Sequence[str], room: tuple[float, float]
) -> list[tuple[float, float]]:
    """For each name, the offset to the nearest free place beside its point, between the two ends of `room`.

    An offset to the right ends where the name begins, and one to the left where it ends. All are in points.
    """
    line, steps = 14.0, sorted(range(-12, 13), key=abs)
    taken = [(x - 6.0, x + 6.0, y) for x, y in points]

    def is_free(begin: float, end: float, height: float) -> bool:
        apart = (begin > right or end < left or abs(height - at) >= line for left, right, at in taken)
        return room[0] <= begin and end <= room[1] and all(apart)

    found = []
    for (x, y), word in zip(points, words):
        width = 7.0 * len(word) + 4
        beside = ((side, line * step) for step in steps for side in (12.0, -12.0))
        free = ((dx, dy) for dx, dy in beside if is_free(*_extent(x + dx, dx, width), y + dy))
        dx, dy = next(free, (12.0, 0.0))
        taken.append((*_extent(x + dx, dx, width), y + dy))
        found.append((dx, dy))
    return found


def _extent(at: float, side: float, width: float) -> tuple[float, float]:
    """The left and right ends of a name that begins at `at`, or that ends there where `side` is negative."""
    return (at, at + width) if side > 0 else (at - width, at)


def _name_classes(axes: Axes, places: Tensor) -> None:
    """Write each class's name beside its words, and the words of two classes in black, where there is room."""
    listed, ids = grammar.classes(), grammar.language().ids
    islands = []
    for colour, kinds in FAMILIES.values():
        for kind in kinds:
            if kind not in ("determiner pl", "determiner of food"):  # one name does for all determiners
                name = "determiners" if kind.startswith("determiner") else kind.removeprefix("verb ")
                # the middle is a median, so that strays do not move it
                islands.append(
                    (name, places[[ids[word] for word in listed[kind]]].median(0).values, style.for_words(colour))
                )
    both = [set(listed[food]) & set(listed[other]) for food, other in TWO_KINDS]
    islands += [
        (", ".join(sorted(words)), places[[ids[w] for w in words]].median(0).values, style.INK) for words in both
    ]
    inch = 72 / axes.figure.dpi
    drawn = sorted({ids[word] for _, kinds in FAMILIES.values() for kind in kinds for word in listed[kind]})
    points = axes.transData.transform(places[drawn].tolist()) * inch
    ends = (axes.bbox.x0 * inch, axes.bbox.x1 * inch)
    taken: list[tuple[float, float, float, float]] = []
    for name, place, colour in islands:
        anchor = tuple(place.tolist())
        (x, y), width = axes.transData.transform(anchor) * inch, 5.2 * len(name)
        ways = [way for way in _label_candidates(width) if ends[0] <= x + way[0] and x + way[0] + width <= ends[1]] or [
            (0.0, 9.0)
        ]
        boxes = [(x + dx, y + dy, x + dx + width, y + dy + 10) for dx, dy in ways]
        hidden = [_covered(box, points, taken) for box in boxes]
        free = hidden.index(min(hidden))
        taken.append(boxes[free])
        named = axes.annotate(name, anchor, ways[free], textcoords="offset points", color=colour, fontsize=8)
        named.set_in_layout(False)


def _label_candidates(width: float) -> list[tuple[float, float]]:
    """Offsets for a name's lower left corner from its point, in points, the best first."""
    middle, left, right = -width / 2, -width - 8, 8.0
    near = [(middle, 8.0), (middle, -18.0), (right, -4.0), (left, -4.0), (right, 5.0), (left, 5.0)]
    aslant = [(right, -14.0), (left, -14.0), (middle, 18.0), (-8.0, 14.0)]
    return [*near, *aslant, (middle, -28.0), (middle, 28.0), (middle, -38.0)]


def _covered(
    box: tuple[float, float, float, float], points: Any, taken: Sequence[tuple[float, float, float, float]]
) -> float:
    """How much a name in this box would hide: the points below it, and ten times the names."""
    left, low, right, high = box
    x, y = points.T
    marks = int(((x > left - 4) & (x < right + 4) & (y > low - 4) & (y < high + 4)).sum())
    names = sum(left < there[2] and there[0] < right and low < there[3] and there[1] < high for there in taken)
    return marks + 10 * names


@one_thread()
def neighbour_map(E: Tensor, neighbours: float = 45.0, steps: int = 400) -> Tensor:
    """Positions (V, 2) in the plane by t-SNE, so that words whose vectors in E (V, D) point the same way lie together.

    The perplexity of each word is `neighbours`. The map starts from the two principal axes, so it repeats itself.

    Source: L. van der Maaten and G. Hinton, "Visualizing data using t-SNE", JMLR 9 (2008), equations 1 to 5.
    """
    unit = torch.nn.functional.normalize(E.detach().cpu().double(), dim=1)
    near = _attractions(2 - 2 * unit @ unit.T, neighbours)
    centred = unit - unit.mean(0)
    axes = torch.linalg.svd(centred, full_matrices=False).Vh[:2]
    axes = axes * axes.gather(1, axes.abs().argmax(1, keepdim=True)).sign()  # a singular vector has no sign of its own
    y = centred @ axes.T
    y = 1e-2 * y / y.std()
    moved = torch.zeros_like(y)
    for step in range(steps):
        p = near * (4.0 if step < 100 else 1.0)  # exaggerated at first: clusters form before they find their places
        close = 1 / (1 + torch.cdist(y, y).square())
        close.fill_diagonal_(0)
        pull = (p - close / close.sum()) * close
        moved = (0.5 if step < 100 else 0.8) * moved - 160 * (pull.sum(1, keepdim=True) * y - pull @ y)
        y = y + moved
    return y - y.mean(0)


def _attractions(distances: Tensor, neighbours: float) -> Tensor:
    """Symmetric affinities (V, V) from squared `distances`, each row as wide as makes its perplexity `neighbours`."""
    low, high = torch.full_like(distances[:, :1], 1e-3), torch.full_like(distances[:, :1], 1e5)
    distances = distances.clone().fill_diagonal_(torch.inf)
    for _ in range(40):
        middle = (low * high).sqrt()
        p = torch.softmax(-distances * middle, dim=1)
        entropy = -torch.special.xlogy(p, p).sum(1, keepdim=True)
        too_wide = entropy.exp() > neighbours
        low, high = torch.where(too_wide, middle, low), torch.where(too_wide, high, middle)
    return (p + p.T) / (2 * len(p))


# -- the widget ------------------------------------------------------------------------------------------------------


def explorer(E: Tensor, nearest: Nearest, word: str = "lamb") -> Any:
    """A widget: type a word or its first letters, and see its neighbours, found by `nearest`."""
    import ipywidgets as widgets

    E = E.detach().cpu()
    language = grammar.language()
    kinds = grammar.class_table()
    names = list(grammar.classes())
    places = neighbour_map(E)
    unit = torch.nn.functional.normalize(E.double(), dim=1)

    choice = widgets.Combobox(options=sorted(language.words[1:]), value=word, description="Word", ensure_option=True)
    number = widgets.IntSlider(value=6, min=1, max=15, description="Neighbours", continuous_update=False)
    picture, said = live.picture("map of all words, with the chosen word and its neighbours"), live.spoken(3)
    figure = live.stage((8.4, 5.2), left=0.01, right=0.78, bottom=0.02, top=0.94)

    def draw(_: Any = None) -> None:
        if choice.value not in language.ids:
            return
        index = language.ids[choice.value]
        found = nearest(E, index, number.value).tolist()
        said.value = _in_words(index, found, unit, kinds, names)
        with style.styled():
            (axes,) = live.wiped(figure)
            _draw_map(axes, places, choice.value, [language.words[i] for i in found])
        picture.value = live.drawn(figure)

    choice.observe(draw, "value")
    number.observe(draw, "value")
    draw()
    controls = widgets.HBox([choice, number], layout=widgets.Layout(flex_flow="row wrap"))
    return live.panel([controls, said, picture])


def _in_words(index: int, found: Sequence[int], unit: Tensor, kinds: Tensor, names: Sequence[str]) -> str:
    """The neighbours with their cosines. Those that share a class are in bold."""
    words = grammar.language().words
    listed = []
    for other in found:
        cosine = f"{escape(words[other])} {float(unit[index] @ unit[other]):.2f}"
        alike = bool((kinds[index] & kinds[other]).any())
        listed.append(f"<b>{cosine}</b>" if alike else cosine)
    own = " and ".join(name for name, is_one in zip(names, kinds[index].tolist()) if is_one) or "no class"
    return f"<b>{escape(words[index])}</b> ({own}) stands near {', '.join(listed)}. Bold: words of the same class."
