"""What an instructor writes becomes notebooks."""
