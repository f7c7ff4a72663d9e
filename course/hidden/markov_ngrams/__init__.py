"""Hidden tests of topic 01: n-gram counts, a transition matrix, perplexity, sampling, and an interpolated model."""
