"""Pictures and widgets of topic 03: memory over time, gradients over distance, accuracy over length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ..blocks.threads import one_thread
from ..data.parentheses import COLOURS as KINDS
from ..data.parentheses import LENGTHS, SYMBOLS, examples, is_balanced
from . import live, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = (style.BLUE, style.ORANGE, style.GREEN, style.PINK, style.AMBER)
"""One colour for each kind of parenthesis, opening and closing alike."""

COMES_BACK = r"$\|\partial L/\partial h_0\|\;/\;\|\partial L/\partial h_T\|$"
"""The axis label of a gradient's norm after T steps back, as a share of its norm at the end."""

Bptt = Callable[..., dict[str, Tensor]]
Model = Callable[[Tensor, Tensor], Tensor]


def unrolled(steps: int = 4) -> Figure:
    """Draw the loop beside the same loop unrolled in time, with one cell and one set of weights at every step."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=(7.2, 2.5))
        _step(axes, 0.0, "$x_t$", "$h_t$", style.BLUE)
        axes.plot([0, 0.8, 0.8], [0.56, 0.56, 0.0], color=style.ORANGE, lw=1.6)
        _arrow(axes, (0.83, 0.0), (0.37, 0.0), style.ORANGE)
        ink = style.for_words(style.ORANGE)
        axes.text(0.9, 0.3, "$W_h$", color=ink, ha="left", va="center", fontsize=9)
        axes.text(1.6, 0.0, "=", ha="center", va="center", fontsize=20)
        for t in range(1, steps + 1):
            place = 1.7 + 1.45 * t
            _step(axes, place, f"$x_{t}$", f"$h_{t}$", style.BLUE)
            _arrow(axes, (place - 1.08 if t > 1 else place - 0.75, 0), (place - 0.37, 0), style.ORANGE)
            axes.text(
                place - 0.73,
                0.14,
                "$W_h$" if t > 1 else "",
                color=style.for_words(style.ORANGE),
                ha="center",
                fontsize=9,
            )
            if t == 1:
                axes.text(place - 0.92, 0.0, "$h_0$", ha="center", va="center")
        axes.set(xlim=(-0.8, 1.7 + 1.45 * steps + 0.6), ylim=(-1.35, 1.35), aspect="equal")
        axes.axis("off")
        return style.finished(
            figure,
            "On the left, one cell has an arrow from its output back to its input. On the right, the same cell is "
            f"drawn once for each of {steps} steps. Each hands its state to the next through the same weights W_h.",
        )


def _step(axes: Axes, place: float, below: str, above: str, colour: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    box = FancyBboxPatch((place - 0.27, -0.27), 0.54, 0.54, boxstyle="round,pad=0.06", fc="none", ec=colour, lw=2)
    axes.add_patch(box)
    axes.text(place, 0, "cell", ha="center", va="center")
    _arrow(axes, (place, -0.85), (place, -0.37), style.INK)
    _arrow(axes, (place, 0.37), (place, 0.85), style.INK)
    axes.text(place, -0.9, below, ha="center", va="top")
    axes.text(place, 0.9, above, ha="center", va="bottom")


def _arrow(axes: Axes, tail: tuple[float, float], head: tuple[float, float], colour: str) -> None:
    axes.annotate("", head, tail, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.6})


def windows(lengths: Sequence[int], sizes: Sequence[int], accuracy: Sequence[Sequence[float]]) -> Figure:
    """Plot how often the best possible window of n tokens is right, a line for each length."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=style.WIDE)
        for line, (length, values) in enumerate(zip(lengths, accuracy, strict=True)):
            axes.plot(sizes, values, marker=style.MARKERS[line], label=f"sequences of {length}")
        axes.axhline(0.5, color=style.GREY, lw=1, ls="--", label="a coin")
        axes.set(xlabel="window n, in tokens", ylabel="best possible accuracy", ylim=(0.45, 1.03), xticks=list(sizes))
        axes.set_title("What could a window of n tokens know?")
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.08))
        return style.finished(
            figure,
            "Best possible accuracy of a window of n tokens. It is at chance for n up to 3 and then rises slowly to "
            + "; ".join(
                f"{v[-1]:.0%} at n = {sizes[-1]} for length {n}" for n, v in zip(lengths, accuracy, strict=True)
            ),
        )


def states(hs: Tensor, labels: Sequence[str] = (), title: str = "The state after every token") -> Figure:
    """Draw one sequence's states (T, H) as a map, with time to the right, a row for each unit. Zero is clear."""
    import matplotlib.pyplot as plt

    values = hs.detach().double().T.cpu().numpy()
    largest = float(abs(values).max()) or 1.0
    with style.styled():
        figure, axes = plt.subplots(figsize=style.WIDE)
        picture = axes.imshow(values, aspect="auto", cmap=style.DIVERGING, vmin=-largest, vmax=largest)
        style.plain_axes(axes)
        axes.set_xticks(range(len(hs)), labels or [str(t + 1) for t in range(len(hs))])
        axes.set(xlabel="token read at this step" if labels else "step t", ylabel="unit of $h_t$", yticks=[])
        axes.set_title(title)
        figure.colorbar(picture, ax=axes, label="value", fraction=0.04, pad=0.02)
        return style.finished(figure, f"Heat map of {values.shape[0]} units over {len(hs)} steps. {title}.")


def fading(curves: Mapping[str, Sequence[float]], ylabel: str, title: str, limits: tuple[float, float]) -> Figure:
    """Plot positive amounts against distance in steps, on a logarithmic axis, a line for each entry of `curves`."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=style.WIDE)
        _fade(axes, curves, limits, ylabel, title)
        ends = "; ".join(f"{name}: from {v[0]:.2g} to {v[-1]:.2g}" for name, v in curves.items())
        return style.finished(figure, f"{title} Values at the smallest and largest distance: {ends}.")


def _fade(
    axes: Axes,
    curves: Mapping[str, Sequence[float]],
    limits: tuple[float, float],
    ylabel: str,
    title: str,
    distances: Sequence[int] = (),
) -> None:
    for line, (name, values) in enumerate(curves.items()):
        every = max(len(values) // 8, 1)
        at = distances or range(1, len(values) + 1)
        axes.semilogy(at, values, marker=style.MARKERS[line], markevery=every, label=name)
    axes.axhline(1.0, color=style.GREY, lw=1, ls="--")
    axes.set(xlabel="distance in steps", ylabel=ylabel, ylim=limits)
    axes.set_title(title)
    if len(curves) > 1:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def clipping(runs: Mapping[str, tuple[Sequence[float], Sequence[float]]], max_norm: float) -> Figure:
    """Plot loss and gradient norm, before any clipping, of one training step after another, for each of the `runs`."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.3))
        for line, (name, (losses, norms)) in enumerate(runs.items()):
            look = {"color": (style.BLUE, style.ORANGE)[line % 2], "ls": ("-", (0, (4, 1.5)))[line % 2], "lw": 1.6}
            left.plot(losses, label=name, **look)
            right.semilogy([max(norm, 1e-7) for norm in norms], **look)
        right.axhline(max_norm, color=style.GREY, lw=1, ls="--")
        left.set(xlabel="training step", ylim=(0, None))
        left.set_title("Loss")
        right.set(xlabel="training step")
        right.set_title("Norm of all gradients before clipping")
        figure.legend(loc="outside upper center", ncols=2)
        ends = "; ".join(
            f"{name}: loss {losses[0]:.2f} to {losses[-1]:.2f}, largest norm {max(norms):.0f}, last {norms[-1]:.2g}"
            for name, (losses, norms) in runs.items()
        )
        return style.finished(figure, f"Training with and without clipping at {max_norm:g}. {ends}.")


def accuracy_by_length(
    lengths: Sequence[int], curves: Mapping[str, Sequence[float]], trained: tuple[int, int] = LENGTHS
) -> Figure:
    """Plot accuracy against the length of the sequences, with the lengths of training shaded."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=style.WIDE)
        axes.axvspan(*trained, color=style.SKY, alpha=0.2, lw=0, label="lengths of training")
        for line, (name, values) in enumerate(curves.items()):
            axes.plot(lengths, values, marker=style.MARKERS[line], ls=("-", "--", ":")[line % 3], label=name)
        axes.axhline(0.5, color=style.GREY, lw=1, ls="--", label="a coin")
        axes.set(xlabel="length of the sequence", ylabel="accuracy", ylim=(0.45, 1.03))
        axes.set_title("How far does the memory reach?")
        axes.legend(loc="upper right")
        ends = "; ".join(
            f"{name}: {v[0]:.0%} at {lengths[0]}, {v[-1]:.0%} at {lengths[-1]}" for name, v in curves.items()
        )
        return style.finished(figure, f"Accuracy against length. {ends}.")


def drifting(curves: Mapping[str, Sequence[float]]) -> Figure:
    """Plot the share of impossible tokens at each position, for several ways of choosing what the model reads."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=style.WIDE)
        for line, (name, values) in enumerate(curves.items()):
            axes.plot(range(1, len(values) + 1), values, marker=style.MARKERS[line], markevery=2, label=name)
        axes.set(xlabel="position in the sequence", ylabel="impossible tokens", ylim=(0, None))
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.set_title("How often does it close what is not open?")
        axes.legend(loc="upper left")
        ends = "; ".join(f"{name}: {values[-1]:.1%} at the end" for name, values in curves.items())
        return style.finished(figure, f"Share of impossible tokens by position. {ends}.")


def scheduled_sampling(curves: Mapping[float, tuple[Sequence[float], Sequence[float]]]) -> Figure:
    """Plot the share of impossible tokens at each position, for writers trained with several probabilities p.

    Each entry of `curves` has two lines, one after a true beginning (dashed) and one after the writer's own tokens.
    """
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=style.WIDE)
        for line, (p, (after_truth, after_own)) in enumerate(curves.items()):
            look: dict[str, Any] = {"color": PALETTE[line], "marker": style.MARKERS[line], "markevery": 2}
            positions = range(1, len(after_own) + 1)
            axes.plot(positions, after_own, label=f"p = {p:g}, after its own tokens", **look)
            axes.plot(positions, after_truth, ls="--", label=f"p = {p:g}, after a true beginning", **look)
        axes.set(xlabel="position in the sequence", ylabel="impossible tokens", ylim=(0, None))
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.set_title("Does scheduled sampling help the writer?")
        axes.legend(loc="upper left")
        ends = ". ".join(
            f"With p = {p:g}, {own[-1]:.1%} at the end after its own tokens and {truth[-1]:.1%} after a true beginning"
            for p, (truth, own) in curves.items()
        )
        return style.finished(figure, f"Share of impossible tokens by position. {ends}.")


def mixed(
    choose: Callable[..., Tensor],
    step: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
    h0: Tensor,
    start: int,
    teacher: Tensor,
    p: float,
) -> Tensor:
    """Return what a writer reads (T,) when `choose(targets, own, p, generator)` mixes teacher's tokens with its own.

    `step(token (1,), h)` gives logits (1, V) and the next state.
    """
    coins, generator = torch.Generator().manual_seed(4), torch.Generator().manual_seed(5)
    token, h, read = torch.tensor([start]), h0, []
    with torch.no_grad(), one_thread():
        for target in teacher:
            logits, h = step(token, h)
            own = torch.softmax(logits, dim=-1).multinomial(1, generator=generator)  # (1, 1)
            token = choose(target.view(1, 1), own, p, coins)[0]
            read.append(token)
    return torch.cat(read)


# -- reading a sequence ------------------------------------------------------------------------------------------------


def beliefs(model: Model, ids: Tensor) -> list[float]:
    """Return how probable `model` takes "balanced" after each token of one sequence (T,), as if it ended there."""
    ends = torch.arange(1, len(ids) + 1)
    with torch.no_grad(), one_thread():
        logits = model(ids.repeat(len(ids), 1), ends)
    return torch.softmax(logits.double(), dim=-1)[:, 1].tolist()


_READING: dict[str, Any] = {"height_ratios": (1.3, 2)}


def reading(model: Model, ids: Tensor, read: int | None = None) -> Figure:
    """Draw one sequence (T,), its nesting, and the model's belief after each of the first `read` tokens.

    Dots are full where training could have asked, which is after an even number of tokens if the last one closes.
    """
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(2, 1, figsize=(7.2, 3.6), gridspec_kw={"hspace": 0.02, **_READING})
        said = _read(axes, model, ids, len(ids) if read is None else read)
        return style.finished(figure, said)


def _read(axes: Sequence[Axes], model: Model, ids: Tensor, read: int) -> str:
    """Fill two axes with the tokens and the belief after each, and return a sentence on what they show."""
    top, bottom = axes
    believed = beliefs(model, ids)[:read]
    _parentheses(top, ids.tolist(), read)
    beginnings = torch.arange(1, len(ids) + 1)
    for t in is_balanced(ids.expand(len(ids), -1), beginnings).nonzero().flatten().tolist():
        bottom.axvspan(t - 0.5, t + 0.5, color=style.GREEN, alpha=0.14, lw=0)
    fair = [t for t in range(read) if t % 2 and ids[t] >= KINDS]
    bottom.plot(range(read), believed, color=style.SKY, lw=1.2, marker="o", markerfacecolor="none")
    bottom.plot(fair, [believed[t] for t in fair], "o", color=style.BLUE, markersize=8)
    bottom.axhline(0.5, color=style.GREY, lw=1, ls="--")
    bottom.set(ylim=(-0.06, 1.06), ylabel="P(balanced)")
    for part in (top, bottom):
        part.set_xlim(-0.6, len(ids) - 0.4)
    numbered = range(0, len(ids), 1 if len(ids) <= 12 else 4)
    bottom.set_xticks(numbered, [str(t + 1) for t in numbered])
    bottom.set_xlabel("tokens read (green: balanced if it ended here)")
    verdict = f"after {read} tokens it believes {believed[-1]:.0%}" if believed else "nothing read yet"
    return (
        f"The sequence {''.join(SYMBOLS[i] for i in ids.tolist())}, with arcs between tokens that match, and the "
        f"model's belief that it is balanced: {verdict}."
    )


def _parentheses(axes: Axes, ids: Sequence[int], read: int) -> None:
    """Draw the tokens in a row, arcs over those that match, and crosses on those that close the wrong one."""
    from matplotlib.collections import LineCollection

    half = torch.linspace(0, torch.pi, 25)
    arcs, colours = [], []
    stack: list[int] = []
    deepest = 1
    for t, token in enumerate(ids):
        colour = PALETTE[token if token < KINDS else 2 * KINDS - 1 - token]
        shown = 1.0 if t < read else 0.25
        axes.text(t, 0, SYMBOLS[token], color=colour, alpha=shown, ha="center", va="center", fontsize=17, weight="bold")
        if token < KINDS:
            stack.append(t)
            continue
        opened = stack.pop() if stack else None
        if opened is not None and ids[opened] + token == 2 * KINDS - 1:
            span = t - opened
            deepest = max(deepest, span)
            arcs.append(torch.stack([(opened + t + span * half.cos()) / 2, 0.45 + span * half.sin() / 2], 1).numpy())
            colours.append((colour, shown))
        else:
            axes.text(t, -0.75, "×", color=style.INK, alpha=shown, ha="center", va="center", fontsize=12)
    axes.add_collection(LineCollection(arcs, colors=colours, linewidths=1.6))
    axes.set(ylim=(-1.1, deepest / 2 + 0.8))
    style.plain_axes(axes)
    axes.set(xticks=[], yticks=[])


def parse(typed: str) -> Tensor:
    """Return the token ids (T,) of typed parentheses; other characters are left out."""
    return torch.tensor([SYMBOLS.index(character) for character in typed if character in SYMBOLS], dtype=torch.long)


# -- widgets -----------------------------------------------------------------------------------------------------------


def watch_it_read(model: Model) -> Any:
    """A widget: type parentheses, or draw some, and step through them to see the model's belief."""
    import ipywidgets as widgets

    generator = torch.Generator().manual_seed(7)
    typed, steps, good, bad = _sequence_controls()
    picture, said = live.picture("the tokens read, and how sure the network is after each"), widgets.HTML()
    figure = live.stage((7.2, 3.6), rows=2, left=0.1, right=0.99, bottom=0.14, top=0.99, hspace=0.03, **_READING)

    busy = False

    def draw(_: Any = None) -> None:
        if busy:
            return
        ids = parse(typed.value)[:40]
        if not len(ids):
            said.value = f"Type some of {SYMBOLS.replace('<', '&lt;')}"
            return
        with style.styled():
            _read(live.wiped(figure), model, ids, min(steps.value, len(ids)))
        picture.value = live.drawn(figure)
        said.value = ""

    def renew(_: Any = None) -> None:
        nonlocal busy
        length = max(min(len(parse(typed.value)), 40), 1)
        busy = True  # it is drawn once, with all of it read
        steps.max = length
        steps.value = length
        busy = False
        draw()

    def pick(label: int) -> Callable[[Any], None]:
        def click(_: Any) -> None:
            labels = torch.tensor([])
            while label not in labels:
                ids, lengths, labels = examples(4, (8, 24), generator)
            row = int((labels == label).nonzero()[0])
            typed.value = "".join(SYMBOLS[i] for i in ids[row, : lengths[row]].tolist())

        return click

    typed.observe(renew, "value")
    steps.observe(draw, "value")
    good.on_click(pick(1))
    bad.on_click(pick(0))
    draw()
    return live.panel([typed, widgets.HBox([good, bad]), steps, picture, said])


def _sequence_controls() -> tuple[Any, Any, Any, Any]:
    """A text field for a sequence, a slider for how much of it is read, and two buttons for new sequences."""
    import ipywidgets as widgets

    typed = widgets.Text(value="([{}])<>", description="Sequence", tooltip=f"any of {SYMBOLS}", continuous_update=False)
    steps = widgets.IntSlider(
        value=8, min=0, max=8, description="Tokens read", tooltip="the arrow keys step through the sequence"
    )
    good = widgets.Button(description="Draw a balanced one", tooltip="a new balanced sequence")
    bad = widgets.Button(description="Draw a corrupted one", tooltip="a new sequence with two tokens exchanged")
    for box in (typed, steps):
        box.style.description_width = "6.5em"
        box.layout.width = "min(28em, 98%)"
    for button in (good, bad):
        button.layout.width = "13em"
    return typed, steps, good, bad


DISTANCES = range(1, 41)


def gradient_norms(
    bptt: Bptt, radius: float, size: float = 0.0, distances: Sequence[int] = DISTANCES, hidden: int = 24
) -> list[float]:
    """‖∂L/∂h_0‖ / ‖∂L/∂h_T‖ for T in `distances`, through `bptt`: a random W_h with spectral radius `radius`.

    `size` is the standard deviation of the inputs' part in a_t. Small inputs keep tanh linear, large ones saturate it.
    """
    steps = max(DISTANCES)
    generator = torch.Generator().manual_seed(4)
    noise = [torch.randn(s, generator=generator, dtype=torch.float64) for s in ((hidden, hidden), (8, steps, hidden))]
    W_h = radius * noise[0] / torch.linalg.eigvals(noise[0]).abs().max()
    back = torch.randn(8, hidden, generator=generator, dtype=torch.float64)
    W_x, h0, b = torch.eye(hidden).double(), torch.zeros(8, hidden).double(), torch.zeros(hidden).double()
    with torch.no_grad(), one_thread():
        norms = [bptt(size * noise[1][:, :t], h0, W_x, W_h, b, back)["h0"].norm() for t in distances]
    return [float(norm / back.norm()) for norm in norms]


def turn_the_radius(bptt: Bptt) -> Any:
    """A widget: a slider for the spectral radius of W_h, one for the inputs' size, and what is left of the gradient."""
    import ipywidgets as widgets

    radius = widgets.FloatSlider(value=1.0, min=0.4, max=1.8, step=0.05, description="Spectral radius of W_h")
    size = widgets.FloatSlider(value=0.1, min=0.0, max=2.0, step=0.1, description="Size of the inputs")
    for slider in (radius, size):
        slider.style.description_width = "12.5em"
        slider.layout.width = "min(30em, 98%)"
        slider.continuous_update = False
    picture = live.picture("what is left of the gradient, by distance")
    figure = live.stage(style.WIDE, left=0.12, right=0.97, bottom=0.15, top=0.9)

    def draw(_: Any = None) -> None:
        some = DISTANCES[::3]  # every third distance, with a student's own loop behind each, is soon there
        norms = gradient_norms(bptt, radius.value, size.value, some)
        title = f"What is left of the gradient: radius {radius.value:.2f}, inputs {size.value:.1f}"
        with style.styled():
            (axes,) = live.wiped(figure)
            _fade(axes, {title: norms}, (1e-8, 1e8), COMES_BACK, title, some)
        picture.value = live.drawn(figure)

    radius.observe(draw, "value")
    size.observe(draw, "value")
    draw()
    return live.panel([radius, size, picture])
