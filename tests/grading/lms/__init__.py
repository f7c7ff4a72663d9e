"""Canvas and Moodle, as servers of our own that answer as the platforms' documentation and source say."""
