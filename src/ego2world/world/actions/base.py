"""What an action type is: roles, preconditions and effects as frozen values that can be printed and exported."""

from __future__ import annotations

from dataclasses import dataclass

from ego2world.errors import DeclarationError
from ego2world.ontology.kinds import KINDS
from ego2world.world.fluents import DOMAINS


@dataclass(frozen=True)
class Parameter:
    """One role of an action: its name, the kinds it accepts, and whether it may stay unbound or take several."""

    role: str
    accepts: frozenset[str]
    optional: bool = False
    many: bool = False


# --- preconditions -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Is:
    """A single-valued fluent of a role has one of the values; ``soft`` lets an unknown value pass."""

    fluent: str
    role: str
    values: tuple[str | bool, ...]
    may_be_unknown: bool = False


@dataclass(frozen=True)
class Reach:
    """The thing can be touched: every container around it is open, and it is held or in the agent's zone."""

    role: str


@dataclass(frozen=True)
class Held:
    """The thing is in a hand of the agent."""

    role: str


@dataclass(frozen=True)
class HandFree:
    """The hand of the action holds nothing."""

    role: str = "hand"


@dataclass(frozen=True)
class HandSpace:
    """The hand of the action can take one thing more."""

    role: str = "hand"


@dataclass(frozen=True)
class HandRoom:
    """The hand of the action holds something and can take one thing more."""

    role: str = "hand"


@dataclass(frozen=True)
class Within:
    """The thing is in or on the other role, directly or with other things between."""

    role: str
    inside: str


@dataclass(frozen=True)
class Holds:
    """The container is known to contain the substance."""

    role: str
    content: str


@dataclass(frozen=True)
class Apart:
    """The second thing is neither the first nor carried by it, so that nothing ends up in itself."""

    role: str
    other: str


@dataclass(frozen=True)
class NotAt:
    """The agent is not yet in the zone."""

    role: str


Precondition = NotAt | Is | Reach | Held | HandFree | HandSpace | HandRoom | Within | Holds | Apart

# --- effects -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assign:
    """A single-valued fluent of a role gets a value."""

    fluent: str
    role: str
    value: str | bool


@dataclass(frozen=True)
class Move:
    """The thing's place becomes (how, the entity of another role)."""

    role: str
    how: str
    to: str


@dataclass(frozen=True)
class Attach:
    """``attached`` of the thing becomes the entity of another role, or "no" when ``to`` is None."""

    role: str
    to: str | None


@dataclass(frozen=True)
class SetContent:
    """The container contains the substance (``value`` True) or no longer does."""

    role: str
    content: str
    value: bool = True


@dataclass(frozen=True)
class PourAll:
    """The target contains everything that the source is known to contain."""

    role: str
    source: str


@dataclass(frozen=True)
class EmptyOut:
    """The container no longer contains any substance it is known to contain."""

    role: str


@dataclass(frozen=True)
class Travel:
    """The agent is in the zone."""

    role: str


Effect = Assign | Move | Attach | SetContent | PourAll | EmptyOut | Travel


@dataclass(frozen=True, repr=False)
class ActionType:
    """One executable action type.

    ``says`` is its wording with {role} places and [optional parts]; ``senses`` are the verb senses
    (language/verbs.txt) that may mean it, the most particular type being declared first; ``source`` says what in
    the annotations it stands for. ``event_only`` marks types that change no fluent and count as events.
    """

    name: str
    family: str
    says: str
    roles: tuple[Parameter, ...]
    preconditions: tuple[Precondition, ...]
    effects: tuple[Effect, ...]
    senses: tuple[str, ...]
    source: str
    event_only: bool = False
    declared: int = 99  # how many of the roles the declaration names; the rest only record context

    def __repr__(self) -> str:
        return f"ActionType({self.name!r}, {self.says!r})"

    def __hash__(self) -> int:
        return hash(self.name)  # unique, and much cheaper than that of all fields

    def parameter(self, role: str) -> Parameter | None:
        """Return the role's declaration, or None."""
        return next((var for var in self.roles if var.role == role), None)

    def check(self) -> None:
        """Raise DeclarationError when wording, roles, needs and effects do not fit together."""
        names = {var.role for var in self.roles}
        for part in (*self.preconditions, *self.effects):
            for attribute in ("role", "inside", "content", "other", "to", "source"):
                role = getattr(part, attribute, None)
                if role is not None and role not in names:
                    raise DeclarationError(self.name, f"{part} speaks of role {role!r}, which is not declared")
            fluent = getattr(part, "fluent", None)
            if fluent is not None:
                values = part.values if isinstance(part, Is) else (part.value,)  # type: ignore[union-attr]
                if fluent not in DOMAINS or not set(values) <= set(DOMAINS[fluent]):
                    raise DeclarationError(self.name, f"{part}: no such fluent or value")
        for var in self.roles:
            unknown = var.accepts - KINDS.keys()
            if unknown:
                raise DeclarationError(self.name, f"role {var.role} accepts undeclared kinds {sorted(unknown)}")
        if bool(self.effects) == self.event_only:
            raise DeclarationError(self.name, "has effects exactly when it is not event-only")

    def wording(self, names: dict[str, str]) -> str:
        """Fill the wording; bracketed parts whose role has no name are left out."""
        out, rest = "", self.says
        while rest:
            head, bracket, tail = rest.partition("[")
            out += head
            if not bracket:
                break
            inner, _, rest = tail.partition("]")
            role = inner.partition("{")[2].partition("}")[0]
            if role in names:
                out += inner
        for role, name in names.items():
            out = out.replace("{" + role + "}", name)
        return out
