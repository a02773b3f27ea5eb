"""Compile annotated egocentric video into executable symbolic worlds."""

__version__ = "0.1.0"
