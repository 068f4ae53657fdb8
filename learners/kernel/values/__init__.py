"""Kernel values: inner products of rows, dense and sparse, kernel functions of them, and random features."""
