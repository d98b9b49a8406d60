"""Language models: loading them, one pass over texts for token statistics, and the store they are kept in."""
