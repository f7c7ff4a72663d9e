"""`course demo`: a made-up class, graded from end to end."""
