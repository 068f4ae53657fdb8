"""Build the tables, drawings and texts that sections share."""
