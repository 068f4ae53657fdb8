"""Build the tables and drawings that several sections share or that fill a module of their own."""
