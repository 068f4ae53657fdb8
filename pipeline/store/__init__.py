"""Store the results of a study in Parquet files."""
