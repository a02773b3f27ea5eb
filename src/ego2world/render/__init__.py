"""World state to pictures and short clips, drawn by this project; no camera and nobody's recordings."""

from ego2world.render.clip import draw_clip, draw_episode
from ego2world.render.picture import draw_region

__all__ = ["draw_clip", "draw_episode", "draw_region"]
