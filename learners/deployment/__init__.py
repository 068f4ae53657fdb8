"""Use learners outside of studies: save them to files, or convert them to River or CapyMOA classifiers."""
