"""What a rollout shows, frame by frame, as numbers: the one source of its picture and of the truth about it. Stage:
render.

Units are pixels of a 320 x 240 picture, y downwards; a thing's position is the middle of its bottom edge.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

WIDTH_PX, HEIGHT_PX, FPS = 320, 240, 10
COUNTER_Y, SHELF_Y = 184, 66
STORE = (10, 84, 90, 184)  # left, top, right, bottom of a storage's front
STORE_FLOOR_Y = 180
DOOR_GONE = 0.85  # of the door's width that disappears as it opens
HOME = (200.0, 232.0)
REACH_PX = 5.0  # a hand this close to where a thing is gripped touches it


@dataclass(frozen=True)
class Body:
    """One thing in one frame."""

    x: float
    y: float
    width: float
    height: float
    color: int
    look: str  # vessel, box, round, flat
    tilt_deg: float = 0.0
    skew: float = 0.0  # how far its top is bent aside
    part_dx: float = 0.0  # how far its handle is from where it belongs
    level: float | None = None  # of its content, 0 to 1
    seen: bool = True
    copies: tuple[tuple[float, float], ...] = ()

    @property
    def grip(self) -> tuple[float, float]:
        """Where a hand holds it."""
        return (self.x + self.width / 2 + 3, self.y - self.height / 2)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        return (self.x - self.width / 2, self.y - self.height, self.x + self.width / 2, self.y)


@dataclass(frozen=True)
class DrawnDoor:
    """The front of a storage. ``axis``: the edge that it turns about, "left" as built; ``handle_dx``: as of parts."""

    openness: float = 0.0
    axis: str = "left"
    handle_dx: float = 0.0

    @property
    def panel(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of what is seen of it."""
        left, top, right, bottom = STORE
        gone = DOOR_GONE * self.openness
        if self.axis == "top":
            return (left, top, right, bottom - (bottom - top) * gone)
        if self.axis == "right":
            return (left + (right - left) * gone, top, right, bottom)
        return (left, top, right - (right - left) * gone, bottom)

    @property
    def handle(self) -> tuple[float, float]:
        """The middle of its handle, at the free edge."""
        left, top, right, bottom = self.panel
        if self.axis == "top":
            return ((left + right) / 2 + self.handle_dx, bottom - 6)
        return ((left + 5 if self.axis == "right" else right - 5) + self.handle_dx, (top + bottom) / 2)

    @property
    def grip(self) -> tuple[float, float]:
        """Where a hand holds it."""
        return self.handle


@dataclass(frozen=True)
class Frame:
    """One moment. ``grips``: what the hand is closed around or acting on, "" for nothing; ``stream``: from vessel to
    vessel."""

    hand: tuple[float, float]
    grips: str
    bodies: dict[str, Body]
    door: DrawnDoor
    stream: tuple[str, str] | None = None


@dataclass(frozen=True)
class Trace:
    """A whole rollout. ``store``: the id of the storage; ``inside``: frames in which a thing is in it and hidden while
    it is closed."""

    frames: tuple[Frame, ...]
    store: str

    @property
    def duration_s(self) -> float:
        """In seconds."""
        return len(self.frames) / FPS


@dataclass
class TraceRecorder:
    """Appends frames while a rollout is played."""

    frame: Frame
    frames: list[Frame] = field(default_factory=list)

    def put(self, count: int = 1) -> None:
        """Show the present moment for some frames."""
        self.frames += [self.frame] * count

    def body(self, thing: str, **changes: object) -> None:
        """Change a thing."""
        bodies = dict(self.frame.bodies)
        bodies[thing] = replace(bodies[thing], **changes)  # type: ignore[arg-type]
        self.frame = replace(self.frame, bodies=bodies)

    def door(self, **changes: object) -> None:
        """Change the door."""
        self.frame = replace(self.frame, door=replace(self.frame.door, **changes))  # type: ignore[arg-type]

    def hand(self, x: float, y: float, grips: str | None = None) -> None:
        """Move the hand."""
        self.frame = replace(self.frame, hand=(x, y), grips=self.frame.grips if grips is None else grips)


def ease(share: float) -> float:
    """Return a smooth 0 to 1."""
    return share * share * (3 - 2 * share)
