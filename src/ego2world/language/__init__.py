"""Reading kitchen sentences: a lexicon of verbs and nouns, and a rule parser. Knows no world and no data set."""
