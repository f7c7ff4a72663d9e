"""Grade a class: choose the submissions to execute, save the results, and show them."""
