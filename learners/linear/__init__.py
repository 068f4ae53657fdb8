"""Linear learners: one weight vector, updated row by row."""
