"""Building on several machines."""
