"""The page of feedback, completed: what nbgrader's template leaves out is in it, and what it asks for is not."""

from __future__ import annotations

from course.grading.nbgrader_bridge.offline_page import DRAWING, completed

PAGE = """<!DOCTYPE html>
<html>
<head>
<style>@font-face{font-family:x;src:url(../fonts/x.woff)}p{}</style>
<!-- Loading mathjax macro -->
<script src="https://cdnjs.cloudflare.com/x.js"> </script>
<script type="text/x">a</script>
</head>
<body>
  <a name="top"></a>
  <div class="panel-heading"><h4>06 (Score: 1 / 2)</h4><div id="toc"></div></div>
  <img alt="In Colab" src="https://colab.research.google.com/assets/colab-badge.svg">
  <img src="data:image/png;base64,AAAA"
class="no"
>
  <img src="data:image/png;base64,BBBB" alt="Losses by step">
  <img src="data:image/svg+xml;base64,CCCC" alt="a drawing">
  <pre>&lt;/body&gt; &lt;h4&gt;</pre><h4>Mine</h4>
</body>
</html>
"""


def test_it_is_completed() -> None:
    page = completed(PAGE)
    assert '<html lang="en">' in page
    assert '<div class="panel-heading" role="banner"><h1 class="h4">06 (Score: 1 / 2)</h1>' in page
    assert "<h4>Mine</h4>" in page
    assert '<div id="toc" role="navigation" aria-label="Scores">' in page
    assert "script" not in page.replace("script-src", "") and "font-face" not in page and "https:" not in page
    assert "  In Colab\n" in page


def test_a_plot_without_a_name_gets_one() -> None:
    page = completed(PAGE)
    assert page.count("<img") == page.count(" alt=") == 3
    assert page.count(DRAWING) == 1 and page.index("AAAA") < page.index(DRAWING) < page.index("BBBB")


def test_an_instructors_own_template_stays_as_it_is() -> None:
    assert completed("<p>mine</p>") == "<p>mine</p>"
