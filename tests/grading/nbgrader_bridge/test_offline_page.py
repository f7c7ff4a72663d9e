"""The page of feedback, completed: what nbgrader's template leaves out is in it, and what it asks for is not."""

from __future__ import annotations

from course.grading.nbgrader_bridge.feedback_page import completed

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
  <img src="data:image/png;base64,AAAA" alt="Losses">
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
    assert "  In Colab\n" in page and page.count("<img") == 1


def test_an_instructors_own_template_stays_as_it_is() -> None:
    assert completed("<p>mine</p>") == "<p>mine</p>"
