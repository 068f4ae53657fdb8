"""Read bytes: text, archives, checksums, arrays larger than memory, and progress reports."""
