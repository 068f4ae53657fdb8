"""Learners that follow gradients of a loss: by steps of a size, by regularised leaders, by bets."""
