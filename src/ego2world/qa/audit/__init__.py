"""Audits of questions, one's own and other people's. Stage: qa, audit."""

from ego2world.qa.audit.heuristics import GUESSERS
from ego2world.qa.audit.run import audit, blind, holm

__all__ = ["GUESSERS", "audit", "blind", "holm"]
