"""The ``bough`` command: imports a command's module when it is used, and turns errors into one line."""

from __future__ import annotations

import difflib
import logging
import os
import platform
import re
import shutil
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from bough import __version__
from bough.cli.style import printable, write_any_text
from bough.errors import BoughError

__all__ = ["main"]

COMMANDS = {
    "demo": "bough.cli.demo:demo",
    "run": "bough.cli.run:run",
    "show": "bough.cli.show:show",
    "best": "bough.cli.show:best",
    "report": "bough.cli.report:report",
    "export": "bough.cli.export:export",
    "import": "bough.cli.imports:import_",
    "studies": "bough.cli.studies:studies",
    "change": "bough.cli.amend:change",
    "believe": "bough.cli.amend:believe",
    "stop": "bough.cli.amend:stop",
    "retract": "bough.cli.amend:retract",
    "correct": "bough.cli.amend:correct",
    "delete": "bough.cli.studies:delete",
    "methods": "bough.cli.methods:methods",
    "serve": "bough.cli.serve:serve",
    "token": "bough.cli.serve:token",
    "mcp": "bough.cli.mcp:mcp",
    "completion": "bough.cli.completion:completion",
}
"""The module of each command. It is imported only when the command is run or all commands are listed."""

WRONG_CALL, INTERRUPTED = 2, 130


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"no such command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader of the output, such as head, has ended
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at the end
            return 0


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        for line in version_lines():
            click.echo(line)
        ctx.exit()


def version_lines() -> list[str]:
    """The text of ``bough --version``: the versions of bough and Python, and the core in use."""
    from bough.gp.core import describe

    return [f"bough {__version__}", f"Python {platform.python_version()}", describe()]


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option(
    "--version", "-V", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
    help="Print the version and exit.",
)  # fmt: skip
def bough() -> None:
    """Bayesian optimization for search spaces that branch.

    \b
    bough demo                                  see it work, in a minute or two
    bough run space.yaml --trials 50 -- ./train --rate {rate}
    bough show                                  the results, branch by branch
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; a user's mistake prints one line and returns 2."""
    _log_to_stderr()
    write_any_text()
    try:
        code = bough.main(args=arguments, prog_name="bough", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.UsageError as error:
        if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # click 8.2 and later
            click.echo(error.format_message())
            return 0
        hint = f" (try: {error.ctx.command_path} --help)" if error.ctx is not None else ""
        words = sys.argv[1:] if arguments is None else arguments
        if isinstance(error, click.NoSuchOption) and "run" in words[:1] and "--" not in words:
            hint = " (if it belongs to your program, write -- before the program)"
        message = re.sub(r"not a valid (integer|float) range", r"not a valid \1", error.format_message())
        return _fail(" ".join(message.split()) + hint)
    except click.ClickException as error:
        return _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BoughError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _fail(message: str) -> int:
    click.echo(f"bough: {' '.join(printable(message).splitlines())}", err=True)
    return WRONG_CALL


class _Formatter(logging.Formatter):
    """One printable line; on a terminal it first clears the progress bar."""

    def format(self, record: logging.LogRecord) -> str:
        wipe = f"\r{' ' * (shutil.get_terminal_size().columns - 1)}\r" if sys.stderr.isatty() else ""
        return f"{wipe}bough: {printable(super().format(record))}"


def _log_to_stderr() -> None:
    """Show warnings of a run, such as failed trials."""
    logger = logging.getLogger("bough")
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(_Formatter())
        logger.addHandler(handler)
