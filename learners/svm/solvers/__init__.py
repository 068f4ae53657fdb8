"""The optimisation steps of the support vector machines."""
