"""The kernels of the linear learners for more than two classes: one weight vector a class."""
