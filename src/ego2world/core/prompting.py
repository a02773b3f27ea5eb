"""Prompts from files, filled in: texts from data become one line each and cannot leave their place. Stage: core."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from ego2world.core.canonical import sha256


@cache
def _text(package: str, name: str) -> str:
    return (files(package) / "prompts" / name).read_text("utf-8")


@cache
def _environment(package: str) -> Environment:
    made = Environment(
        loader=FunctionLoader(lambda name: _text(package, name)),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=False,
        finalize=one_line,
    )
    return made


def one_line(value: Any) -> Any:
    """Return a text on one line, its marks of data taken away; anything else as it is."""
    if not isinstance(value, str):
        return value
    return " ".join(value.replace("<data>", "(data)").replace("</data>", "(/data)").split())


def prompt(package: str, name: str, **values: Any) -> str:
    """Return a prompt of a package's folder ``prompts``."""
    return (
        _environment(package).get_template(name).render(**values)
        if name.endswith(".j2")
        else _text(package, name).strip()
    )


def prompts_sha256(package: str, names: tuple[str, ...]) -> str:
    """Return the hash of some prompts as they stand in their files."""
    return sha256("\n".join(f"{name}\n{_text(package, name)}" for name in names).encode())
