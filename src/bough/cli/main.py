"""The ``bough`` command: finds a command's module when it is used, and turns errors into one line."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from bough import __version__
from bough.errors import BoughError

__all__ = ["main"]

COMMANDS = {
    "demo": "bough.cli.demo:demo",
    "run": "bough.cli.run:run",
    "show": "bough.cli.show:show",
    "best": "bough.cli.show:best",
    "report": "bough.cli.report:report",
    "export": "bough.cli.export:export",
    "studies": "bough.cli.studies:studies",
    "delete": "bough.cli.studies:delete",
    "methods": "bough.cli.methods:methods",
    "serve": "bough.cli.serve:serve",
    "token": "bough.cli.serve:token",
    "completion": "bough.cli.completion:completion",
}
"""Where each command lives; a module is imported only when its command, or the list of all, is asked for."""

USAGE = 2


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="bough")
def bough() -> None:
    """Bayesian optimization for search spaces that branch.

    \b
    bough demo                                  see it at work, in a minute or two
    bough run space.yaml --trials 50 -- ./train --rate {rate}
    bough show                                  what was found, branch by branch
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; a user's mistake is one line and the code 2."""
    _log_to_stderr()
    try:
        code = bough.main(args=arguments, prog_name="bough", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.UsageError as error:
        where = f" (try: {error.ctx.command_path} --help)" if error.ctx is not None else ""
        return _fail(" ".join(error.format_message().split()) + where)
    except click.ClickException as error:
        return _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except BoughError as error:
        return _fail(str(error))
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        return 0
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _fail(message: str) -> int:
    click.echo(f"bough: {message}", err=True)
    return USAGE


def _log_to_stderr() -> None:
    """Warnings of a run, such as failed trials, go to stderr and wipe the progress line before they do."""
    logger = logging.getLogger("bough")
    if not logger.handlers:
        handler = logging.StreamHandler()
        wipe = "\r\x1b[K" if sys.stderr.isatty() else ""
        handler.setFormatter(logging.Formatter(f"{wipe}bough: %(message)s"))
        logger.addHandler(handler)
