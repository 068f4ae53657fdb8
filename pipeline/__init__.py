"""Study → cells → stream → learner → Parquet → ranks: everything between a TOML file and its results."""
