"""`course demo`: grade a made-up class from end to end."""
