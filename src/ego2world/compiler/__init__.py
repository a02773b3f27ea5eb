"""Records to a world with its evidence and its unknowns: normalise, bind, infer, reconcile, group, zone."""
