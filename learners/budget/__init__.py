"""Kernels on a budget: gradient steps with few support vectors, or with features instead of them."""
