"""What sections are made of: tables and drawings that several share, or that fill a module of their own."""
