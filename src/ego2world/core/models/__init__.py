"""The one door to chat models: requests, replies, token counts, caching, and where replies come from.

    request -> Door (cache, concurrency, check of the serving model) -> Model (mock | recorded replies | any provider)

Nothing here imports a provider's library before a provider is asked for.
"""

from ego2world.core.models.base import (
    Audio,
    Frames,
    Image,
    Message,
    Model,
    Part,
    Reply,
    Request,
    Stop,
    Text,
    Usage,
    user,
)
from ego2world.core.models.door import Door, Endpoint, open_door, open_model
from ego2world.core.models.reading import json_object
from ego2world.core.models.recorded import MockModel, ReplayModel

__all__ = [
    "Audio",
    "Door",
    "Endpoint",
    "Frames",
    "Image",
    "Message",
    "MockModel",
    "Model",
    "Part",
    "ReplayModel",
    "Reply",
    "Request",
    "Stop",
    "Text",
    "Usage",
    "json_object",
    "open_door",
    "open_model",
    "user",
]
