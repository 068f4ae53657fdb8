"""The optimization steps of the support vector machines."""
