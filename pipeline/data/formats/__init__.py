"""File formats: svmlight, delimited text, Arrow and Parquet, idx."""
