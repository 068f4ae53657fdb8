"""What happens in a cell: its material, the stream through a learner, what is noted of it."""
