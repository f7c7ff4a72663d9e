"""Pictures of a notebook on a page about it: which are shown, and the words in place of those that are not."""

from __future__ import annotations

import base64
import html
import os
import re
import time
import unicodedata
from pathlib import Path

import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from traitlets.config import Config

from course.grading.nbgrader_bridge import pictures
from course.grading.nbgrader_bridge.safe_html import SafeHtml

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PACKED = base64.b64encode(PNG).decode()
SHOWN = f"data:image/png;base64,{PACKED}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A notebook's folder, with pictures and other things in it, and something above it."""
    folder = tmp_path / "06_self_attention"
    (folder / "figs").mkdir(parents=True)
    for name in ("figs/mine.png", "figs/my sketch.png", "figs/50%.png", "Skizze (2).PNG"):
        (folder / name).write_bytes(PNG)
    (folder / unicodedata.normalize("NFD", "für.png")).write_bytes(PNG)
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0 and so on")
    (folder / "a.webp").write_bytes(b"RIFF\x10\0\0\0WEBPVP8 ")
    (folder / "a.gif").write_bytes(b"GIF89a")
    (folder / "drawn.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>run()</script></svg>")
    (folder / "page.png").write_text("<script>run()</script>")
    (tmp_path / "above.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(folder / "figs" / "mine.png")
    (folder / "elsewhere").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.png")
    return folder


def shown(folder: Path, text: str, attachments: dict | None = None) -> str:
    """A text as a page shows it."""
    cell = new_markdown_cell(text)
    if attachments is not None:
        cell["attachments"] = attachments
    return page(folder, cell)


def page(folder: Path, *cells) -> str:
    """What stands in the notebook's part of a page made with our steps."""
    config = Config()
    config.HTMLExporter.preprocessors = ["course.grading.nbgrader_bridge.safe_html.SafeHtml"]
    config.HTMLExporter.filters = {"markdown2html": "course.grading.nbgrader_bridge.safe_html.markdown2html"}
    resources = {"metadata": {"path": str(folder)}}
    made, _ = HTMLExporter(config=config, template_name="basic").from_notebook_node(
        new_notebook(cells=list(cells)), resources
    )
    return made


def words(made: str) -> str:
    """The text of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", made)).split())


@pytest.mark.parametrize(
    "text",
    [
        "![](figs/mine.png)",
        "![](./figs/mine.png)",
        "![](figs\\mine.png)",
        "![](Figs/Mine.PNG)",
        "![](figs/mine.png?raw=1#top)",
        "![](<figs/my sketch.png>)",
        "![](figs/my%20sketch.png)",
        "![](figs/50%.png)",
        "![](figs/50%25.png)",
        "![](Skizze%20(2).png)",
        "![](für.png)",
        "![](f%C3%BCr.png)",
        "![a][it]\n\n[it]: figs/mine.png",
        '<img src="figs/my sketch.png" width="40">',
        "<div><img src=figs/mine.png></div>",
    ],
)
def test_a_picture_in_the_notebooks_folder_is_shown(folder, text):
    assert f'src="{SHOWN}"' in shown(folder, text)


@pytest.mark.parametrize("name", ["photo.jpg jpeg", "a.webp webp", "a.gif gif"])
def test_a_picture_is_what_it_begins_like(folder, name):
    name, kind = name.split()
    assert f'src="data:image/{kind};base64,' in shown(folder, f"![]({name})")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("![](attachment:mine.png)", "mine.png"),
        ("![](attachment:my%20sketch.png)", "my sketch.png"),
        ("![](attachment:my sketch.png)", "my sketch.png"),
        ('![](attachment:my sketch (2).png "A title")', "my sketch (2).png"),
        ("![](<attachment:my sketch.png>)", "my sketch.png"),
        ("![](attachment:schön.png)", "schön.png"),
        ("![](attachment:sch%C3%B6n.png)", "schön.png"),
        ("![](attachment:schön.png)", unicodedata.normalize("NFD", "schön.png")),
        ("![](attachment:100%.png)", "100%.png"),
        ("![](attachment:a%20b.png)", "a%20b.png"),
        ('<img src="attachment:my sketch.png">', "my sketch.png"),
    ],
)
def test_an_attachment_is_shown_whatever_its_name(folder, text, name):
    made = shown(folder, f"{text} *as drawn*", {name: {"image/png": PACKED}})
    assert f'src="{SHOWN}"' in made and "<em>as drawn</em>" in made


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("figs/other.png", "figs/other.png is not in the notebook's folder"),
        ("attachment:sch%C3%B6n.png", "the cell has no attachment schön.png"),
        ("attachment:empty.png", "the cell has no attachment empty.png"),
        ("attachment:damaged.png", "the attachment damaged.png is damaged"),
        ("../above.png", "../above.png is outside the notebook's folder"),
        ("figs/%2e%2e/%2e%2e/above.png", "figs/../../above.png is outside the notebook's folder"),
        ("figs%5C..%5C..%5Cabove.png", "figs\\..\\..\\above.png is outside the notebook's folder"),
        ("/etc/passwd", "/etc/passwd is outside the notebook's folder"),
        ("link.png", "link.png is a link, and links are not followed"),
        ("elsewhere/above.png", "elsewhere is a link, and links are not followed"),
        ("pipe.png", "pipe.png is not a file that can be read"),
        ("figs", "figs is not a file that can be read"),
        ("mine.png/x.png", "mine.png/x.png is not in the notebook's folder"),
        ("drawn.svg", "drawn.svg is not a PNG, JPEG, GIF or WebP picture"),
        ("page.png", "page.png is not a PNG, JPEG, GIF or WebP picture"),
        ("https://planted.org/seen.png", "it is on another site, and this page loads nothing from there"),
        ("//planted.org/seen.png", "it is on another site, and this page loads nothing from there"),
        ("file:///etc/passwd", "it is not a file in the notebook's folder"),
        ("C:/sketch.png", "it is not a file in the notebook's folder"),
        ("#0", "it is not a file in the notebook's folder"),
        ("//[planted", "its address cannot be read"),
        ("a%00b.png", "a\0b.png is not in the notebook's folder"),
    ],
)
def test_of_a_picture_that_is_not_shown_the_words_say_why_and_all_else_stays(folder, address, why):
    text = f'*Before* <img alt="&lt;b&gt; &quot;my&quot; $\\href{{x}}$ sketch" src="{address}"> and ![](figs/mine.png)'
    made = shown(folder, text, {"damaged.png": {"image/png": "?"}, "empty.png": {}})
    assert f'[Picture “<b> "my" $\\mathrm{{href}}{{x}}$ sketch” not shown: {why}]' in words(made)
    assert "<em>Before</em>" in made and made.count("<img") == 1 and f'src="{SHOWN}"' in made
    assert "planted" not in made and "passwd" not in re.sub(r"/etc/passwd is", "", made) and "run()" not in made


def test_what_an_output_names_is_shown_as_well(folder):
    """`Image(url=...)` and `HTML(...)` leave nothing but an address."""
    outputs = [
        new_output("display_data", {"text/html": f'<img src="{name}"/><b>{name}</b>'})
        for name in ("figs/mine.png", "figs/other.png")
    ]
    outputs.append(new_output("display_data", {"text/markdown": "![](figs/mine.png)"}))
    made = page(folder, new_code_cell("", outputs=outputs))
    assert made.count(f'src="{SHOWN}"') == 2
    assert "[Picture not shown: figs/other.png is not in the notebook's folder]figs/other.png" in words(made)


def test_a_page_has_so_many_bytes_of_pictures(folder, monkeypatch):
    monkeypatch.setattr(pictures, "LARGEST", 2**20)
    monkeypatch.setattr(pictures, "MOST", 2 * 2**20)
    for name, size in (("large.png", 2**20 + 1), ("one.png", 2**20), ("two.png", 2**20 - 9), ("three.png", 1000)):
        (folder / name).write_bytes(PNG.ljust(size, b"\0"))
    big = base64.b64encode((folder / "large.png").read_bytes()).decode()
    cells = [new_markdown_cell(f"![]({name}.png)") for name in ("large", "one", "two", "three")]
    attached = new_markdown_cell("![](attachment:a.png)", attachments={"a.png": {"image/png": big}})
    made = page(folder, attached, *cells)
    assert made.count("<img") == 2
    assert "large.png is larger than 1 MB" in words(made) and "a.png is larger than 1 MB" in words(made)
    assert "with three.png the pictures on this page would be larger than 2 MB together" in words(made)


def test_pictures_without_end_take_no_time(folder):
    many = {f"a {number}.png": {"image/png": PACKED} for number in range(20_000)}
    started = time.process_time()
    made = shown(folder, "![](attachment:a) ![](nothing.png)\n" * 3000 + "](attachment:" * 20_000, many)
    assert time.process_time() - started < 20
    assert "this page has more than 500 pictures" in made


def test_a_notebook_from_nowhere(folder):
    nb = new_notebook(cells=[new_code_cell("", outputs=[new_output("display_data", {"text/html": "<img src=x.png>"})])])
    (cell,) = SafeHtml(enabled=True)(nb, {})[0].cells
    assert "[Picture not shown: x.png is not in the notebook's folder]" in html.unescape(
        cell.outputs[0].data["text/html"]
    )
