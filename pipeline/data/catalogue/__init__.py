"""The data sets that have a name: where they come from and how they are read."""
