"""What holds for any input, tried on random ones against the oracle."""
