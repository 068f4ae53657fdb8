"""Kernel values: products of rows, dense and sparse, and the functions of them."""
