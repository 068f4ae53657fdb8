"""Pages that repeat a paper's experiments and judge its claims; `papers/` has a module for each paper."""
