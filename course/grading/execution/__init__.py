"""One notebook is executed and judged: a task's bytes in, an outcome's bytes out."""
