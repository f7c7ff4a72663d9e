"""Confine a student's code with namespaces, file rights, refused system calls and resource limits."""
