"""Read texts and archives, compute checksums, store arrays larger than memory, and report progress."""
