"""Bytes: text, archives, checksums, arrays larger than memory, progress."""
