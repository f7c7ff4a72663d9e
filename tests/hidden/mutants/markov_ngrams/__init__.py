"""Wrong answers to topic 01 that the hidden tests must notice, beyond the misconceptions they know by name."""

WITHOUT_COUNTERPART = {
    "n_nobos": "our texts have no sentence marks: the first tokens are simply not predicted",
    "n_noeos": "our texts have no sentence marks: `sample_text` is told how long to write",
    "n_cross": "one text, no sentences to cross; its nearest relative is `skips_one`",
    "n_ppl_persent": "no sentences to divide by; with one text it is the sum for the mean, the misconception `summed`",
    "n_ppl_noeoscount": "no sentence marks to leave out; its nearest relative is `last_token_not_counted`",
}
"""Rows of the published catalogue of n-gram mistakes that our signatures cannot show, and why."""
