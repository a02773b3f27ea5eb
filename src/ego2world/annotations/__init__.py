"""Dataset files to typed records: one file per data set, one record set for all. Stage: source."""
