"""Rates per CPU-second, of this package and of its peers where they are installed, all in one run on one machine."""

from ego2world.bench.rates import bench

__all__ = ["bench"]
