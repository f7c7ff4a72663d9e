"""Formulas as MathML: drawn without a script, whatever a student writes in one."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from course.grading.nbgrader_bridge.formulas import LONGEST, drawn_tex, mathml
from course.grading.nbgrader_bridge.safe_html import markdown2html

SOLUTIONS = Path(__file__).parents[3] / "solutions"
FORMULA = re.compile(r"(?<!\\)\$\$(.+?)(?<!\\)\$\$|(?<![$\\])\$([^\n$]+?)(?<!\\)\$", re.DOTALL)
RAW = "{http://www.w3.org/1998/Math/MathML}"


def text(source: str) -> str:
    return markdown2html({"cell": {}, "resources": {"metadata": {}}}, source)


def test_every_formula_of_the_course_is_drawn() -> None:
    """No command is left as a word, as one is that nobody knows."""
    sources = (path.read_text("utf-8") for path in sorted(SOLUTIONS.glob("*.py")))
    prose = ["\n".join(line[2:] for line in source.splitlines() if line.startswith("# ")) for source in sources]
    formulas = {first or second for part in prose for first, second in FORMULA.findall(part)}
    assert len(formulas) > 500
    left = {tex for tex in formulas if "<code>" in (html := mathml(tex, display=True)) or "\\" in _shown(html)}
    assert left == set()


def _shown(html: str) -> str:
    return "".join(ET.fromstring(html).itertext())


def test_a_formula_among_words_and_one_in_its_own_line() -> None:
    html = text("Take $\\sqrt{d}$ of\n\n$$a_1 < b$$\n\n\\begin{align}x&=1\\end{align}\n\nand `$HOME`, \\$5.")
    kinds = re.findall(r'<math [^>]*display="(\w+)"', html)
    assert kinds == ["inline", "block", "block"]
    assert 'alttext="a_1 &lt; b"' in html and "<msqrt>" in html
    assert "<code>$HOME</code>, $5." in html


def test_in_an_attribute_it_stays_tex() -> None:
    html = text("![the root $\\sqrt{d}$](data:image/png;base64,AAAA)\n\n# With $x$")
    assert re.search(r'alt="the root \$[^"<>]*\$"', html)
    assert html.count("<math") == 1


@pytest.mark.parametrize(
    "tex",
    [
        r"\text{<script>run()</script>}",
        r"\text{&lt;script&gt;run()&lt;/script&gt;}",
        r'\text{" onload="run()}',
        r"\href{javascript:run()}{x}",
        r"\color{red\" onclick=\"run()}{x}",
        r"\style{position:fixed}{x}",
        r"\class{nbgrader_cell}{x}",
    ],
)
def test_nothing_in_it_runs(tex: str) -> None:
    html = text(f"a ${tex}$ b")
    (math,) = re.findall(r"<math.*</math>|<code>.*</code>", html)
    read = ET.fromstring(math)
    names = {name for element in read.iter() for name in element.attrib}
    assert not names & {"href", "style", "class", "mathcolor", "onload", "onclick"}
    tags = {element.tag.removeprefix(RAW) for element in read.iter()}
    assert all(tag.startswith("m") or tag == "code" for tag in tags)


@pytest.mark.parametrize("tex", [r"\begin{foo}", "x" * (LONGEST + 1), "{" * 3000])
def test_what_cannot_be_drawn_is_shown_as_it_is(tex: str) -> None:
    assert mathml(tex, display=False) == f"<code>${tex}$</code>"


def test_an_output_of_tex() -> None:
    html = drawn_tex(r"so $x<1$ & $$y$$")
    assert re.findall(r'display="(\w+)"', html) == ["inline", "block"]
    assert html.startswith("so <math") and "&amp;" in html and "$" not in re.sub("<[^>]*>", "", html)
    assert drawn_tex("<b>") == "&lt;b&gt;"
