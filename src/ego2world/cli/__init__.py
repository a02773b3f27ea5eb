"""The command line: one file per command; each parses, calls one function, prints.

Only the module of the command that was asked for is imported, so that a command starts without waiting for what it
does not use.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import typer

from ego2world.errors import Ego2WorldError

# every command, in the order of the work, with what the list of commands says of it
COMMANDS = {
    "demo": "The whole job on the sample kitchens: compile, audit, act, score, report.",
    "compile": "Annotations to worlds.",
    "audit": "Check a collection: replay, contracts, negative suites, stress cases.",
    "show": "What is in a collection, an episode, or a task.",
    "play": "Act in a world yourself, with an agent's observations.",
    "suite": "Fix which tasks an evaluation runs on: make, show.",
    "run": "Let a planner act in the worlds, under a memory policy.",
    "report": "Scores, intervals, comparisons, and a page with every task's trace.",
    "serve": "The report of runs while they go on.",
    "serve-mcp": "Let any MCP client act in the worlds, scored like a planner.",
    "export": "Write a run or a collection for other tools.",
    "graph": "Let a model write the worlds at once, and check it against the annotations.",
    "qa": "Questions with evidence: build, check, audit, answer, score, export; vqa, select.",
    "judge": "Generated videos judged by gates: init, check, plan, run, score, agree; rollouts whose truth is known.",
    "bench": "Steps and compiled narrations per CPU-second.",
}


GROUPS = ("qa", "judge")  # of which only the module of the named command is imported


def build_app(arguments: Sequence[str]) -> typer.Typer:
    """Return the application for some arguments: the command that they name, or the list of all commands."""
    app = typer.Typer(
        name="ego2world",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        help=(
            "Compile annotations of egocentric kitchen video into executable worlds, and evaluate agents in them. "
            "Start with: **ego2world demo**"
        ),
    )

    @app.callback()
    def keep_names() -> None:
        """Keep the command's name in its usage even where it is the only one that was loaded."""

    if arguments and arguments[0] in COMMANDS:
        module = import_module(f"ego2world.cli.{arguments[0].replace('-', '_')}")
        named = arguments[1:2] if arguments[0] in GROUPS else ()
        module.register(app, *named)
    else:
        for name, says in COMMANDS.items():
            app.command(name, help=says)(lambda: None)
    return app


def spelled_out(arguments: Sequence[str]) -> list[str]:
    """Give ``--ray`` without an address its value, which the argument parser cannot leave out."""
    out = []
    for i, argument in enumerate(arguments):
        out.append(argument)
        if argument == "--ray" and (i + 1 == len(arguments) or arguments[i + 1].startswith("-")):
            out.append("own")
    return out


def main() -> None:
    """Run the command line; every error of the tree is one block on stderr and its own exit code."""
    try:
        arguments = spelled_out(sys.argv[1:])
        code = build_app(arguments)(arguments, standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)  # a command that leaves with a code of its own
    except Ego2WorldError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(error.exit_code)
    except typer.Exit as leave:
        sys.exit(leave.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        print("Interrupted. Files written so far are complete; re-run the same command to resume.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    except Exception as error:
        if hasattr(error, "exit_code") and hasattr(error, "show"):  # a usage error of the argument parser
            error.show()
            sys.exit(error.exit_code)
        raise
