"""Turn a study into results: plan cells, stream data through learners, store results, rank algorithms."""
