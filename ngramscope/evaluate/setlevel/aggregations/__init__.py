"""How the scores of a set's documents become one score; one file each, found by `base.aggregations`."""
