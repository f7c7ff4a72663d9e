"""Wrong answers to topic 11 that the hidden tests must notice, beyond the misconceptions they know by name."""

WITHOUT_COUNTERPART = {
    "† N = (H//p)+(W//p)": "no signature asks for N; a wrong count fails in every case of patchify by its shape",
    "† [0, 255] input": "the digits come in [0, 1]; patches_of_shades divides by 255 where nobody asked",
    "† one CLS for the batch": "in embed_patches it is class_word_for_the_first_image_only",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
