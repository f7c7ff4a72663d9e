"""Grade a notebook and show solutions for a self-learner."""
