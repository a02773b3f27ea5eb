"""The episode loop: agents act, the executor answers, records are appended."""
