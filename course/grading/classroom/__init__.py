"""Grade a class: choose what to execute, save it, and show the results."""
