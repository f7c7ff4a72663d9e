"""Pictures of topic 18: what is learned of a chat, how near a policy is to the best one, and what a reward does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ..data import advice, chat, wordnet
from . import live
from .style import AMBER, BLUE, GREEN, GREY, INK, ORANGE, PALE, PINK, SMALL, WIDE, finished, for_words, styled

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BY_FLATTERY = (GREY, BLUE, GREEN, ORANGE)
"""Colours for answers with 0, 1, 2 and 3 flattering phrases."""
GAP = 8
"""Room between two groups of bars, in bars."""
IN_WORDS = ("no flattery", "one flattering phrase", "two", "three")


# -- figures ---------------------------------------------------------------------------------------------------------


def learned_tokens(ids: Tensor, learned: Tensor, row: int = 12) -> Figure:
    """The tokens of a chat, in boxes: which of them the model learns to say."""
    import matplotlib.pyplot as plt

    rows = -(-len(ids) // row)
    with styled():
        figure, axes = plt.subplots(figsize=(WIDE[0], 0.55 + 0.5 * rows))
        for k, (token, is_learned) in enumerate(zip(ids.tolist(), learned.tolist(), strict=True)):
            x, y = k % row, rows - 1 - k // row
            style = {
                "facecolor": f"{ORANGE}20" if is_learned else PALE,
                "edgecolor": ORANGE if is_learned else GREY,
            }
            axes.add_patch(plt.Rectangle((x + 0.04, y + 0.08), 0.92, 0.84, linewidth=1.2, **style))
            is_special = token in chat.SPECIAL.values()
            axes.text(
                x + 0.5,
                y + 0.48,
                _shown(token),
                ha="center",
                va="center",
                fontsize=7.5 if is_special else 9,
                style="italic" if is_special else "normal",
                color=INK,
            )
        axes.set(xlim=(0, row), ylim=(0, rows), title="What is learned of a chat? The orange tokens")
        axes.axis("off")
        said = " ".join(_shown(token) for token in ids[learned].tolist())
        return finished(figure, f"{len(ids)} tokens of a chat. The {int(learned.sum())} that are learned: {said}")


def _shown(token: int) -> str:
    names = {number: name for name, number in chat.SPECIAL.items()}
    return names.get(token) or wordnet.pieces()[token].decode(errors="replace").replace(" ", "␣")


def agreement(log_p: Tensor, log_best: Tensor, flattery: Tensor) -> Figure:
    """A dot for each answer: its probability under the best policy, and under another one."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=(5.2, 3.8))
        for count, (colour, named) in enumerate(zip(BY_FLATTERY, IN_WORDS, strict=True)):
            some = flattery == count
            axes.loglog(
                log_best[some].exp(), log_p[some].exp(), "os^D"[count], color=colour, label=named, markersize=4.5
            )
        ends = [float(log_best.exp().min()) / 2, 2 * float(log_best.exp().max())]
        axes.loglog(ends, ends, color=INK, linewidth=1)
        axes.set(title="Is it the best policy?", xlabel="probability under the best policy")
        axes.set(ylabel="under yours", xlim=ends)
        axes.legend(loc="upper left")
        off = float((log_p - log_best).abs()[log_best > -7].max())
        return finished(
            figure,
            f"216 answers by their probability under the best policy and under yours, beside the line where both are "
            f"equal. Of the answers that are said at all often, the farthest is off by a factor of {2.718**off:.1f}.",
        )


def rewards_by_divergence(points: Sequence[Sequence[float]]) -> Figure:
    """Two rewards against the divergence that was paid: that of a reward model, and the true one.

    A point is a divergence, the modelled and the true reward.
    """
    import matplotlib.pyplot as plt

    moved, modelled, true = zip(*points, strict=True)
    top = max(range(len(true)), key=true.__getitem__)
    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        axes.plot(moved, modelled, color=GREY, linestyle="--", label="by the reward model")
        axes.plot(moved, true, color=BLUE, label="true")
        axes.plot(moved[top], true[top], "o", color=ORANGE)
        axes.annotate(
            f"{true[top]:.2f}", (moved[top], true[top]), (0, -16), textcoords="offset points", color=for_words(ORANGE)
        )
        axes.axhline(0, color=INK, linewidth=0.8)
        axes.set(title="What happens to the true reward?", xlabel="divergence from the reference, nats")
        axes.set(ylabel="mean reward")
        axes.legend(loc="lower left")
        return finished(
            figure,
            f"Two curves of reward against divergence. The reward model's rises to {modelled[-1]:.1f}. The true reward "
            f"rises to {true[top]:.2f} at {moved[top]:.2f} nats, and falls to {true[-1]:.1f}.",
        )


def improvements(histories: Mapping[str, Sequence[float]]) -> Figure:
    """The true reward of policies by the step of training, named by what each follows."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=SMALL)
        for (name, history), colour, dash in zip(
            histories.items(), (ORANGE, BLUE, GREEN, PINK), ("-", "--", ":", "-.")
        ):
            axes.plot(history, color=colour, linestyle=dash, label=f"follows {name}")
        axes.axhline(0, color=INK, linewidth=0.8)
        axes.set(title="Which policy do people like?", xlabel="step", ylabel="true mean reward")
        axes.legend(loc="center right")
        ends = ", ".join(f"{history[-1]:.1f} where it follows {name}" for name, history in histories.items())
        return finished(figure, f"Curves of the true reward by step, which end at {ends}.")


# -- the widget ------------------------------------------------------------------------------------------------------


def explorer(best_policy: Callable[[Tensor, Tensor, float], Tensor], proxy: Tensor) -> VBox:
    """The widget: the best policy over 216 answers as bars, at a price and for a reward that you choose."""
    import ipywidgets as widgets

    rewards = {"true reward": advice.rewards(), "reward model": proxy.double()}
    log_ref, ids = advice.log_reference(), advice.answers()
    flattery = advice.flattery(ids)
    order = (flattery * 1000.0 - log_ref).argsort()
    which = live.choice("follows", list(rewards))
    price = widgets.FloatLogSlider(
        1.0, base=10, min=-0.7, max=1.0, step=0.05, description="price β", continuous_update=False
    )
    picture, said = live.picture("bars of the probabilities of 216 answers, grouped by flattery"), live.spoken(3)
    figure = live.stage((7.6, 3.2), left=0.09, right=0.98, bottom=0.16, top=0.9)

    def redraw(_: Any = None) -> None:
        log_p = best_policy(log_ref, rewards[which.value], price.value)
        with styled():
            (axes,) = live.wiped(figure)
            _draw_bars(axes, log_p.exp()[order], log_ref.exp()[order], flattery[order])
        picture.value = live.drawn(figure)
        said.value = _in_words(log_p, log_ref, rewards, ids)

    for control in (which, price):
        control.observe(redraw, "value")
    redraw()
    return live.panel([which, price, picture, said])


def _draw_bars(axes: Axes, p: Tensor, p_ref: Tensor, flattery: Tensor) -> None:
    """Draw a bar for each answer, in groups by flattery with room between them, and the reference as a thin line."""
    places = torch.arange(len(p)) + GAP * flattery
    for count, (colour, named) in enumerate(zip(BY_FLATTERY, ("no flattery", "one phrase", "two", "three"))):
        some = flattery == count
        x = places[some].double()
        edges = torch.cat([x - 0.5, x[-1:] + (0.5 if count < 3 else 2.5)]).numpy()
        axes.stairs(p[some].numpy(), edges, fill=True, color=colour)
        axes.stairs(p_ref[some].numpy(), edges, baseline=None, color=AMBER, linewidth=1.0)
        middle, aligned = (float(x.mean()), "center") if count < 3 else (float(x.max()), "left")
        share = f"{named}\n{float(p[some].sum()):.0%}"
        shade: dict[str, Any] = {"color": for_words(colour), "fontsize": 9}
        axes.text(middle, 0.97, share, transform=axes.get_xaxis_transform(), ha=aligned, va="top", **shade)
    axes.set(title="How often is each answer given?", xlabel="answers, by their flattering phrases")
    axes.set(xlim=(-2, float(places.max()) + 16), ylim=(0, 1.35 * max(0.02, float(p.max()))))
    axes.set_xticks([])
    axes.grid(axis="x", visible=False)


def _in_words(log_p: Tensor, log_ref: Tensor, rewards: Mapping[str, Tensor], ids: Tensor) -> str:
    p, first = log_p.exp(), int(log_p.argmax())
    true, modelled = (float((p * values).sum()) for values in rewards.values())
    return (
        f"The policy has moved {float((p * (log_p - log_ref)).sum()):.2f} nats. Its mean true reward is {true:.2f}, "
        f"and the reward model's mean is {modelled:.2f}. Most often, at {float(p[first]):.1%}, it says: "
        f"“{advice.decode(ids[first])}” The thin line is the reference."
    )
