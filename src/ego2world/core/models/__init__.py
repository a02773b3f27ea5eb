"""The one way to chat models: requests, replies, token counts, caching, and where replies come from.

    request -> ModelClient (cache, concurrency, check of the serving model) -> Model (mock | recorded replies | any
    provider)

Nothing here imports a provider's library before a provider is asked for.
"""

from ego2world.core.models.base import (
    Audio,
    Endpoint,
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
from ego2world.core.models.client import ModelClient, connect, open_model
from ego2world.core.models.reading import json_object
from ego2world.core.models.recorded import MockModel, ReplayModel

__all__ = [
    "Audio",
    "Endpoint",
    "Frames",
    "Image",
    "Message",
    "MockModel",
    "Model",
    "ModelClient",
    "Part",
    "ReplayModel",
    "Reply",
    "Request",
    "Stop",
    "Text",
    "Usage",
    "connect",
    "json_object",
    "open_model",
    "user",
]
