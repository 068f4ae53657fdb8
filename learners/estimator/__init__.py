"""The scikit-learn estimator that all learners share: its interface, parameters and validation."""
