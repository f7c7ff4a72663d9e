"""Execute and judge one notebook: read a task as bytes, return an outcome as bytes."""
