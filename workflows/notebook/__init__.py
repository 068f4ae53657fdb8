"""Studies from a notebook: made of arrays and estimators, run with a bar, read as data frames and figures."""
