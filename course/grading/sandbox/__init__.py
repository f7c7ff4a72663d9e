"""What keeps a student's code from the rest of the machine: namespaces, rights, refused system calls, limits."""
