"""Pictures of topic 20: what the stream says layer by layer, and what is lost when a head goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from ..data import grammar, play
from . import live
from .style import BLUE, GREEN, GREY, ORANGE, WIDE, finished, styled

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TEXT = "Ada Marsh: the cook sings . Hugo Vale: the lamb sleeps . Ada"
"""What stands in the widget at first: its next token is a surname that was said before."""


# -- figures ---------------------------------------------------------------------------------------------------------


def knocked_out(lost: Mapping[str, tuple[float, float]]) -> Figure:
    """Bars of the probabilities of the right surname and of any surname, (right, any), by what was zeroed."""
    import matplotlib.pyplot as plt

    names, places = list(lost), torch.arange(len(lost))
    with styled():
        figure, axes = plt.subplots(figsize=(WIDE[0], 1.2 + 0.42 * len(names)))
        for aside, part, colour, label in ((-0.2, 0, BLUE, "the right surname"), (0.2, 1, ORANGE, "any surname")):
            shares = [pair[part] for pair in lost.values()]
            bars = axes.barh(places + aside, shares, color=colour, height=0.38, label=label)
            axes.bar_label(bars, [f"{share:.2f}" for share in shares], padding=3, fontsize=8)
        axes.set_yticks(places.tolist(), names)
        axes.invert_yaxis()
        axes.set(title="What is left without these heads?", ylabel="zeroed", xlim=(0, 1.12))
        axes.set(xlabel="probability behind a speaker who has spoken")
        axes.grid(axis="y", visible=False)
        axes.legend(loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=2)
        said = ", ".join(f"{right:.2f} and {some:.2f} with {name} zeroed" for name, (right, some) in lost.items())
        return finished(figure, f"Bars of the probability of the right surname and of any surname: {said}.")


def layers_say(p: Mapping[str, Tensor], names: Sequence[str]) -> Figure:
    """Lines of the probabilities (stages,) that the lens reads behind each stage, for each token in `p`."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for (token, shares), colour, marker in zip(p.items(), (BLUE, ORANGE, GREEN), "os^"):
            axes.plot(range(len(names)), shares, color=colour, marker=marker, label=token)
        axes.set_xticks(range(len(names)), list(names))
        axes.set(title="What would the model say, if it ended here?", xlabel="the stream behind", ylim=(-0.03, 1.05))
        axes.set(ylabel="probability")
        axes.legend(loc="upper left")
        ends = ", ".join(f"{token} {float(shares[-1]):.2f}" for token, shares in p.items())
        return finished(figure, f"Lines of probabilities by layer. Behind the last one, {ends}.")


# -- the widget ------------------------------------------------------------------------------------------------------


def explorer(model: Any, logit_lens: Callable[..., Tensor]) -> VBox:
    """The widget: what an `OpenGPT` would say after each layer of a play that you type, with a switch for each head."""
    import ipywidgets as widgets

    typed = widgets.Text(TEXT, description="play", continuous_update=False, layout=widgets.Layout(width="640px"))
    depth = widgets.IntSlider(2 * len(model.layers), 0, 2 * len(model.layers), description="layers read")
    small = {"layout": widgets.Layout(width="56px")}
    heads = {
        (i, k): widgets.ToggleButton(True, description=f"{i}.{k}", **small)
        for i, layer in enumerate(model.layers)
        for k in range(len(layer.added))
    }
    picture, said = live.picture("bars of the likeliest next tokens, as the lens reads them"), live.spoken(3)
    figure = live.stage((7.2, 3.2), left=0.17, right=0.98, bottom=0.15, top=0.9)

    def redraw(_: Any = None) -> None:
        known = {word: number for number, word in enumerate(play.words())}
        words = [grammar.STOP, *(word for word in typed.value.split() if word in known)]  # others are left out
        off = [model.layers[i].added[k] for (i, k), head in heads.items() if not head.value]
        streams = _streams(model, torch.tensor([[known[word] for word in words]]), off)
        p = logit_lens(streams[depth.value], model.norm.weight, model.words.weight).detach().softmax(-1)
        with styled():
            (axes,) = live.wiped(figure)
            _draw_tokens(axes, p)
        picture.value = live.drawn(figure)
        said.value = _in_words(p, depth.value, [name for name, head in heads.items() if not head.value])

    for control in (typed, depth, *heads.values()):
        control.observe(redraw, "value")
    redraw()
    row = widgets.HBox(list(heads.values()), layout=widgets.Layout(flex_flow="row wrap"))
    return live.panel([typed, depth, row, picture, said])


@contextmanager
def _watched(modules: Sequence[nn.Module], off: Sequence[nn.Module], seen: list[Tensor]) -> Iterator[None]:
    """Keep what `modules` return in `seen`, and let `off` return zeros."""
    with ExitStack() as stack:
        for module in modules:
            handle = module.register_forward_hook(lambda module, inputs, output: seen.append(output))
            stack.callback(handle.remove)
        for module in off:
            handle = module.register_forward_hook(lambda module, inputs, output: torch.zeros_like(output))
            stack.callback(handle.remove)
        yield


def _streams(model: Any, ids: Tensor, off: Sequence[nn.Module]) -> list[Tensor]:
    """Return the stream (D,) at the last token: the embedding, and what stands there behind each half of a layer."""
    places, seen = [], list[Tensor]()
    for layer in model.layers:
        places += [layer.stream, layer.between]
    with torch.no_grad(), _watched([*places, model.stream], off, seen):
        model(ids)
    return [stream[0, -1] for stream in seen]


def _draw_tokens(axes: Axes, p: Tensor, most: int = 8) -> None:
    likeliest = p.topk(most)
    names = [play.words()[token] for token in likeliest.indices.tolist()]
    colours = [BLUE if bool(play.is_surname(token)) else GREY for token in likeliest.indices]
    axes.barh(range(most), likeliest.values.numpy(), color=colours, height=0.7)
    axes.set_yticks(range(most), names)
    axes.set(title="What would the model say, if it ended here?", xlabel="probability", xlim=(0, 1))
    axes.set_ylim(most - 0.5, -0.5)  # the likeliest on top, however often it is drawn
    axes.grid(axis="y", visible=False)


def _in_words(p: Tensor, halves: int, off: Sequence[tuple[int, int]]) -> str:
    first = int(p.argmax())
    where = "the embedding" if not halves else f"{'attention' if halves % 2 else 'layer'} {(halves - 1) // 2}"
    some = float(p[-len(play.SURNAMES) :].sum())
    away = f" Zeroed: {', '.join(f'{i}.{k}' for i, k in off)}." if off else ""
    return (
        f"Behind {where} the likeliest next token is “{play.words()[first]}”, with {float(p[first]):.0%}. "
        f"Any surname has {some:.0%}.{away}"
    )
