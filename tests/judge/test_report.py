"""Sentences as HTML: `code` and *emphasis* become markup, and products or students' text do not."""

from __future__ import annotations

import pytest

from course.judge.report import sentence


@pytest.mark.parametrize(
    ("plain", "marked"),
    [
        ("no *word* there", "no <em>word</em> there"),
        ("*in*variance", "<em>in</em>variance"),
        ("*two words*, and one", "<em>two words</em>, and one"),
        ("n*d*k and 2 * 3 * 4", "n*d*k and 2 * 3 * 4"),
        ("x ** 2 ** 3", "x ** 2 ** 3"),
        ("<b> & *<i>*", "&lt;b&gt; &amp; *&lt;i&gt;*"),
        ("an odd ` alone", "an odd ` alone"),
    ],
)
def test_stress_is_set_and_products_stay(plain, marked):
    assert sentence(plain) == marked


def test_code_is_set_and_nothing_in_it():
    assert sentence("try `a *b* <c>`").endswith(">a *b* &lt;c&gt;</code>")
