"""The site's letters: Source Sans and Source Serif (SIL Open Font License), cut to what the course writes."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

FACES = {
    "sans": ("font_source_sans_pro", "SourceSansPro-Regular.ttf"),
    "sans-italic": ("font_source_sans_pro", "SourceSansPro-It.ttf"),
    "sans-bold": ("font_source_sans_pro", "SourceSansPro-Semibold.ttf"),
    "serif-bold": ("font_source_serif_pro", "SourceSerifPro-Semibold.ttf"),
}
"""By the name of its file on the site: the package that brings a face, and its file there."""

LETTERS = [*range(0x20, 0x250), *range(0x370, 0x400), *range(0x2010, 0x2040), *range(0x2190, 0x2200), 0x20AC, 0x2212]
"""Latin, Greek, punctuation and arrows; other signs come from the reader's own fonts."""


def write_fonts(folder: Path) -> dict[str, Path]:
    """Write each face to `folder` as a woff2 file, if it is not there yet; return the files by name."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / f"{name}.woff2" for name in FACES}
    for name, path in files.items():
        if not path.is_file():
            _cut(name, path)
    return files


def _cut(name: str, path: Path) -> None:
    from fontTools.subset import Options, Subsetter, load_font, save_font

    package, file = FACES[name]
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None, f"the site needs {package}: make docs installs it"
    options = Options(flavor="woff2", layout_features=["kern", "liga", "mark", "mkmk"])
    font = load_font(str(Path(spec.origin).parent / "files" / file), options)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=LETTERS)
    subsetter.subset(font)
    save_font(font, str(path), options)
