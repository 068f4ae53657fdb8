"""What the sections of a page are made of: blocks, tables, and the view of the study that they share."""
