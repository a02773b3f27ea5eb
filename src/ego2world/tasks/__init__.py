"""Tasks: contracts, how they are derived and admitted, freezing a collection, and the audit of it."""
