"""Models on questions: answers, judgements, scores with honest denominators."""
