"""What a public data set is declared to be, and where its files are got."""
