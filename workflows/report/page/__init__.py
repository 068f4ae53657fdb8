"""Define what a report page consists of, and the object from which its sections read a study's results."""
