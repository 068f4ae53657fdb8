"""Run a cell: make its inputs, stream them through a learner, record the results."""
