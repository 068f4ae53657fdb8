"""Adapters for learners of other libraries, plug-ins and notebooks, and checks of their return values."""
