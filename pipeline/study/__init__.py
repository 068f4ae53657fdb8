"""Read a study, check it and plan it into cells."""
