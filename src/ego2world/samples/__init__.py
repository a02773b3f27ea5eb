"""Three sample kitchens in HD-EPIC's layout, written for this project, so that everything runs without any data."""

from importlib.resources import files
from pathlib import Path


def sample_source() -> Path:
    """Return the folder of the sample kitchens."""
    return Path(str(files("ego2world.samples") / "kitchens"))
