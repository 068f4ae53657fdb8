"""Support vector machines that learn online, one file for each learner."""
