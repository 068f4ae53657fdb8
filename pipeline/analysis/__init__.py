"""From stored cells to averages, ranks, tests and curves."""
