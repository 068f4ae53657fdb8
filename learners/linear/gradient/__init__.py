"""Learners that follow gradients of a loss: gradient descent, Newton steps, FTRL-Proximal, coin betting."""
