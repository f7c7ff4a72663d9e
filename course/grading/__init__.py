"""The grading machine: from releasing notebooks to grading, reporting and exporting a class."""

import sys

# jsonschema, which reads every notebook, looks for this module to check addresses in letters of all languages. There
# are none in notebooks, and importing it takes each process that grades a second.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
