"""Fetch work from Canvas and Moodle by their interfaces, and send grades and feedback back."""
