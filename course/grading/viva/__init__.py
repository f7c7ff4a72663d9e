"""`course viva`: questions on paper about each student's own code, and the marking of the answers."""
