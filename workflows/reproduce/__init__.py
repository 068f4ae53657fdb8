"""Papers as pages that check themselves: `paper` says how one is written down, `papers/` has them."""
