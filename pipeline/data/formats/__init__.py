"""Read file formats: svmlight, Vowpal Wabbit, delimited text, Parquet, Arrow, ARFF and idx."""
