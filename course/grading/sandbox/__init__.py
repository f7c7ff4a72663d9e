"""Confine a student's code: namespaces, rights, refused system calls, limits."""
