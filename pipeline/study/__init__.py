"""Read a study file, check it, and plan the cells (single runs of a learner) that compute its results."""
