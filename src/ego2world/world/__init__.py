"""The executable world: kinds, fluents, action types, state, the transition law, and what can be observed."""
