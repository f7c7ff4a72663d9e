"""What decides a result, as short names: another name, and the work is executed or judged again."""
