"""Pages that repeat papers and judge their claims; the papers are in `papers/`."""
