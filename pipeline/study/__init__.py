"""A study and its plan: what is asked for, checked and cut into cells."""
