"""Papers as pages that check themselves: `paper` defines what a paper is, `papers/` contains them."""
