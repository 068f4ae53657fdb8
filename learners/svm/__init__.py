"""Support vector machines that learn online, a file a learner."""
