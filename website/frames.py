"""A widget as frames: what it shows for each value of one control, for a page where no kernel runs.

`with_frames` adds a cell below each widget of a solved notebook. When the notebook is executed, that cell moves the
widget's control through its values, and leaves what the widget showed in an output of its own. `player` makes a figure
with a slider of it.
"""

from __future__ import annotations

import base64
import html
import inspect
import io
import json
import re
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

MIME = "application/vnd.sequence-course.frames+json"
MARK = "frames-"
"""How the ids of the cells that record frames begin; the id of the widget's cell follows."""

CONTROLS: dict[str, tuple[str, list[Any] | None]] = {
    "markov_ngrams.writer": ("window n", None),
    "cbow.explorer": ("Word", ["cat", "cats", "sleeps", "sleep", "old", "bread", "quickly", "the"]),
    "rnn.turn_the_radius": ("Spectral radius of W_h", None),
    "rnn.watch_it_read": ("Tokens read", None),
    "lstm_gru.write_the_tape": ("Forget f", None),
    "bahdanau_attention.step_the_decoder": ("Step", None),
    "self_attention.playground": ("word", None),
    "multi_head_attention.explorer": ("token", None),
    "positional_encoding.turning_pairs": ("distance", None),
    "positional_encoding.explorer": ("position t", None),
    "masking.painter": ("start from", None),
    "encoder_decoder.translator": ("example", None),
    "vit_patches.explorer": ("image", None),
    "lora.explorer": ("rank r", None),
    "tokens.explorer": ("merges", [0, 5, 10, 20, 40, 60, 100, 200, 400, 700, 1000]),
    "hidden_states.lattice": ("noise", None),
    "gpt.sampler": ("temperature", None),
    "bert.guesser": ("sentence", None),
    "linear_time.watch_the_state": ("more noise", None),
    "assistant.explorer": ("price β", None),
    "cost.guesses": ("look at token", None),
    "inside.explorer": ("layers read", None),
    "reasoning.groups": ("round", None),
}
"""Of each widget the control that a page moves, by its label, and the values to take, if not some of all."""

_CALL = re.compile(r"^show\.(\w+\.\w+)\(.*\Z", re.M | re.S)


def with_frames(nb: NotebookNode) -> NotebookNode:
    """Add a cell that records frames below each widget of `nb`, and return `nb`."""
    cells = []
    for cell in nb.cells:
        cells.append(cell)
        called = _CALL.search(cell.source.rstrip()) if cell.cell_type == "code" else None
        if called and called[1] in CONTROLS:
            name, values = CONTROLS[called[1]]
            source = f"{inspect.getsource(record_frames)}\n\nrecord_frames({called[0]}, {name!r}, {values!r}, {MIME!r})"
            cells.append(new_code_cell(source, id=f"{MARK}{cell.id}"[:64]))
    nb.cells = cells
    return nb


def record_frames(widget: object, name: str, values: list | None, mime: str, most: int = 12) -> None:
    """Display what `widget` shows for each value of the control called `name`; stands by itself, in a notebook."""
    import base64

    from IPython.display import display

    def parts(one: object) -> object:
        yield one
        for child in getattr(one, "children", ()):
            yield from parts(child)

    def label(value: object) -> str:
        shown = getattr(control, "label", None)
        return shown or (f"{value:.2f}" if isinstance(value, float) else str(value))

    control = next(part for part in parts(widget) if getattr(part, "description", "") == name)
    shown = [part for part in parts(widget) if type(part).__name__ in ("Image", "HTML")]
    texts = [part for part in shown if isinstance(part.value, str)]
    pictures = [part for part in shown if part not in texts]
    began = label(control.value)
    if values is None and hasattr(control, "min"):
        steps = round((control.max - control.min) / control.step)
        few = min(steps, most - 1)
        values = [control.min + control.step * round(at * steps / few) for at in range(few + 1)]
    elif values is None:
        values = [value for _label, value in control._options_full]
    frames = []
    for value in values:
        control.value = value
        text = "".join(f"<div>{part.value}</div>" for part in texts if part.value)
        drawn = [base64.b64encode(bytes(part.value)).decode() for part in pictures]
        frames.append({"label": label(value), "text": text, "pictures": drawn})
    alt = " ".join(part.tooltip for part in pictures)
    display({mime: {"name": name, "began": began, "alt": alt, "frames": frames}, "text/plain": ""}, raw=True)


def player(recorded: dict[str, Any], name: str) -> tuple[str, dict[str, bytes]]:
    """Return a figure in HTML whose slider moves through the recorded frames, and its picture files by name.

    Without a script, the figure shows the frame that the widget began with.
    """
    frames = recorded["frames"]
    at = next((n for n, frame in enumerate(frames) if frame["label"] == recorded["began"]), len(frames) // 2)
    files: dict[str, bytes] = {}
    picture = ""
    if frames[0]["pictures"]:
        files[f"{name}.webp"], width, height = _strip([frame["pictures"][0] for frame in frames])
        ratio = f"aspect-ratio:{width}/{height};--frames:{len(frames)};--at:{at};background-image:url({name}.webp)"
        picture = f'<div class="strip" role="img" aria-label="{html.escape(recorded["alt"])}" style="{ratio}"></div>'
    label = html.escape(recorded["name"])
    said = [{"label": frame["label"], "text": frame["text"]} for frame in frames]
    data = json.dumps(said, ensure_ascii=False).replace("</", "<\\/")
    slider = f'<input type="range" min="0" max="{len(frames) - 1}" value="{at}" aria-valuetext="{frames[at]["label"]}">'
    shown = (
        f'<figure class="player">{picture}<label>{label} {slider}<b>{html.escape(frames[at]["label"])}</b></label>'
        f'<div class="told" aria-live="polite">{frames[at]["text"]}</div>'
        f'<script type="application/json">{data}</script></figure>'
    )
    return shown, files


def _strip(pictures: list[str]) -> tuple[bytes, int, int]:
    """Return PNG pictures of one size, one below the other as one file, and that size."""
    from PIL import Image

    opened = [Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGBA") for picture in pictures]
    width, height = opened[0].size
    strip = Image.new("RGBA", (width, height * len(opened)))
    for number, one in enumerate(opened):
        strip.paste(one, (0, number * height))
    buffer = io.BytesIO()
    strip.save(buffer, "webp", lossless=True)
    return buffer.getvalue(), width, height
