"""The command line: one file per command; each parses, calls one function, prints."""

from __future__ import annotations

import sys

import typer

from ego2world.cli import audit, bench, compile, demo, export, graph, play, report, run, serve, show, suite
from ego2world.cli.common import print_error
from ego2world.errors import Ego2WorldError

app = typer.Typer(
    name="ego2world", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown",
    help="Compile annotations of egocentric kitchen video into executable worlds, and evaluate agents in them. "
    "Start with: **ego2world demo**",
)  # fmt: skip
for module in (demo, compile, audit, show, play, suite, run, report, serve, export, graph, bench):
    module.register(app)


def main() -> None:
    """Run the command line; every error of the tree is one block on stderr and its own exit code."""
    try:
        code = app(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)  # a command that leaves with a code of its own
    except Ego2WorldError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except typer.Exit as leave:
        sys.exit(leave.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        print("aborted; what was written is whole", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    except Exception as error:
        if hasattr(error, "exit_code") and hasattr(error, "show"):  # a usage error of the argument parser
            error.show()
            sys.exit(error.exit_code)
        raise
