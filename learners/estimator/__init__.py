"""What all learners share as scikit-learn estimators: the interface, parameters, validation."""
