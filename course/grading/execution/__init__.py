"""Execute and judge one notebook: a task's bytes in, an outcome's bytes out."""
