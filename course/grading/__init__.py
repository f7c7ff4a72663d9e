"""The instructor's tools: release notebooks, and grade, report on and export a class."""

import sys

# jsonschema, which validates every notebook, imports this module if it is installed, to check international addresses.
# Notebooks contain none, and the import costs each grading process a second.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
