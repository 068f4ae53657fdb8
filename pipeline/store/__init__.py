"""The Parquet store of a study."""
