"""Coloured code that is set aside: the page is byte for byte the one that nbconvert writes without that."""

from __future__ import annotations

import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook, new_output
from traitlets.config import Config

from course.grading.nbgrader_bridge.feedback_page import FeedbackPage, completed

SOURCES = [
    "x = 'a' + \"b\"  # &amp; <b>&lt;</b> &#39; &nbsp;",
    "",
    "   \n\n\t",
    "%%html\n<div id='code0'></div></pre></div><script>1</script>",
    "def f(x):\n    return f'{x!r:>{3}}' @ x  # é ∑ \x0c\r\n",
    "!ls | grep x\n?print\nx = 'not closed",
    "x = 1",
    "x = 1",
]
SHOWS = "{{% for cell in nb.cells %}}{{{{ cell.source | highlight_code{} }}}}{{% endfor %}}"


def page(exporter: HTMLExporter, language: str = "ipython3") -> str:
    output = new_output("stream", text="</pre></div> <div class=' highlight hl-ipython3'>")
    cells = [new_code_cell(source, outputs=[output], id=f"c{number}") for number, source in enumerate(SOURCES)]
    nb = new_notebook(cells=cells, metadata={"language_info": {"name": "python", "pygments_lexer": language}})
    return exporter.from_notebook_node(nb)[0]


@pytest.mark.filterwarnings("ignore:No lexer found")
@pytest.mark.parametrize("language", ["ipython3", "unknown", 'a"b c'])
def test_code_comes_back_as_nbconvert_writes_it(language: str) -> None:
    """With a template that shows code as feedback's does."""
    ours = FeedbackPage(raw_template=SHOWS.format(""))
    assert page(ours, language) == page(HTMLExporter(raw_template=SHOWS.format("")), language)
    assert ours.sets_code_aside


@pytest.mark.parametrize("template", ["classic", "lab"])
def test_templates_that_clean_code_get_it_at_once(template: str) -> None:
    ours = FeedbackPage(template_name=template)
    assert page(ours) == completed(page(HTMLExporter(template_name=template)))


def test_a_template_that_changes_code_gets_it_at_once() -> None:
    changed = SHOWS.format(" | replace('<div', '<p')")
    ours = FeedbackPage(raw_template=changed)
    assert page(ours) == page(HTMLExporter(raw_template=changed)) and not ours.sets_code_aside


def test_an_instructors_own_colours_stay() -> None:
    config = Config({"Highlight2HTML": {"extra_formatter_options": {"linenos": "inline"}}})
    own = page(FeedbackPage(raw_template=SHOWS.format(""), config=config))
    assert own == page(HTMLExporter(raw_template=SHOWS.format(""), config=config)) and "lineno" in own
