"""The pictures of topic 19 draw what they are given, and its widget tells guesses that stayed from refused ones."""

from __future__ import annotations

import torch

from course import show
from course.reference import cost
from tests.show.widgets import WIDGETS, controls, look, parts


def test_the_maps_say_how_far_the_last_output_hears():
    reached = {"a window": cost.reach(cost.window_mask(9, 3), 2), "all": torch.ones(9, 9, dtype=torch.bool)}
    figure = show.cost.reaches(reached)
    assert "In 'a window', the last output hears of 5 of 9 inputs." in figure.get_label()
    assert "In 'all', the last output hears of 9 of 9 inputs." in figure.get_label()


def test_more_guesses_take_fewer_passes_and_none_takes_one_for_each_token():
    widget = WIDGETS["19 guesses"]()
    n = next(control for control in controls(widget) if control.description == "guesses a pass")
    n.value = 0
    told = look(widget)
    assert f"{show.cost.LENGTH} tokens took {show.cost.LENGTH} passes" in told[-1] and "<s " not in told[0]
    n.value = 6
    assert "<s " in look(widget)[0], "an untrained draft is refused"


def test_a_draft_that_is_the_dictionary_is_never_refused():
    from course.data import wordnet
    from course.reference import gpt

    model = gpt.GPT(**wordnet.SIZES).load_published(wordnet.weights())
    widget = show.cost.guesses(model, lambda ids: model(ids)[0], cost.accept_draft)
    assert "<s " not in look(widget)[0] and f"took {show.cost.LENGTH // 4} passes" in look(widget)[-1]
    assert len(list(parts(widget))) > 5
