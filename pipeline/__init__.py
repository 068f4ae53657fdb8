"""Turn a study into results: plan its runs, stream data through learners, store results, rank algorithms."""
