"""Build a report page from blocks and tables, and give its sections a shared view of the study."""
