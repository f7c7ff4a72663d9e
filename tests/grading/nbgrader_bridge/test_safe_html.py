"""HTML of students' in pages of an instructor's: it is looked at, and nothing else."""

from __future__ import annotations

import base64
import re
import time

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

from course.grading.course_files.cells import METADATA
from course.grading.nbgrader_bridge.safe_html import PLOT, SafeHtml, clean
from course.judge import report
from course.judge.verdict import Verdict

DATA = "data:image/png;base64,AAAA"


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ("<script>run()</script>seen", "seen"),
        ("<scr<script></script>ipt>run()</script>", "ipt&gt;run()"),
        ("<img src=x onerror=run()>", "<img>"),
        ("<img src='/logout'>", "<img>"),
        ("<img src='https://planted.org/seen.png'>", "<img>"),
        ("<img src='https://mybinder.org/badge_logo.svg'>", '<img src="https://mybinder.org/badge_logo.svg">'),
        (f'<img src="{DATA}" alt="a > b">', f'<img src="{DATA}" alt="a &gt; b">'),
        (f"{DATA} stands in a text", f"{DATA} stands in a text"),
        ('<img title=">" onclick="run()">', '<img title="&gt;">'),
        ("<a href='javascript:run()'>x</a>", '<a rel="noopener noreferrer">x</a>'),
        ("<a href='java&#115;cript:run()'>x</a>", '<a rel="noopener noreferrer">x</a>'),
        ("<a href='planted.html'>x</a>", '<a rel="noopener noreferrer">x</a>'),
        ("<a href='https://a.b/?c&amp;d'>x</a>", '<a href="https://a.b/?c&amp;d" rel="noopener noreferrer">x</a>'),
        ("<div style='position:fixed;color:red;margin-top:-9em'>x</div>", '<div style="color:red">x</div>'),
        ("<div style='background:url(x)'>x</div>", '<div style="">x</div>'),
        ("<div id='softmax' class='nbgrader_cell highlight'>x</div>", '<div class="highlight">x</div>'),
        ("<form action='/x'><input><button>x</button></form>", "x"),
        ("<iframe src='/x'></iframe><base href='/x'><meta http-equiv='refresh'>", ""),
        ("<math><style><!--</style><img title='--&gt;&lt;script&gt;'>", ""),
        (
            "<table><tr><td>1<td>2<tr><td>3",
            "<table><tbody><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></tbody></table>",
        ),
        ("<b>never ended", "<b>never ended</b>"),
        ("</div></div>out of its place", "out of its place"),
        ("1 < 2 &amp; &lt;b&gt;", "1 &lt; 2 &amp; &lt;b&gt;"),
        (r"$\href{javascript:run()}{x}$ &#92;href", r"$\mathrm{href}{javascript:run()}{x}$ \mathrm{href}"),
    ],
)
def test_only_what_can_be_looked_at_remains(html, left):
    assert clean(html) == left


def test_a_drawing_becomes_a_picture_where_nothing_runs():
    seen = clean('<svg viewBox="0 0 1 1" aria-label="a curve"><path d="M0 0"/></svg>')
    packed = re.fullmatch(r'<img alt="a curve" src="data:image/svg\+xml;base64,([^"]+)">', seen)
    assert b'<svg xmlns="http://www.w3.org/2000/svg" viewBox' in base64.b64decode(packed[1])


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 40_000,
        "<svg " * 200_000,
        "<b x='" * 100_000,
        f"<a {'x=1 ' * 100_000}>",
        "<p>x" * 100_000,
        "&#" + "0" * 100_000,
        '<a title="' + "x" * 500_000,
        "".join(f"<b lang={n}>" for n in range(49)) + "<p>" * 9000,
    ],
)
def test_what_is_badly_nested_takes_no_time(html):
    started = time.process_time()
    assert clean(html).count("<") < 25_000
    assert time.process_time() - started < 5


def test_the_judges_own_report_stays_and_an_imitation_does_not_stand_in_a_cell_of_that_name():
    judged = report.html(Verdict("softmax", "passed", 2, 2))
    marks = {"grade": True, "solution": False, "grade_id": "softmax", "locked": True, "schema_version": 3}

    def shown(verdicts: dict) -> NotebookNode:
        output = new_output("execute_result", {"text/plain": "2.0", "text/html": f"{judged}<script>run()</script>"})
        cell = new_code_cell("check('softmax', softmax)", outputs=[output], metadata={"nbgrader": marks})
        nb = new_notebook(cells=[cell])
        nb.metadata[METADATA] = {"verdicts": verdicts}
        return SafeHtml(enabled=True)(nb, {})[0].cells[0].outputs[0].data

    assert shown({"softmax": {}})["text/html"].startswith(judged)
    assert "script" not in shown({})["text/html"]


def test_outputs_that_act_are_told_in_words():
    acts = {"application/javascript": "run()", "application/vnd.jupyter.widget-view+json": {"model_id": "x"}}
    odd = new_output("display_data", {"image/png": '" onerror="run()'}, metadata={"image/png": {"width": "1 onload=x"}})
    nb = new_notebook(cells=[new_code_cell("", outputs=[new_output("display_data", acts), odd])])
    first, second = SafeHtml(enabled=True)(nb, {})[0].cells[0].outputs
    assert set(first.data) == set(second.data) == {"text/plain"} and "not shown" in first.data["text/plain"]
    assert second.metadata["image/png"] == {"alt": PLOT}


def test_a_plot_keeps_its_description() -> None:
    """nbconvert writes it escaped; what is no text is none."""
    described = {"image/png": {"alt": 'Losses "by step"', "width": 5}}
    outputs = [new_output("display_data", {"image/png": "AAAA"}, metadata=about) for about in (described, {})]
    outputs.append(new_output("display_data", {"image/png": "AAAA"}, metadata={"image/png": {"alt": ["x"]}}))
    nb, _ = SafeHtml().preprocess(new_notebook(cells=[new_code_cell("plot()", outputs=outputs)]), {})
    alts = [output.metadata["image/png"].alt for output in nb.cells[0].outputs]
    assert alts == ['Losses "by step"', PLOT, PLOT]


def test_an_output_of_tex_is_drawn() -> None:
    nb = new_notebook(cells=[new_code_cell("f", outputs=[new_output("display_data", {"text/latex": "$x<1$"})])])
    (output,) = SafeHtml().preprocess(nb, {})[0].cells[0].outputs
    assert output.data["text/html"].startswith("<math") and "text/latex" not in output.data
