"""Numbers that others published, or that the format promises, held against what comes out."""
