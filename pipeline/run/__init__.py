"""Running cells: splits, the stream through a learner, and the workers that do it."""
