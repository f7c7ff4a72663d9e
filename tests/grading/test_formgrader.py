"""Formgrader, as a browser would talk to it: the autograde button, the submission's page, the feedback."""

from __future__ import annotations

import html
import json
import os
import urllib.request

import pytest
from nbformat.v4 import new_markdown_cell

from course.grading.sandbox.probe import how_executed, strongest
from tests.serving import jupyter

from .lesson import NAME, answers, first, hand_in, make_course, solved
from .nbgrader_bridge.test_pictures import PACKED, PNG

TOKEN = "a-token-for-this-test"


MARKDOWN = "<script>PLANTED()</script>\n\n**as was said** [here](javascript:PLANTED) <img src=x onerror=PLANTED()>"

SCRIPTS = """from IPython.display import HTML, Javascript, Markdown, display
planted = "PLAN" + "TED()"
display(HTML(f"<script>{planted}</script><b onclick={planted} id='softmax' class='nbgrader_cell'>what I got</b>"))
display(HTML(f"<svg viewBox='0 0 9 9' onload={planted}><script>{planted}</script></svg>"))
display(Javascript(planted), Markdown(f"*measured*\\n\\n<iframe srcdoc='<script>{planted}</script>'></iframe>"))
display({"image/png": "AAAA", "text/plain": "a picture"}, raw=True,
    metadata={"image/png": {"width": f"1 onerror={planted}"}, "text/html": {"isolated": True}})
display({"image/png": f'" onerror="{planted}'}, raw=True)"""


def told(text):
    """Adds a text of the student's own."""

    def edit(nb):
        nb.cells.insert(3, new_markdown_cell(text))

    return edit


PICTURED = """![of mine](figs/mine.png) ![of theirs](figs/theirs.png) ![attached](attachment:sch%C3%B6n%20(1).png)
![not there](figs/other.png)"""


def pictured(nb):
    """Shows a picture beside the notebook, one of the instructor's, an attachment, and one that is missing."""
    cell = new_markdown_cell(PICTURED)
    cell["attachments"] = {"schön (1).png": {"image/png": PACKED}}
    nb.cells.insert(4, cell)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = make_course(tmp_path_factory.mktemp("formgrader"))
    wrong = {"softmax": "def softmax(x, dim):\n    return x.exp() / x.exp().sum(dim, keepdim=True)"}
    path = hand_in(root, "ada", solved(root), answers(wrong), first(SCRIPTS), told(MARKDOWN), pictured)
    for place, name in ((path.parent, "mine"), (root / "solutions" / NAME, "theirs")):
        (place / "figs").mkdir()
        (place / "figs" / f"{name}.png").write_bytes(PNG)
    options = [
        f"--IdentityProvider.token={TOKEN}",
        "--ServerApp.jpserver_extensions=nbgrader.server_extensions.formgrader=True",
    ]
    environment = {"USER": os.environ.get("USER", "grader"), "JUPYTER_CONFIG_DIR": str(root / "none")}
    with jupyter(
        "jupyter_server", root, tmp_path_factory.mktemp("state"), *options, environment=environment
    ) as address:
        yield address.rstrip("/"), root


def ask(address: str, path: str, method: str = "GET") -> str:
    request = urllib.request.Request(
        f"{address}{path}",
        method=method,
        headers={"Authorization": f"token {TOKEN}"},
        data=b"" if method == "POST" else None,
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read().decode()


def test_the_buttons_of_formgrader_and_what_a_student_planted(server):
    server, root = server
    done = json.loads(ask(server, f"/formgrader/api/submission/{NAME}/ada/autograde", "POST"))
    assert done["success"], done
    (submission,) = json.loads(ask(server, f"/formgrader/api/submitted_notebooks/{NAME}/{NAME}"))
    assert submission["student"] == "ada" and 0 < submission["score"] < submission["max_score"]
    assert submission["failed_tests"] and submission["needs_manual_grade"]
    page = ask(server, f"/formgrader/submissions/{submission['id']}/")
    assert html.escape(how_executed(strongest().label)) in page and "Look here" in page
    done = json.loads(ask(server, f"/formgrader/api/assignment/{NAME}/ada/generate_feedback", "POST"))
    assert done["success"], done
    feedback = (root / "feedback" / "ada" / NAME / f"{NAME}.html").read_text("utf-8")
    for shown in (page, feedback):
        assert "PLANTED" not in shown
        assert "<b>what I got</b>" in shown and "<em>measured</em>" in shown and "<strong>as was said</strong>" in shown
        assert "border-left:4px solid" in shown
        for name in ("of mine", "of theirs", "attached"):
            assert f'alt="{name}" src="data:image/png;base64,{PACKED}" style="max-width:100%"' in shown
        assert "<em>[Picture “not there” not shown: figs/other.png is not in the notebook's folder]</em>" in shown
