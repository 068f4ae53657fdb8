"""Make studies from arrays and estimators in a notebook, run them, and read or plot results."""
