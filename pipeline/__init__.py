"""Turn a study into results: plan cells, stream data through learners, store Parquet, rank."""
