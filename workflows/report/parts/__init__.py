"""Build the tables, drawings and texts that several sections of a report share."""
