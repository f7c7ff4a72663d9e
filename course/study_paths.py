"""Define three volumes, and four paths through them for a student with six weeks.

`course new` takes their names in place of topics. The course map, the list of notebooks and README show them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course.syllabus import OURS, Topic


@dataclass(frozen=True)
class Volume:
    """The original topics from number `first` to `last`. `about` names what they teach."""

    name: str
    title: str
    about: str
    first: int
    last: int

    def holds(self, topic: Topic) -> bool:
        """Return whether `topic` is in this volume. An instructor's own topic is in none."""
        return topic.number is not None and not topic.own and self.first <= topic.number <= self.last


@dataclass(frozen=True)
class StudyPath:
    """Topics for six weeks: the folders for each week, in order. `aim` says where the path ends.

    `left_out` finds the topics that a path builds on without including them.
    """

    name: str
    title: str
    aim: str
    weeks: tuple[tuple[str, ...], ...]

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders of its topics, from the first week to the last."""
        return tuple(folder for week in self.weeks for folder in week)

    def holds(self, topic: Topic) -> bool:
        """Return whether `topic` is on this path."""
        return topic.folder in self.folders


VOLUMES = (
    Volume("volume-one", "Volume one", "Markov n-grams, recurrent networks, attention, Transformers, and LoRA", 1, 12),
    Volume("volume-two", "Volume two", "tokenisers, hidden states, GPT, BERT, linear time, and assistants", 13, 18),
    Volume("volume-three", "Volume three", "what attention costs, inside a model, and reasoning by reward", 19, 21),
)

PATHS = (
    StudyPath(
        "language",
        "Language",
        "from counting words to a model that answers you",
        (
            ("01_markov_ngrams", "02_cbow"),
            ("05_bahdanau_attention", "06_self_attention"),
            ("07_multi_head_attention", "08_positional_encoding"),
            ("09_masking", "10_encoder_decoder"),
            ("13_tokens", "15_gpt"),
            ("16_bert", "18_assistant"),
        ),
    ),
    StudyPath(
        "vision",
        "Vision and sound",
        "to networks that read pictures, and telephone numbers from their tones",
        (
            ("01_markov_ngrams", "02_cbow"),
            ("03_rnn", "14_hidden_states"),
            ("06_self_attention", "07_multi_head_attention"),
            ("08_positional_encoding", "09_masking"),
            ("10_encoder_decoder",),
            ("11_vit_patches", "12_lora"),
        ),
    ),
    StudyPath(
        "efficiency",
        "Efficiency",
        "to long texts and large models on a small machine",
        (
            ("03_rnn", "04_lstm_gru"),
            ("05_bahdanau_attention", "06_self_attention"),
            ("07_multi_head_attention", "08_positional_encoding"),
            ("09_masking", "10_encoder_decoder"),
            ("12_lora", "15_gpt"),
            ("16_bert", "17_linear_time"),
        ),
    ),
    StudyPath(
        "large-models",
        "Large models",
        "from tokens to what large models cost, what goes on inside them, and how they learn by reward. It builds on "
        "volume one",
        (("13_tokens",), ("15_gpt",), ("18_assistant",), ("19_cost",), ("20_inside",), ("21_reasoning",)),
    ),
)

PRESETS: dict[str, Volume | StudyPath] = {preset.name: preset for preset in (*VOLUMES, *PATHS)}
"""Names at the command line that stand for several topics."""


def foundations(topic: Topic, topics: Sequence[Topic]) -> tuple[Topic, ...]:
    """Return the topics that `topic` continues: those it names, or else the original one before it."""
    earlier = [other for other in topics if other.folder < topic.folder]
    named = tuple(other for other in earlier if other.name in topic.builds_on)
    ours = [other for other in earlier if not other.own and not topic.own]
    return named or tuple(ours[-1:])


def left_out(chosen: Sequence[Topic], topics: Sequence[Topic] = OURS) -> list[Topic]:
    """Return those of `topics` that a chosen topic continues and that are not chosen, in order."""
    needed = {other.name for topic in chosen for other in foundations(topic, topics)}
    return [topic for topic in topics if topic.name in needed - {one.name for one in chosen}]


def volumes_of(topics: Sequence[Topic]) -> tuple[Volume, ...]:
    """Return the volumes that contain `topics`."""
    return tuple(volume for volume in VOLUMES if any(map(volume.holds, topics)))


def paths_through(topics: Sequence[Topic]) -> tuple[StudyPath, ...]:
    """Return all paths if the course has every original topic, else none, because a smaller course has its own way."""
    here = {topic.folder for topic in topics}
    return PATHS if all(topic.folder in here for topic in OURS) else ()
