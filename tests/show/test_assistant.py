"""The pictures of topic 18 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import matplotlib
import pytest
import torch

from course import show
from course.data import advice, chat, wordnet
from course.reference.assistant import best_policy, chat_ids

pictures = show.assistant


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def figures():
    turns = [("user", wordnet.encode("What is a cup?")), ("assistant", wordnet.encode("A cup."))]
    log_ref = advice.log_reference()
    best = best_policy(log_ref, advice.rewards(), 0.5)
    return [
        pictures.learned_tokens(*chat_ids(turns, chat.SPECIAL)),
        pictures.agreement(log_ref, best, advice.flattery(advice.answers())),
        pictures.rewards_by_divergence([(0.1, 0.2, 0.2), (0.5, 0.9, 0.6), (2.0, 1.8, -0.7)]),
        pictures.improvements({"the model": [0.0, 0.8, -2.0], "the truth": [0.0, 1.0, 2.0]}),
    ]


def test_every_figure_has_a_description_and_a_title():
    for figure in figures():
        assert len(figure.get_label()) > 40
        assert all(axes.get_title(loc="left") for axes in figure.axes)


def test_marks_and_blanks_can_be_seen_and_what_is_learned_is_said():
    figure = figures()[0]
    assert "user" in labels(figure) and "␣is" in labels(figure)
    assert figure.get_label().endswith("end") and "user" not in figure.get_label()


def test_the_turn_of_the_true_reward_is_marked():
    said = labels(figures()[2])
    assert "0.60" in said and "0.90" not in said
    assert "falls to -0.7" in figures()[2].get_label()


def test_every_answer_is_a_dot_of_its_colour():
    lines = figures()[1].axes[0].lines
    assert [len(line.get_xdata()) for line in lines[:4]] == [125, 75, 15, 1]


@pytest.fixture
def explorer():
    asked = []

    def noted(log_ref, reward, beta):
        asked.append((reward, beta))
        return best_policy(log_ref, reward, beta)

    ids = advice.answers()
    return pictures.explorer(noted, (ids[:, 1:] == advice.FLATTERY).double().sum(1)), asked


def test_the_widget_hands_reward_and_price_to_the_students_function(explorer):
    widget, asked = explorer
    which, price, _, said = widget.children
    assert asked[-1][1] == pytest.approx(1.0) and torch.equal(asked[-1][0], advice.rewards())
    which.value = "reward model"
    assert asked[-1][0].max() == 3
    price.value = 0.2
    assert asked[-1][1] == pytest.approx(0.2)
    assert advice.decode(torch.tensor([0, 0, 0, 0])) in said.value


def test_the_bars_are_said_in_numbers(explorer):
    widget, _ = explorer
    price, said = widget.children[1], widget.children[3]
    price.value = 10.0
    assert "moved 0.0" in said.value and "mean true reward is 0.1" in said.value
