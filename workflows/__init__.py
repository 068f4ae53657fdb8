"""The command line and its workflows: run a study, report on its results, measure speed."""
