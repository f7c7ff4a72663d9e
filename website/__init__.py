"""Builds the documentation site with MkDocs: what it adds to the pages in docs/."""
