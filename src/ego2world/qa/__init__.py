"""EgoOmniWorld: questions about the ego-action-world loop, each bound to evidence and checked by replay; and their
evaluation."""
