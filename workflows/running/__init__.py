"""Run a study: its stages, the cells that the store lacks, its workers and its provenance."""
