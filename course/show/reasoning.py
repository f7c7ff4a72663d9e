"""The widget of topic 21: one question's answers, with reward and advantage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import live
from .style import BLUE, INK, ORANGE, styled

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes

Verifier = Callable[[str, str], float]
"""A question and an answer -> its reward."""


def groups(question: str, rounds: Mapping[int, Sequence[str]], verifiers: Mapping[str, Verifier]) -> VBox:
    """The widget: the answers to one question at a round that you choose, with reward and advantage.

    `rounds` holds the answers by the round of training, and `verifiers` the verifiers by name.
    """
    import ipywidgets as widgets

    which = live.choice("verifier", list(verifiers))
    slider = widgets.SelectionSlider(options=list(rounds), description="round", continuous_update=False)
    picture, said = live.picture("answers to one question, each with its advantage as a bar"), live.spoken(2)
    figure = live.stage((7.6, 3.4), left=0.5, right=0.97, bottom=0.15, top=0.9)

    def redraw(_: Any = None) -> None:
        answers = rounds[slider.value]
        rewards = [verifiers[which.value](question, answer) for answer in answers]
        with styled():
            (axes,) = live.wiped(figure)
            _draw_group(axes, answers, rewards)
        picture.value = live.drawn(figure)
        said.value = f"{question}: the verifier pays {sum(rewards):g} for {len(answers)} answers."

    for control in (which, slider):
        control.observe(redraw, "value")
    redraw()
    return live.panel([which, slider, picture, said])


def _draw_group(axes: Axes, answers: Sequence[str], rewards: Sequence[float]) -> None:
    """Draw a bar for each answer, its reward minus the mean of the others in the group."""
    others = [(sum(rewards) - reward) / max(len(rewards) - 1, 1) for reward in rewards]
    gained = [reward - base for reward, base in zip(rewards, others, strict=True)]
    places = range(len(answers))[::-1]
    axes.barh(places, gained, color=[BLUE if gain >= 0 else ORANGE for gain in gained], height=0.6)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_yticks(list(places), [f"{answer}   {reward:g}" for answer, reward in zip(answers, rewards, strict=True)])
    axes.set(title="Which answers become likelier?", xlabel="reward minus the others' mean", xlim=(-1.1, 1.1))
    axes.tick_params(axis="y", labelsize=8)
    axes.grid(axis="y", visible=False)
